"""Words that are looked for, found in whatever form they stand in a text."""

from __future__ import annotations

import pytest

from webbee_kernel.language.search import SearchWords


@pytest.mark.parametrize(
    ("query", "tag", "text", "place"),
    [
        ("книгу", "ru", "Купить книги", (7, 12)),
        ("поездку в Лиссабон", "ru", "Лиссабон: поездка", (0, 8)),
        ("Марии", "en", "Мария Иванова", (0, 5)),
        ("елка", "ru", "Ёлки", (0, 4)),
        ("Bücher", "de", "das Buch", (4, 8)),
        ("Buch", "de", "Bücher", (0, 6)),
        ("chevaux", "fr", "le cheval", (3, 9)),
        ("libros", "es", "Un LIBRO", (3, 8)),
        ("the books", "en", "a Book", (2, 6)),
        ("ship", "en", "it was reshipped", (9, 13)),
        ("the", "en", "see the end", (4, 7)),
        ("", "en", "anything", None),
    ],
)
def test_a_word_is_found_in_any_of_its_forms(
    query: str, tag: str, text: str, place: tuple[int, int] | None
) -> None:
    words = SearchWords(query, tag)
    assert words.are_in(text) and words.place_in(text) == place and bool(words) == bool(query)


@pytest.mark.parametrize(
    ("query", "tag", "text"),
    [
        ("книгу", "ru", "книжный заметка"),
        ("renewal", "en", "new"),
        ("books", "en", "booth"),
        ("red books", "en", "a book"),
        ("300418", "en", "300419"),
    ],
)
def test_another_word_is_not_found(query: str, tag: str, text: str) -> None:
    assert not SearchWords(query, tag).are_in(text)


@pytest.mark.parametrize(
    ("query", "tag", "beginnings"),
    [
        ("письма от Марии", "ru", ["письм", "Мар"]),
        ("orders", "en", ["order"]),
        ("Häuser", "de", ["Häuser"]),
        ("ann@example.com Q3", "en", ["ann@example.com", "Q3"]),
    ],
)
def test_a_server_that_compares_letters_gets_beginnings(
    query: str, tag: str, beginnings: list[str]
) -> None:
    assert SearchWords(query, tag).beginnings() == beginnings
