"""What the room `language` reads from texts: numbers, dates, words, and words that are looked for, found in
whatever form they stand."""

import sys
from concurrent.futures import ThreadPoolExecutor
from string import ascii_lowercase

import pytest

from webbee_kernel import language
from webbee_kernel.language import units
from webbee_kernel.language.search import SearchWords
from webbee_kernel.language.stems import stem

NOW = "2026-05-15T17:21:04Z"


def test_a_number_is_read_with_what_belongs_to_it() -> None:
    for tag, text, value, kind, unit in (
        ("en", "184k", 184_000, "number", ""),
        ("en", "12.5 thousand", 12_500, "number", ""),
        ("en", "twenty-three", 23, "number", ""),
        ("en", "one hundred and five", 105, "number", ""),
        ("en", "five dollars", 5, "money", "USD"),
        ("en", "3rd", 3, "ordinal", ""),
        ("ru", "двадцать три тысячи пятьсот", 23_500, "number", ""),
        ("ru", "12,5 тыс. руб.", 12_500, "money", "RUB"),
        ("ru", "1 234,50 ₽", 1234.5, "money", "RUB"),
        ("it", "ventitré", 23, "number", ""),
    ):
        (found,) = language.numbers(text, tag)
        assert (found.value, found.kind, found.unit) == (value, kind, unit)


def test_the_unit_behind_a_number_is_read_by_its_sign_and_its_name() -> None:
    for tag, text, name, size in (
        ("en", "26 kilowatt hours", "kilowatt-hour", 1000),
        ("en", "5 in total", "", 0),  # no inches
        ("en", "5 A", "ampere", 1),
        ("en", "5 a day", "", 0),
        ("de", "12 l/100 km", "", 0),
        ("es", "5 y 3", "", 0),  # no years
        ("ru", "7 недель", "week", 604_800),
    ):
        digits = next(at for at, char in enumerate(text) if not (char.isdigit() or char == ","))
        found = units.unit_after(text, digits, language.of(tag))
        assert (found.name, found.size) == (name, size)


def test_words_that_do_not_make_one_number_are_two_and_a_mark_has_both_readings():
    assert [m.value for m in language.numbers("два три", "ru")] == [2, 3]
    (found,) = language.numbers("1,234", "en")
    assert found.readings == (1234, 1.234)


def test_a_date_is_read_in_its_language() -> None:
    for tag, text, kind, value in (
        ("en", "15 May", "date", (None, 5, 15)),
        ("en", "tomorrow", "date", (2026, 5, 16)),
        ("en", "in two weeks", "date", (2026, 5, 29)),
        ("en", "at 5 pm", "time", 17 * 60),
        ("en", "March 2026", "month", (2026, 3)),
        ("ru", "15 мая 2026 года", "date", (2026, 5, 15)),
        ("ru", "через неделю", "date", (2026, 5, 22)),
        ("ru", "в июне", "month", (None, 6)),
        ("ru", "в 5 вечера", "time", 17 * 60),
        ("ru", "в прошлом месяце", "period", ((2026, 4, 1), (2026, 4, 30))),
        ("it", "domani", "date", (2026, 5, 16)),
        ("en", "Thu 21", "date", (2026, 5, 21)),
        ("es", "el lunes 18 tienes dos", "date", (2026, 5, 18)),
        ("de", "Donnerstag, den 21.", "date", (2026, 5, 21)),
        ("en", "Monday 3 tasks", "weekday", 0),  # no 3rd near now is a Monday
        ("en", "Monday, 18 tasks", "weekday", 0),
    ):
        (found,) = language.dates(text, tag, NOW)
        assert (found.kind, found.value) == (kind, value)


def test_both_ends_of_a_range_are_read_and_the_verb_may_is_no_month():
    assert [m.value for m in language.dates("3–5 May", "en", NOW)] == [(None, 5, 3), (None, 5, 5)]
    assert [m.value for m in language.dates("9–10:30", "en", NOW)] == [540, 630]
    assert [m.value for m in language.dates("von 9 bis 10:30 Uhr", "de", NOW)] == [540, 630]
    assert [m.value for m in language.dates("9 to noon", "en", NOW)] == [540, 720]
    assert language.dates("you may go", "en", NOW) == ()
    assert [m.text for m in language.dates("€6.29 und 5.11 €, am 5.11 um 9:00", "de", NOW)] == [
        "5.11", "9:00"]  # fmt: skip


def test_the_language_of_a_message_is_its_own_where_it_is_clear() -> None:
    for text, default, tag in (
        ("Delete the Lisbon note", "ru", "en"),
        ("show unread emails", "ru", "en"),
        ("удали заметку", "en", "ru"),
        ("ok", "ru", "ru"),
        ("forward it to les.amis@une.fr and la.maison@des.fr", "ru", "en"),
        ("delete https://la.example/les/des/une", "en", "en"),
        ("42", "ru", "ru"),
        ("Lösche bitte die Notiz", "en", "de"),
        ("Borra la nota, por favor", "en", "es"),
        ("Supprime la note, s'il te plaît", "ru-RU", "fr"),
        ("Elimina la nota sulle tasse", "en", "it"),
        ("Quanti messaggi ho da leggere?", "en", "it"),
        ("mostrami gli appunti", "en", "it"),
        ("muéstrame mis notas", "en", "es"),
        ("montre-moi mes notes", "en", "fr"),
        # of who speaks none of these, a few words that it shares with one tell nothing
        ("Ann'a posta gönder", "tr", "en"),
        ("Trimite un email lui Ana", "ro", "en"),
        ("Надішли листа Анні", "uk", "en"),
        ("Schick Ann eine Mail", "tr-TR", "de"),
        ("Schick Ann eine Mail", "de-AT", "de"),
    ):
        assert language.detect(text, default) == tag


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


def test_a_word_is_found_in_any_of_its_forms() -> None:
    for query, tag, text, place in (
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
    ):
        words = SearchWords(query, tag)
        assert words.are_in(text) and words.place_in(text) == place and bool(words) == bool(query)


def test_forms_share_their_stem_a_compound_is_found_by_its_parts_and_another_word_is_not() -> None:
    assert not SearchWords("книгу", "ru").are_in("книжный заметка")
    others = {"renewal": "new", "books": "booth", "red books": "a book", "300418": "300419"}
    for query, text in others.items():
        assert not SearchWords(query, "en").are_in(text), query
    assert stem("задачами") == stem("задачу")
    assert stem("tasks", "ru") == stem("task")
    words = SearchWords("Bestellnummer", "de")
    assert words.are_in("Die Nummer Ihrer Bestellung") and words.are_in("BESTELLNUMMER 7")
    assert len(words.held("Ihre Bestellung")) == 1


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
