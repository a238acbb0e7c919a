"""The kernel answers in the language of the message where it is clear, else in the user's."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from string import ascii_lowercase
from types import MappingProxyType

import pytest

from webbee_kernel.api import callbacks
from webbee_kernel.catalogue import Catalogue
from webbee_kernel.language.stems import stem
from webbee_kernel.pii import Masker
from webbee_kernel.sdk.context import User
from webbee_kernel.stores.types import SessionMemory, UserState
from webbee_kernel.turn import messages
from webbee_kernel.turn.confirmation import answer
from webbee_kernel.turn.turn_context import TurnContext


def state(message: str, setting: str) -> TurnContext:
    return TurnContext(
        user=User(imperal_id="alice", email="a@example.org", tenant_id="t", language=setting),
        session_id="s",
        request_id="r",
        message=message,
        now=0.0,
        memory=SessionMemory(),
        stored=UserState(),
        catalogue=Catalogue(MappingProxyType({})),
        installed=frozenset(),
        expose_pii=False,
        deadline=0.0,
        masker=Masker(),
    )


@pytest.mark.parametrize(
    ("message", "setting", "tag"),
    [
        ("Delete the note about Lisbon", "ru", "en"),
        ("Удали заметку", "en", "ru"),
        ("Lösche bitte die Notiz", "en", "de"),
        ("Borra la nota, por favor", "en", "es"),
        ("Supprime la note, s'il te plaît", "ru-RU", "fr"),
        ("OK", "ru-RU", "ru-RU"),
        ("12345", "de-AT", "de-AT"),
    ],
)
def test_a_turn_is_answered_in_the_language_of_its_message(message, setting, tag):
    assert state(message, setting).language == tag


def test_a_russian_setting_does_not_make_an_english_message_russian():
    asked = state("What do I have to do today?", "ru")
    assert messages.gave_up(asked.language).startswith("I could not")


@pytest.mark.parametrize("yes", ["ja, bitte", "Sí, por favor", "oui", "да, удаляй", "Yes!"])
def test_a_yes_counts_in_every_language(yes):
    assert answer(yes) is True


@pytest.mark.parametrize("no", ["nein", "non, merci pas", "No, cancela", "нет", "don't"])
def test_a_no_never_counts_as_a_yes(no):
    assert answer(no) is not True


def test_the_page_of_a_sign_in_speaks_the_browsers_language():
    assert 'lang="de"' in callbacks.not_connected("de-DE,de;q=0.9,en;q=0.8", "over")
    assert "Nicht verbunden" in callbacks.not_connected("de,en;q=0.7", "over")


def test_words_are_stemmed_in_several_threads_at_once():
    """A stemmer holds the word that it works on: what loads beside a turn may not change it."""
    words = [f"{head}{tail}" for head in ascii_lowercase for tail in ("ationally", "ing", "edness")]
    expected = [stem.__wrapped__(w, "en") for w in words]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            work = [
                pool.submit(lambda: [stem.__wrapped__(w, "en") for w in words]) for _ in range(40)
            ]
            assert all(one.result() == expected for one in work)
    finally:
        sys.setswitchinterval(interval)
