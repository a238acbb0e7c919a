"""A language is one file: what every one of them holds."""

from __future__ import annotations

from string import Formatter

import pytest

from webbee_kernel import language

TAGS = language.tags()


def fields(sentence: object) -> set[str]:
    forms = [sentence] if isinstance(sentence, str) else list(sentence.values())
    return {name for form in forms for _, name, _, _ in Formatter().parse(form) if name}


def test_five_languages_have_a_file():
    assert set(TAGS) == {"en", "ru", "de", "es", "fr"}


@pytest.mark.parametrize("tag", TAGS)
def test_a_language_says_every_sentence_with_the_same_values(tag):
    english, own = language.of("en").sentences, language.of(tag).sentences
    assert set(own) == set(english)
    assert {k: fields(s) for k, s in own.items()} == {k: fields(english[k]) for k in own}


@pytest.mark.parametrize("tag", TAGS)
def test_words_in_a_list_are_parted_by_single_spaces(tag):
    people = vars(language.of(tag).people)
    assert all("  " not in v for v in people.values() if isinstance(v, str))


@pytest.mark.parametrize("tag", TAGS)
def test_a_month_and_a_weekday_are_read_in_every_language(tag):
    from webbee_kernel.language.formats import locale

    for number, name in locale(tag).months["format"]["wide"].items():
        (found,) = language.dates(f"15 {name} 2026", tag)
        assert found.value == (2026, number, 15)
    for number, name in locale(tag).days["format"]["wide"].items():
        (found,) = language.dates(name, tag)
        assert (found.kind, found.value) == ("weekday", number)


@pytest.mark.parametrize("tag", TAGS)
def test_numbers_dates_and_money_are_read_back_as_they_are_written(tag):
    own = language.of(tag)
    (number,) = language.numbers(own.number(1234567.5), tag)
    assert number.value == 1234567.5
    (money,) = language.numbers(own.money(1234.5, "EUR"), tag)
    assert (money.value, money.unit) == (1234.5, "EUR")
    (day,) = language.dates(own.date("2026-10-15"), tag)
    assert day.value == (2026, 10, 15)


def test_an_unknown_language_is_english():
    assert language.of("tlh").tag == "en"


def test_a_role_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="negations"):
        language.Words("en", negations="no")
