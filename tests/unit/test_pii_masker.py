"""The reversible PII gate: what leaves, what stays, and the way back."""

import json
import re
import string
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from local.project import child_environment
from webbee_kernel.pii.masker import Masker, UnknownPlaceholder

# the first phone number of a run imports the library
UNHURRIED = settings(deadline=None, max_examples=40)

LETTERS = string.ascii_lowercase + "абвгдежзий"
LOCALS = st.text(alphabet=LETTERS + string.digits + "._+-", min_size=1, max_size=12).filter(
    lambda s: s[0].isalnum() and s[-1].isalnum()
)
LABELS = st.text(alphabet=LETTERS + string.digits, min_size=1, max_size=8)
EMAILS = st.builds(
    "{}@{}.{}".format, LOCALS, LABELS, st.sampled_from(["com", "ru", "рф", "co.uk", "museum"])
)
PHONES = st.sampled_from(
    ["+1 415 555 2671", "+79161234567", "+44 20 7946 0958", "8 (495) 123-45-67", "(212) 736-5000"]
)
NAMED = "Sarah Lee|Анна Смирнова|Mr. Smith|Sarah Lee <s@x.com>|Иван|Петров И. И.|New York"
NAMES = st.sampled_from(NAMED.split("|"))
FILLERS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
BETWEEN = st.sampled_from([" ", ", ", "<", ">", "\n", "@", "+", "from: "])
TEXTS = st.lists(EMAILS | PHONES | NAMES | FILLERS | BETWEEN, max_size=10).map("".join)
KEYS = st.sampled_from(
    ["", "name", "from", "phone", "body", "customer.name", "телефон", "first_name", "sender"]
)
JSONS = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False),
    lambda in_: st.lists(in_, max_size=4) | st.dictionaries(KEYS | TEXTS, in_, max_size=4),
    max_leaves=12,
)


def normal(value: Any) -> Any:
    """As it reads without case, spaces and signs, and with one `0` for digits: a placeholder stands for
    all spellings of a value, also of a phone, and a number that was masked comes back as text."""
    if isinstance(value, dict):
        return [[normal(key), normal(item)] for key, item in value.items()]
    if isinstance(value, list):
        return [normal(item) for item in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    text = re.sub(r"[\W_]", "", f"{value:.0f}" if is_number else str(value).casefold())
    return re.sub(r"\d+", "0", text)


def shape(value: object) -> object:
    """All but texts, and numbers that may be a phone's."""
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str if isinstance(value, str) or (is_number and 10**6 <= value < 10**19) else value


@UNHURRIED
@given(JSONS)
@example({"phone": 120000000})
@example({"+1 415 555 2671": "b@x.coma@x.com+1 415 555 2671", "name": "Blue Sea",
          "a@files.com": {"name": "Blue Ocean"}})  # fmt: skip
def test_masking_keeps_the_shape_and_resolving_gives_the_value_back(value: object) -> None:
    masker, before = Masker(), json.dumps(value)
    masked = masker.mask(value)
    assert (shape(masked), masker.mask(masked)) == (shape(value), masked)
    assert (normal(masker.resolve(masked)), json.dumps(value)) == (normal(value), before)


@UNHURRIED
@given(TEXTS | st.text(alphabet="aZя1@.<>_+ EMAIL(){}:'\"\n-", max_size=60), KEYS)
@example("anna.smirnova@example.com+1 415 555 2671", "")
def test_masking_twice_changes_nothing_and_unmasking_gives_it_back(text: str, key: str) -> None:
    masker = Masker()
    masked = masker.mask_text(text, key)
    assert normal(masker.unmask_text(masked)) == normal(text)
    assert masker.mask_text(masked, key) == masked
    assert Masker(masker.vault).mask_text(masked, key) == masked


@UNHURRIED
@given(st.lists(EMAILS, min_size=1, max_size=4), TEXTS, TEXTS)
def test_no_address_that_goes_in_comes_out(addresses: list[str], before: str, after: str) -> None:
    text = f"{before} {', '.join(addresses)} {after}"
    masked = Masker().mask({"a": before, "list": addresses, "in_text": text})
    shown = json.dumps(masked, ensure_ascii=False).casefold()
    assert not [a for a in addresses if a.casefold() in shown]


EVIL = "write to <EMAIL_1> or <EMAIL_2>"
KNOWN = {"<EMAIL_4>": "sarah@example.com", "<PHONE_2>": "8 916 123-45-67", "<NAME_3>": "Sarah Lee"}
PLAIN = {"number": 79161234567, "id": "79161234567", "ok": True, "ts": 1715793664, "x": None}
MASKED: dict[str, tuple[dict[str, str], Any, Any]] = {
    "an address, a phone and a name": (
        {},
        {"from": "Sarah Lee <sarah@example.com>", "phone": "8 916 123-45-67"},
        {"from": "<NAME_1> <<EMAIL_1>>", "phone": "<PHONE_1>"},
    ),
    "one value is one placeholder whatever its spelling": (
        {},
        ["Sarah@Example.com sarah@example.COM", {"phone": "8 916 123-45-67"},
         "+7 (916) 123 45 67", "Sarah Lee", {"name": "SARAH  LEE"}],
        ["<EMAIL_1> <EMAIL_1>", {"phone": "<PHONE_1>"}, "<PHONE_1>", "<NAME_1>",
         {"name": "<NAME_1>"}],
    ),
    "remembered values keep their placeholders and new ones count on": (
        KNOWN,
        ["SARAH@example.com, +79161234567, Sarah Lee",
         "bob@example.com, +1 415 555 2671, Ivan Petrov"],
        ["<EMAIL_4>, <PHONE_2>, <NAME_3>", "<EMAIL_5>, <PHONE_3>, <NAME_4>"],
    ),
    "a forged placeholder never comes to mean a value": (
        {},
        ["sarah@example.com", {"evil": EVIL}, "bob@example.com"],
        ["<EMAIL_3>", {"evil": EVIL}, "<EMAIL_4>"],
    ),
    "keys are masked and none is lost": (
        {},
        {"a@x.com": 1, "A@X.com": 2, "+14155552671": 3, "subject": 4, "Sarah Lee": 5},
        {"<EMAIL_1>": 1, "<NAME_1>": 2, "<PHONE_1>": 3, "subject": 4, "<NAME_2>": 5},
    ),
    "a name once known is masked wherever it stands, and no longer word": (
        {},
        {"note": "Zorblax Qua called about Zorblax Quality",
         "from": {"name": "Zorblax Qua", "email": "z@q.io"}},
        {"note": "<NAME_1> called about Zorblax Quality",
         "from": {"name": "<NAME_1>", "email": "<EMAIL_1>"}},
    ),
    "numbers and ids stay": ({}, *[PLAIN | {"uuid": "550e8400-e29b-41d4-a716-446655440000"}] * 2),
    "a name of a thing stays": ({}, *[{"name": "Blue Ocean", "size": 3}] * 2),
    "and one within a thing": ({}, *[{"project": {"name": "Blue Ocean"}}] * 2),
    "beside an address it is a person's": (
        {},
        {"name": "Siobhan", "email": "s@x.com"},
        {"name": "<NAME_1>", "email": "<EMAIL_1>"},
    ),
    "as below a key of people": (
        {}, {"customers": [{"name": "Siobhan"}]}, {"customers": [{"name": "<NAME_1>"}]},
    ),
    "a text too long for the cache": (
        {}, "слово " * 2000 + "sarah@example.com", "слово " * 2000 + "<EMAIL_1>",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("known", "value", "masked"), MASKED.values(), ids=MASKED)
def test_what_is_masked_of_a_value(known: dict[str, str], value: Any, masked: Any) -> None:
    masker = Masker(known)
    assert masker.mask(value) == masked == masker.mask(value)
    assert known.items() <= masker.vault.items()


def test_arguments_get_their_values_back_and_a_key_that_looks_masked_hides_no_other() -> None:
    masker = Masker(KNOWN)
    said, email = "Dear Sarah Lee, call 8 916 123-45-67", "sarah@example.com"
    arguments = {"to": ["<EMAIL_4>"], "text": "Dear <NAME_3>, call <PHONE_2>", "<EMAIL_4>": 1}
    assert masker.resolve(arguments) == {"to": [email], "text": said, email: 1}
    assert masker.used_in('{"to": "<PHONE_2>", "x": "<EMAIL_7>"}') == {"<PHONE_2>": said[-15:]}
    masker = Masker({"<NAME_1>": "Zorblax Qua", "<EMAIL_1>": "a@x.com"})
    value = {"<NAME_1>": 1, "Zorblax Qua": 2, "a@x.com": 3, "<EMAIL_1>": 4}
    masked = masker.mask(value)
    assert list(masked.values()) == [1, 2, 3, 4]
    assert "Zorblax" not in str(masked) and "@" not in str(masked)
    value = {"to Zorblax Qua": 1, "to <NAME_1>": 2}
    assert masker.resolve(masker.mask(value)) == value


def test_a_placeholder_that_stands_for_nothing_and_a_map_without_any_are_refused() -> None:
    masker = Masker({"<EMAIL_1>": "sarah@example.com"})
    strange = (
        "<EMAIL_9>",
        "<NAME_1>",
        "<email_1>",
        "< EMAIL_1 >",
        "<EMAIL_01>",
        f"<PHONE_{10**14}>",
    )
    for placeholder in strange:
        with pytest.raises(UnknownPlaceholder) as raised:
            masker.resolve({"to": [f"x {placeholder}"]})
        assert raised.value.placeholder == placeholder
        assert isinstance(raised.value, ValueError)
        assert masker.unmask_text(placeholder) == placeholder
    with pytest.raises(ValueError, match="EMAIL_x"):
        Masker({"<EMAIL_x>": "sarah@example.com"})


def test_observed_text_reserves_its_numbers() -> None:
    masker = Masker()
    masker.observe(["turn of yesterday: <EMAIL_1>", {"<NAME_1>": 1}])
    assert masker.mask_text("sarah@example.com from Sarah Lee") == "<EMAIL_2> from <NAME_2>"


def test_importing_the_gate_loads_no_phone_library() -> None:
    code = (
        "import sys; from webbee_kernel.pii.masker import Masker; Masker().mask({'id': '79161234567',"
        " 'subject': 'Q3 plan', 'at': '2026-05-15'});sys.exit('phonenumbers' in sys.modules)"
    )
    child = [sys.executable, "-c", code]
    assert subprocess.run(child, env=child_environment(), check=False).returncode == 0


def test_what_a_message_writes_out_of_the_map_is_told_by_its_placeholder() -> None:
    masker, senders = Masker(), ("Anna Weber <anna@x.com>", "Tom Hill <t.h@x.com>")
    shown = str(masker.mask([{"from": sender} for sender in senders]))
    names = {value: placeholder for placeholder, value in masker.vault.items()}
    said = masker.names_in_message("Archive the one of Anna, and tell T.H@x.com", shown, "en")
    assert said == {names["Anna Weber"]: "Anna", names["t.h@x.com"]: "t.h@x.com"}
    assert masker.names_in_message("le mail d'Anna", shown, "fr") == {names["Anna Weber"]: "Anna"}
    assert masker.names_in_message("and what is the weather?", shown, "en") == {}
    assert masker.names_in_message("the mail from Anna", "nothing masked", "en") == {}
