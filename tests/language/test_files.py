"""A language is one file: what every one of them holds."""

import re
from pathlib import Path
from string import Formatter

import pytest
from pydantic import ValidationError

import webbee_kernel
from checks.language_files import ROLES, LanguageFile, valid_file
from webbee_kernel import language
from webbee_kernel.language.model import Calendar, Numerals, People
from webbee_kernel.language.resources import contents

TAGS = language.tags()
LAYER = Path(webbee_kernel.__file__).parent
BESIDE_ENGLISH = {"effects"}
"""Roles whose words are English names of functions, whatever a person speaks."""


def values(sentence: object) -> set[str]:
    forms = [sentence] if isinstance(sentence, str) else list(sentence.values())
    return {name for form in forms for _, name, _, _ in Formatter().parse(form) if name}


@pytest.fixture(scope="module")
def code() -> str:
    """The kernel's own code, without comments: a name in a comment is no use of it."""
    texts = (p.read_text("utf-8") for p in sorted(LAYER.rglob("*.py")))
    return re.sub(r"(?m)(?:^|  )# .*$", "", "\n".join(texts))


def unused(keys: list[str], code: str, read: str) -> list[str]:
    """The keys that code reads neither in the way of `read`, nor by name in quotation marks, nor by
    a beginning or an end that it completes: `f"label_{field}"`."""
    named = set(re.findall(read, code)) | set(re.findall(r"[\"'](\w+)[\"']", code))
    begun = tuple(set(re.findall(r"f[\"'](\w+_)\{", code)))
    ended = tuple(set(re.findall(r"f[\"']\{[\w.()]+\}(_\w+)[\"']", code)))
    return [k for k in keys if k not in named and not k.startswith(begun) and not k.endswith(ended)]


def test_six_languages_have_a_file_and_an_unknown_one_is_english():
    assert set(TAGS) == {"en", "ru", "de", "es", "fr", "it"}
    assert language.of("tlh").tag == "en"


@pytest.mark.parametrize("tag", TAGS)
def test_a_language_is_as_its_schema_says_with_words_for_every_role(tag):
    assert valid_file(tag).tag == tag
    assert set(contents("en")["words"]) - set(contents(tag)["words"]) <= BESIDE_ENGLISH


@pytest.mark.parametrize(
    "wrong",
    [
        {"words": {"negations": "no"}},
        {"words": {"negation": {"no": "no"}}},
        {"people": {"given": 1}},
        {"numerals": {"words": {"two": "zwei"}}},
        {"calendar": {"mornings": "am"}},
        {"meanings": ["no colon"]},
        {"hints": {}},
        {"reviewed": "perhaps"},
    ],
)
def test_what_the_schema_does_not_know_is_refused(wrong):
    with pytest.raises(ValidationError):
        LanguageFile.model_validate(contents("de") | wrong)


@pytest.mark.parametrize("tag", TAGS)
def test_a_language_says_every_sentence_with_the_same_values(tag):
    english, own = language.of("en"), language.of(tag)
    for theirs, mine in ((english.sentences, own.sentences), (english.causes, own.causes)):
        assert set(mine) == set(theirs)
        assert {k: values(s) for k, s in mine.items()} == {k: values(theirs[k]) for k in mine}


@pytest.mark.parametrize("tag", TAGS)
def test_a_sentence_that_counts_has_every_plural_form_of_its_language(tag):
    from webbee_kernel.language.resources import locale

    forms = set(locale(tag).plural_form.tags) - {"many"}  # `other` says those, too
    counted = {k: set(s) for k, s in language.of(tag).sentences.items() if not isinstance(s, str)}
    assert counted
    assert {k: forms - s for k, s in counted.items() if not s >= forms | {"other"}} == {}


def test_no_sentence_no_cause_no_field_and_no_role_is_unused(code):
    spoken = language.of("en")
    assert unused([*spoken.sentences, *spoken.causes], code, r"$^") == []
    read = r"\b(?:calendar|numerals|people)\.(\w+)"
    names = [name for kind in (Numerals, Calendar, People) for name in kind._fields]
    assert unused(names, code, read) == []
    named = r"(?:forms|concepts|lists)\((?:\"\w+\", )?\"(\w+)"
    asked = set(re.findall(r"\bwords\.(\w+)", code)) | set(re.findall(named, code))
    assert set(ROLES) - asked == {"common"}  # which only tells a language


@pytest.mark.parametrize("tag", TAGS)
def test_a_month_and_a_weekday_are_read_in_every_language(tag):
    from webbee_kernel.language.resources import locale

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
