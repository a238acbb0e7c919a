"""Words that are looked for, found in whatever form they stand in a text."""

import pytest

from webbee_kernel.language.search import SearchWords
from webbee_kernel.language.stems import stem


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


def test_another_word_is_not_found() -> None:
    assert not SearchWords("книгу", "ru").are_in("книжный заметка")
    others = {"renewal": "new", "books": "booth", "red books": "a book", "300418": "300419"}
    for query, text in others.items():
        assert not SearchWords(query, "en").are_in(text), query


@pytest.mark.parametrize(
    ("query", "tag", "beginnings"),
    [
        ("письма от Марии", "ru", ["письм", "Мар"]),
        ("Анны", "ru", ["Анн"]),  # two letters are too few
        ("Ивана", "ru", ["Ива"]),
        ("Bestellnummer", "de", ["Bestell", "numm"]),
        ("Rechnungsnummern", "de", ["Rechnungsnumm"]),
        ("orders", "en", ["order"]),
        ("Häuser", "de", ["Häuser"]),
        ("ann@example.com Q3", "en", ["ann@example.com", "Q3"]),
    ],
)
def test_a_server_that_compares_letters_gets_beginnings(
    query: str, tag: str, beginnings: list[str]
) -> None:
    assert [*SearchWords(query, tag).beginnings().values()] == beginnings


def test_what_lacks_a_word_stands_behind_what_has_all_unless_it_tells_little() -> None:
    """A word tells little where many texts have it, and nothing where none has."""
    words = SearchWords("order number", "en")
    order, number = frozenset({"order"}), frozenset({"number"})
    assert words.best({order: 1, frozenset(): 9}) == [order | number, order]
    assert words.best({order: 1, number: 8, frozenset(): 9}) == [order | number, order]
    assert words.best({frozenset(): 3}) == [order | number]


def test_forms_of_a_word_share_their_stem_whatever_language_asks() -> None:
    assert stem("задачами") == stem("задачу")
    assert stem("tasks", "ru") == stem("task")


def test_a_compound_is_found_by_its_parts() -> None:
    words = SearchWords("Bestellnummer", "de")
    assert words.are_in("Die Nummer Ihrer Bestellung") and words.are_in("BESTELLNUMMER 7")
    assert len(words.held("Ihre Bestellung")) == 1
