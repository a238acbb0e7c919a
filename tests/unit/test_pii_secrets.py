"""Secrets: keys, tokens and passwords by their form, key or word; and which fields hold them."""

import pytest

from webbee_kernel.pii import Masker, of_language
from webbee_kernel.pii.secrets import is_secret_key

ISSUED = [
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "glpat-abcdef1234567890abcd",
    "xoxb-1234567890-abcdefghij",
    "sk_" + "live_abcdefghij0123456789",
    "sk-proj-abc123DEF456ghi789jkl0",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "123456789:AAEabcdefghijklmnopqrstuvwxyz1234567",
]


@pytest.mark.parametrize("secret", ISSUED)
def test_a_key_of_a_published_form_is_masked_wherever_it_stands(secret):
    masker = Masker()
    shown = masker.mask_text(f"Here it is: {secret}, keep it.")
    assert shown == "Here it is: <SECRET_1>, keep it."
    assert masker.unmask_text(shown) == f"Here it is: {secret}, keep it."


def test_a_private_key_is_masked_whole_and_one_that_is_cut_off_to_the_end():
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----"
    assert Masker().mask_text(f"a\n{key}\nb") == "a\n<SECRET_1>\nb"
    assert Masker().mask_text(f"a\n{key[:40]}") == "a\n<SECRET_1>"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the password is hunter2.", "the password is <SECRET_1>."),
        ("Password for the router: abc", "Password for the router: <SECRET_1>"),
        ("Пароль от вайфая: kotik2024, заходи", "Пароль от вайфая: <SECRET_1>, заходи"),
        ("Das Passwort lautet Sommer2024!", "Das Passwort lautet <SECRET_1>!"),
        ("mot de passe : Bonjour12", "mot de passe : <SECRET_1>"),
        ("la contraseña es gato_77", "la contraseña es <SECRET_1>"),
        ("PIN: 4821", "PIN: <SECRET_1>"),
        ("DB_PASSWORD=s3cret", "DB_PASSWORD=<SECRET_1>"),
        (
            "https://x.org/cb?access_token=abcd1234&x=1",
            "https://x.org/cb?access_token=<SECRET_1>&x=1",
        ),
        ("postgres://app:s3cr3t@db.example.com/x", "postgres://app:<SECRET_1>@db.example.com/x"),
        ("Authorization: Bearer abcDEF123456789xyz0", "Authorization: Bearer <SECRET_1>"),
        ("the password is wrong", None),
        ("Password: must have 8 characters", None),
        ("max tokens 4096", None),
        ("boarding pass: AB1234", None),
        ("commit a8f5f167f44f4964e6c998dee827110c77aa0011", None),
        ("file 1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgVE2upms", None),
        ("next_page_token=CAUQAAabc123456", None),
        ("The token price: 12.50 USD", None),
    ],
)
def test_a_secret_is_told_by_what_stands_before_it_and_ids_and_words_about_secrets_stay(
    text, shown
):
    assert Masker().mask_text(text) == (shown or text)


def test_keys_of_results_say_what_is_a_secret():
    value = {
        "accounts": [{"api_key": "abc123def456", "name": "prod"}, {"token": "USDC", "pin": 1234}],
        "db": {"password": "geheim"},
        "next_page_token": "abc123def4567",
        "owner": {"email": "a@example.com"},
        "password_changed_at": "2026-01-01",
        "has_password": True,
    }
    masked = Masker().mask(value)
    assert masked["accounts"][0] == {"api_key": "<SECRET_1>", "name": "prod"}
    assert masked["accounts"][1] == {"token": "USDC", "pin": "<SECRET_2>"}
    assert masked["db"] == {"password": "<SECRET_3>"}
    assert masked["owner"] == {"email": "<EMAIL_1>"}
    for name in ("next_page_token", "password_changed_at", "has_password"):
        assert masked[name] == value[name]


@pytest.mark.parametrize(
    ("key", "value", "secret"),
    [
        ("pin_code", "4821", True),
        ("pin_code", "A7-4821", True),
        ("pin_codes", "4821", True),
        ("pin_board", "4821", False),
        ("tracking_token", "TRK8842771", False),  # what a parcel is asked for by
        ("trackingToken", "aB3dE6gH9jK2mN5pQ8sT1v", True),  # what lets its bearer in
        ("access_token", "TRK8842771", True),
        ("booking_reference", "aB3dE6gH9jK2mN5pQ8sT1v", False),
    ],
)
def test_a_key_says_which_values_are_secret(key: str, value: str, secret: bool) -> None:
    masked = Masker().mask({key: value})[key]
    assert (masked != value) is secret


def test_keys_of_secrets_and_of_other_things():
    for key in ("client_secret", "dbPassword", "auth.api_key", "passwort", "пароль"):
        assert is_secret_key(key), key
    for key in ("page_token", "public_key", "token_count", "key", "reset_policy"):
        assert not is_secret_key(key), key


@pytest.mark.parametrize(
    ("tag", "text", "shown"),
    [
        ("ru", "звони 89161234567", "звони <PHONE_1>"),
        ("ru", "мой 89161234567, пиши", "мой <PHONE_1>, пиши"),
        ("ru", "заказ 89161234567890", "заказ 89161234567890"),
        ("de", "ruf 015112345678 an", "ruf <PHONE_1> an"),
        ("de", "ruf 0089161234567 an", "ruf 0089161234567 an"),  # no country has that code
        ("fr", "c'est le 0612345678 merci", "c'est le <PHONE_1> merci"),
        ("fr", "мой 89161234567, пиши", "мой 89161234567, пиши"),
        ("ru", {"order": "89161234567"}, {"order": "89161234567"}),  # the whole value is an id
    ],
)
def test_plain_digits_are_a_mobile_number_of_the_users_region(tag, text, shown):
    assert Masker(regions=of_language(tag)).mask(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "ssn 123-45-6789",
        "SSN: 123 45 6789",
        "my social security number is 123456789",
        "it is 219-09-9999, ok",
        "65 170839 J 003",
        "65170839j003",
        "Versicherungsnummer 65 170839 J 008",
        "Krankenversichertennummer: A123456780",
        "de89 3704 0044 0532 0130 00",
        "gb29nwbk60161331926819",
    ],
)
def test_no_digits_of_a_number_that_a_state_or_a_bank_gives_pass_where_the_kinds_are_on(text):
    shown = Masker(kinds=("IBAN", "IDENTITY")).mask_text(text)
    assert not any(map(str.isdigit, shown.replace("_1>", "")))


def test_a_common_name_in_small_letters_is_masked_and_other_words_stay():
    for text in ("call sarah lee today", "спроси у ивана петрова", "mail hans müller, please"):
        assert "<NAME_1>" in Masker().mask_text(text)
    for text in ("will smith it down", "paris hilton", "mark down the price"):
        assert Masker().mask_text(text) == text
