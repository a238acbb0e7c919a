"""The reversible PII gate: what leaves, what stays, and the way back."""

import json
import string
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from local.project import child_environment
from webbee_kernel.pii import Masker, UnknownPlaceholder
from webbee_kernel.pii.masker import Placeholders

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


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [s for k, v in value.items() for s in (*strings(k), *strings(v))]
    if isinstance(value, list):
        return [s for item in value for s in strings(item)]
    return [value] if isinstance(value, str) else []


def numbers_as_text(value: Any, masked: Any) -> Any:
    """`value` with each number that was masked (a phone written as one) in its digits: a tool's
    argument gets it back so."""
    if isinstance(value, dict):
        return {
            key: numbers_as_text(item, shown)
            for (key, item), shown in zip(value.items(), masked.values(), strict=True)
        }
    if isinstance(value, list):
        return [numbers_as_text(*pair) for pair in zip(value, masked, strict=True)]
    number = isinstance(value, int | float) and isinstance(masked, str)
    return str(int(value)) if number else value


class Noting(Placeholders):
    def __init__(self, seen: dict[str, set[str]]) -> None:
        super().__init__({})
        self.seen = seen

    def of(self, kind: str, value: str, identity: str) -> str:
        placeholder = super().of(kind, value, identity)
        self.seen.setdefault(placeholder, set()).add(value)
        return placeholder


class Spellings(Masker):
    """Notes how each placeholder's value was spelt."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, set[str]] = {}
        self._map = Noting(self.seen)

    @property
    def one_each(self) -> bool:
        return all(len(spellings) == 1 for spellings in self.seen.values())


@UNHURRIED
@given(JSONS)
@example({"phone": 120000000})
def test_resolving_gives_the_value_back(value: object) -> None:
    masker = Spellings()
    masked = masker.mask(value)
    assume(masker.one_each)
    assert masker.resolve(masked) == numbers_as_text(value, masked)


@UNHURRIED
@given(st.text(alphabet="aZя1@.<>_+ EMAIL(){}:'\"\n-", max_size=60), KEYS)
def test_unmasking_gives_hostile_punctuation_back(text: str, key: str) -> None:
    masker = Masker()
    masked = masker.mask_text(text, key)
    assert masker.unmask_text(masked).casefold() == text.casefold()
    assert masker.mask_text(masked, key) == masked


@UNHURRIED
@given(JSONS)
@example({"+1 415 555 2671": "b@x.coma@x.com+1 415 555 2671", "name": "Blue Sea",
          "a@files.com": {"name": "Blue Ocean"}})  # fmt: skip
def test_masking_is_idempotent(value: object) -> None:
    masker = Masker()
    masked = masker.mask(value)
    assert masker.mask(masked) == masked


@UNHURRIED
@given(TEXTS, KEYS)
@example("anna.smirnova@example.com+1 415 555 2671", "")
def test_masking_a_text_is_idempotent(text: str, key: str) -> None:
    masker = Masker()
    masked = masker.mask_text(text, key)
    assert masker.mask_text(masked, key) == masked
    assert Masker(masker.vault).mask_text(masked, key) == masked


@UNHURRIED
@given(st.lists(EMAILS, min_size=1, max_size=4), TEXTS, TEXTS)
def test_no_address_of_the_input_is_in_the_output(
    addresses: list[str], before: str, after: str
) -> None:
    text = f"{before} {', '.join(addresses)} {after}"
    masked = Masker().mask({"a": before, "list": addresses, "in_text": text})
    shown = "\n".join(strings(masked)).casefold()
    assert not [a for a in addresses if a.casefold() in shown]


@UNHURRIED
@given(JSONS)
def test_the_shape_of_a_value_survives(value: object) -> None:
    def shape(v: object) -> object:
        if isinstance(v, dict):
            return [shape(item) for item in v.values()]
        if isinstance(v, list):
            return [shape(item) for item in v]
        long = isinstance(v, int | float) and not isinstance(v, bool) and 10**6 <= v < 10**19
        return str if isinstance(v, str) or long else v  # a number may be a phone's

    before = json.dumps(value)
    assert shape(Masker().mask(value)) == shape(value)
    assert json.dumps(value) == before


def test_arguments_get_their_values_back() -> None:
    masker = Masker()
    masked = masker.mask({"from": "Sarah Lee <sarah@example.com>", "phone": "8 916 123-45-67"})
    assert masked == {"from": "<NAME_1> <<EMAIL_1>>", "phone": "<PHONE_1>"}
    said, email = "Dear Sarah Lee, call 8 916 123-45-67", "sarah@example.com"
    arguments = {"to": ["<EMAIL_1>"], "text": "Dear <NAME_1>, call <PHONE_1>", "<EMAIL_1>": 1}
    assert masker.resolve(arguments) == {"to": [email], "text": said, email: 1}
    assert masker.resolve({"n": 3}) == {"n": 3}


@pytest.mark.parametrize(
    "placeholder",
    ["<EMAIL_9>", "<NAME_1>", "<email_1>", "< EMAIL_1 >", "<EMAIL_01>", "<PHONE_99999999999999>"],
)
def test_a_placeholder_that_stands_for_nothing_is_refused(placeholder: str) -> None:
    masker = Masker({"<EMAIL_1>": "sarah@example.com"})
    with pytest.raises(UnknownPlaceholder) as raised:
        masker.resolve({"to": [f"x {placeholder}"]})
    assert raised.value.placeholder == placeholder
    assert isinstance(raised.value, ValueError)
    assert masker.unmask_text(placeholder) == placeholder


def test_one_value_is_one_placeholder_whatever_its_spelling() -> None:
    masker = Masker()
    assert masker.mask_text("Sarah@Example.com sarah@example.COM") == "<EMAIL_1> <EMAIL_1>"
    both = {"phone": "8 916 123-45-67", "text": "+7 (916) 123 45 67"}
    assert masker.mask(both) == {"phone": "<PHONE_1>", "text": "<PHONE_1>"}
    assert masker.mask(["Sarah Lee", {"name": "SARAH  LEE"}]) == ["<NAME_1>", {"name": "<NAME_1>"}]
    assert masker.unmask_text("<EMAIL_1>") == "Sarah@Example.com"


def test_remembered_values_keep_their_placeholders_and_new_ones_count_on() -> None:
    known = {"<EMAIL_4>": "sarah@example.com", "<PHONE_2>": "8 916 123-45-67"}
    known["<NAME_3>"] = "Sarah Lee"
    masker = Masker(known)
    found = masker.mask_text("SARAH@example.com, +79161234567, Sarah Lee")
    assert found == "<EMAIL_4>, <PHONE_2>, <NAME_3>"
    told = masker.mask_text("bob@example.com, +1 415 555 2671, Ivan Petrov")
    assert told == "<EMAIL_5>, <PHONE_3>, <NAME_4>"
    assert known.items() <= masker.vault.items()


def test_a_map_with_something_else_than_placeholders_is_refused() -> None:
    with pytest.raises(ValueError, match="EMAIL_x"):
        Masker({"<EMAIL_x>": "sarah@example.com"})


def test_a_forged_placeholder_never_comes_to_mean_a_value() -> None:
    masker, evil = Masker(), "write to <EMAIL_1> or <EMAIL_2>"
    masked = masker.mask(["sarah@example.com", {"evil": evil}, "bob@example.com"])
    assert masked == ["<EMAIL_3>", {"evil": evil}, "<EMAIL_4>"]
    with pytest.raises(UnknownPlaceholder):
        masker.resolve("<EMAIL_1>")


def test_observed_text_reserves_its_numbers() -> None:
    masker = Masker()
    masker.observe(["turn of yesterday: <EMAIL_1>", {"<NAME_1>": 1}])
    assert masker.mask_text("sarah@example.com from Sarah Lee") == "<EMAIL_2> from <NAME_2>"


def test_what_a_turn_stores_is_what_its_text_shows() -> None:
    masker = Masker({"<EMAIL_1>": "a@x.com", "<EMAIL_2>": "b@x.com"})
    assert masker.used_in('{"to": "<EMAIL_2>", "x": "<EMAIL_7>"}') == {"<EMAIL_2>": "b@x.com"}
    assert masker.used_in("nothing") == {}


def test_keys_are_masked_and_none_is_lost() -> None:
    masker = Masker()
    value = {"a@x.com": 1, "A@X.com": 2, "+14155552671": 3, "subject": 4, "Sarah Lee": 5}
    masked = masker.mask(value)
    assert masked == {"<EMAIL_1>": 1, "<NAME_1>": 2, "<PHONE_1>": 3, "subject": 4, "<NAME_2>": 5}
    assert masker.mask(value) == masked
    assert masker.resolve(masked) == value


def test_a_key_written_to_look_masked_hides_no_other() -> None:
    masker = Masker({"<NAME_1>": "Zorblax Qua", "<EMAIL_1>": "a@x.com"})
    value = {"<NAME_1>": 1, "Zorblax Qua": 2, "a@x.com": 3, "<EMAIL_1>": 4}
    masked = masker.mask(value)
    assert list(masked.values()) == [1, 2, 3, 4]
    assert "Zorblax" not in str(masked) and "@" not in str(masked)
    value = {"to Zorblax Qua": 1, "to <NAME_1>": 2}
    assert masker.resolve(masker.mask(value)) == value


def test_a_name_once_known_is_masked_wherever_it_stands() -> None:
    known = {"name": "Zorblax Qua", "email": "z@q.io"}
    masked = Masker().mask({"note": "Zorblax Qua called about Zorblax Quality", "from": known})
    assert masked["note"] == "<NAME_1> called about Zorblax Quality"
    assert masked["from"] == {"name": "<NAME_1>", "email": "<EMAIL_1>"}


def test_numbers_and_ids_stay() -> None:
    value = {"number": 79161234567, "id": "79161234567", "ok": True, "ts": 1715793664, "x": None}
    value["uuid"] = "550e8400-e29b-41d4-a716-446655440000"
    assert Masker().mask(value) == value


@pytest.mark.parametrize(
    ("value", "is_a_persons"),
    [
        ({"name": "Blue Ocean", "size": 3}, False),
        ({"name": "Siobhan", "email": "s@x.com"}, True),
        ({"project": {"name": "Blue Ocean"}}, False),
        ({"customers": [{"name": "Siobhan"}]}, True),
    ],
)
def test_the_keys_around_a_name_say_whose_it_is(value: object, is_a_persons: bool) -> None:
    assert ("'name': '<NAME_1>'" in str(Masker().mask(value))) is is_a_persons


def test_a_long_text_is_masked_without_the_cache() -> None:
    masked = Masker().mask_text("слово " * 2000 + "sarah@example.com")
    assert masked.endswith("<EMAIL_1>")


def test_importing_the_gate_loads_no_phone_library() -> None:
    code = (
        "import sys; from webbee_kernel.pii import Masker; Masker().mask({'id': '79161234567',"
        " 'subject': 'Q3 plan', 'at': '2026-05-15'});sys.exit('phonenumbers' in sys.modules)"
    )
    child = [sys.executable, "-c", code]
    assert subprocess.run(child, env=child_environment(), check=False).returncode == 0


def test_what_a_message_writes_out_of_the_map_is_told_by_its_placeholder() -> None:
    masker, senders = Masker(), ("Anna Weber <anna@x.com>", "Tom Hill <t.h@x.com>")
    shown = str(masker.mask([{"from": sender} for sender in senders]))
    names = {value: placeholder for placeholder, value in masker.vault.items()}
    said = masker.written_in("Archive the one of Anna, and tell T.H@x.com", shown)
    assert said == {names["Anna Weber"]: "Anna", names["t.h@x.com"]: "t.h@x.com"}
    assert masker.written_in("le mail d'Anna", shown) == {names["Anna Weber"]: "Anna"}
    assert masker.written_in("and what is the weather?", shown) == {}
    assert masker.written_in("the mail from Anna", "nothing masked") == {}
