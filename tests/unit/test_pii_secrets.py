"""The PII gate text by text: secrets by their form, key or word, numbers by their checksum and their
region, names; and which fields hold secrets."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from webbee_kernel.pii import Masker, of_language
from webbee_kernel.pii.secrets import is_secret_key

DOCUMENTS = ("IBAN", "CARD", "PASSPORT", "IDENTITY")
TEXTS = """
SECRET a key of a published form is masked wherever it stands
  Here it is: ⟦AKIAIOSFODNN7EXAMPLE⟧, keep it.
  Here it is: ⟦ghp_abcdefghijklmnopqrstuvwxyz0123456789⟧, keep it.
  Here it is: ⟦glpat-abcdef1234567890abcd⟧, keep it.
  Here it is: ⟦xoxb-1234567890-abcdefghij⟧, keep it.
  Here it is: ⟦sk_LIVE_abcdefghij0123456789⟧, keep it.
  Here it is: ⟦sk-proj-abc123DEF456ghi789jkl0⟧, keep it.
  Here it is: ⟦AIzaSyA1234567890abcdefghijklmnopqrstuv⟧, keep it.
  Here it is: ⟦eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N⟧, keep it.
  Here it is: ⟦123456789:AAEabcdefghijklmnopqrstuvwxyz1234567⟧, keep it.
SECRET a private key is masked whole and one that is cut off to the end
  a⏎⟦-----BEGIN RSA PRIVATE KEY-----⏎MIIE⏎abcd⏎-----END RSA PRIVATE KEY-----⟧⏎b
  a⏎⟦-----BEGIN RSA PRIVATE KEY-----⏎MIIE⏎abc⟧
SECRET a secret is told by what stands before it, and ids and words about secrets stay
  the password is ⟦hunter2⟧.
  Password for the router: ⟦abc⟧
  Пароль от вайфая: ⟦kotik2024⟧, заходи
  Das Passwort lautet ⟦Sommer2024⟧!
  mot de passe : ⟦Bonjour12⟧
  la contraseña es ⟦gato_77⟧
  PIN: ⟦4821⟧
  DB_PASSWORD=⟦s3cret⟧
  https://x.org/cb?access_token=⟦abcd1234⟧&x=1
  postgres://app:⟦s3cr3t⟧@db.example.com/x
  Authorization: Bearer ⟦abcDEF123456789xyz0⟧
  the password is wrong
  Password: must have 8 characters
  max tokens 4096
  boarding pass: AB1234
  commit a8f5f167f44f4964e6c998dee827110c77aa0011
  file 1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgVE2upms
  next_page_token=CAUQAAabc123456
  The token price: 12.50 USD
PHONE plain digits are a mobile number of the user's region
  ru| звони ⟦89161234567⟧
  ru| мой ⟦89161234567⟧, пиши
  ru| заказ 89161234567890
  de| ruf ⟦015112345678⟧ an
  de| ruf 0089161234567 an
  fr| c'est le ⟦0612345678⟧ merci
  fr| мой 89161234567, пиши
no digits of a number that a state or a bank gives pass where the kinds are on
  +| ssn ⟦123-45-6789⟧
  +| SSN: ⟦123 45 6789⟧
  +| my social security number is ⟦123456789⟧
  +| it is ⟦219-09-9999⟧, ok
  +| ⟦65 170839 J 003⟧
  +| ⟦65170839j003⟧
  +| Versicherungsnummer ⟦65 170839 J 008⟧
  +| Krankenversichertennummer: ⟦A123456780⟧
  +| ⟦de89 3704 0044 0532 0130 00⟧
  +| ⟦gb29nwbk60161331926819⟧
NAME a common name in small letters is masked and other words stay
  call ⟦sarah lee⟧ today
  спроси у ⟦ивана петрова⟧
  mail ⟦hans müller⟧, please
  will smith it down
  paris hilton
  mark down the price
documents are masked by their checksum where a deployment asks
  +| pay to ⟦DE89 3704 0044 0532 0130 00⟧ today
  +| ⟦GB82WEST12345698765432⟧
  +| card ⟦4111 1111 1111 1111⟧
  +| Amex ⟦3782 822463 10005⟧
  +| passport number: ⟦123456789⟧
  +| DNI ⟦12345678Z⟧
  +| CPF ⟦529.982.247-25⟧
  +| СНИЛС ⟦112-233-445 95⟧
  +| ИНН ⟦500100732259⟧
  +| ⟦11010519491231002X⟧
  +| DE88 3704 0044 0532 0130 00
  +| 4111 1111 1111 1112
  +| order 123456789
  +| DNI 12345678A
  +| 529.982.247-26
  +| 1715793664123456789
and where nobody asked they stay
  card 4111 1111 1111 1111, DE89 3704 0044 0532 0130 00
NAME a given name alone inside a sentence is a name
  please ask ⟦Maria⟧ about it
  спроси ⟦Машу⟧ о встрече
  bitte frag ⟦Jürgen⟧.
  dile a ⟦María⟧ que venga
  demande à ⟦Amélie⟧, puis reviens
a word that is also something else stays
  call mark now
  in Paris we met
  the Big Ben tower
  to San Francisco, then
PHONE a national number in prose is masked for who lives there
  fr-FR| Rappelle-toi du ⟦06 12 34 56 78⟧ demain
  Rappelle-toi du 06 12 34 56 78 demain
dates and versions are no phone numbers wherever the user lives
  en-US| 2026-05-15, 15.05.2026, 10.20.30.40, 1 000 000, 12:30, 3.11.7, 01/02/2026 03:04
  de-DE| 2026-05-15, 15.05.2026, 10.20.30.40, 1 000 000, 12:30, 3.11.7, 01/02/2026 03:04
  fr-FR| 2026-05-15, 15.05.2026, 10.20.30.40, 1 000 000, 12:30, 3.11.7, 01/02/2026 03:04
  ru-RU| 2026-05-15, 15.05.2026, 10.20.30.40, 1 000 000, 12:30, 3.11.7, 01/02/2026 03:04
  es-ES| 2026-05-15, 15.05.2026, 10.20.30.40, 1 000 000, 12:30, 3.11.7, 01/02/2026 03:04
"""
"""A sentence, before it the kind of what is masked where that is one; and under it texts, with what is
masked in ⟦⟧ and nothing else; `⏎` ends a line. `ru|` is the user's language, `+|` a deployment that
asks for `DOCUMENTS`."""


def cases() -> Iterator[Any]:
    """Text with its marks, options of the mask, kind."""
    sentence = ""
    # no scanner of this repository is to find a key
    for line in TEXTS.strip().replace("sk_LIVE", "sk_live").splitlines():
        before, _, told = line.strip().rpartition("| ")
        if not line.startswith(" "):
            sentence = line
            continue
        options = {"kinds": DOCUMENTS} if before == "+" else {"regions": of_language(before)}
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


def test_a_whole_value_of_digits_is_an_id() -> None:
    order = {"order": "89161234567"}
    assert Masker(regions=of_language("ru")).mask(order) == order


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


def test_keys_of_secrets_and_of_other_things() -> None:
    for key in ("client_secret", "dbPassword", "auth.api_key", "passwort", "пароль"):
        assert is_secret_key(key), key
    for key in ("page_token", "public_key", "token_count", "key", "reset_policy"):
        assert not is_secret_key(key), key
