"""The types of a language file, formatting in that language, and the meaning of JSON field names in
all languages together."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from .resources import DEFAULT_TAGS, FOLDER, contents, known_tag, locale, tags
from .stems import fold, stem, stems_of

WordList = str | list[str]
"""Words separated by spaces; of a long list its lines."""
_Forms = Mapping[str, str]
_NONE: Final[_Forms] = MappingProxyType({})
Sentences = Mapping[str, str | Mapping[str, str]]
"""By key, then by CLDR plural form where the sentence contains a count."""
MAX_FORMATTED: Final = 10**20
"""Larger numbers are not formatted: decimal arithmetic has 28 digits, six of them decimals."""
_Value = TypeVar("_Value")
_Section = TypeVar("_Section", bound="Numerals | Calendar | People")


def _join(value: Any) -> Any:
    """A list of lines joined to one string, recursively in mappings; other values unchanged."""
    if isinstance(value, dict):
        return {key: _join(value) for key, value in value.items()}
    return " ".join(value) if isinstance(value, list) else value


class Role(Generic[_Value]):
    """A word list of a language: a descriptor that computes it on first use and caches it."""

    def __init__(self, make: Callable[[Words, str], _Value]) -> None:
        self.made = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, words: Words, owner: type) -> _Value:
        value = words.__dict__[self._name] = self.made(words, self._name)
        return value


def _stems(words: Words, role: str) -> frozenset[str]:
    """The stems of a role's words; empty where the file gives none."""
    return frozenset(stems_of(" ".join(words.lists(role).values()), words.tag))


def concepts(words: Words, role: str) -> Mapping[str, str]:
    """Stem → concept, of a role whose words are grouped by concept."""
    lists = words.lists(role)
    return {word: name for name, forms in lists.items() for word in stems_of(forms, words.tag)}


class Words:
    """The words of a language by role, as stems; test membership with `language.stem(word)`.

    The file lists each role's words separated by spaces, in any form, or by concept (`effects`,
    `units`, …). A new role is one line here and one in each language file.
    """

    common = Role(_stems)  # words that only tell the language of a text
    begin = Role(_stems)  # leads to a command, "_" for a space: please, could_you
    end = Role(_stems)  # follows one: please, for_me
    ask = Role(_stems)  # leads to a question or a look: what_is, show_me
    address = Role(_stems)  # what stands beside "the same": address, e-mail
    negation = Role(_stems)  # not, never, no: the sentence denies
    pair = Role(_stems)  # both: two, and no more of them
    question = Role(_stems)  # what, which, how: the sentence asks
    prohibition = Role(_stems)  # don't, must not, stop: the user forbids
    greeting = Role(_stems)
    thanks = Role(_stems)
    yes = Role(_stems)
    yes_filler = Role(_stems)  # may stand beside a yes: please, it
    no = Role(_stems)
    no_filler = Role(_stems)  # may stand beside a no: now, wait
    reference = Role(_stems)  # points back: same, that, it
    recency = Role(_stems)  # "the one I just created"
    function = Role(_stems)  # says nothing about the matter: a, the, to, my, please
    about = Role(_stems)  # about, roughly: the figure is rounded
    and_ = Role(_stems)
    opener = Role(_stems)  # may stand before a command: please, ok, now
    ability = Role(_stems)  # can you, are you able
    sequence = Role(_stems)  # then, after that: between two commands
    plural_reference = Role(_stems)  # points back at several: them, these, all
    article = Role(_stems)  # stands before a name and belongs to none: the
    particle = Role(_stems)  # may stand anywhere in a command and says nothing: please, me
    help = Role(_stems)  # asks what there is to do
    undo = Role(_stems)  # takes back what was just made, "_" for a space: undo_that
    restore = Role(_stems)  # the same, and brings back what is gone: put_back
    telling = Role(_stems)  # before what is to be written, as a colon: saying, that_says
    changing = Role(_stems)  # change, set: before the name of a field and its new value
    toward = Role(_stems)  # points back at a person or a place: her, there
    things = Role(concepts)  # what apps hold and say of it: account, message, address, count
    asks = Role(concepts)  # what a question word asks for: who, when, where, count
    limits = Role(_stems)  # before, until, than, except: what follows is a limit or left out
    possession = Role(_stems)  # you have, your: the sentence speaks of the user's own things
    effects = Role(concepts)  # send, delete, create …: what a verb does
    ordinals = Role(concepts)  # concept is the position as a string, "-1" the last
    units = Role(concepts)  # second, minute, hour, day, week, month, year, byte, kilobyte …
    alike = Role(concepts)  # verbs that may stand for each other: delete, remove, erase
    objects = Role(concepts)  # what collections hold: message, file, booking

    def __init__(self, tag: str, roles: Mapping[str, WordList | Mapping[str, WordList]]) -> None:
        self.tag = tag
        self.given = {role: _join(raw_lists) for role, raw_lists in roles.items()}

    def forms(self, role: str) -> frozenset[str]:
        """The unstemmed words of a role, as listed in the file."""
        return _forms(" ".join(self.lists(role).values()))

    def lists(self, role: str) -> Mapping[str, str]:
        """The lists of a role by concept; without concepts one list under the key ""."""
        lists = self.given.get(role, "")
        return {"": lists} if isinstance(lists, str) else lists


@lru_cache(maxsize=512)
def _forms(words: str) -> frozenset[str]:
    return frozenset(words.split())


class Numerals(NamedTuple):
    """Number words. A language that the library text2num knows (`library`) needs no `words`."""

    library: str = ""
    words: _Forms = _NONE  # "20", under 1000 → its forms
    scales: _Forms = _NONE  # "1000" and up → forms; after a numeral, too
    glue: str = ""  # words inside a number: and
    rough: Mapping[str, str] = _NONE  # "12" → dozen: said of about so many
    ordinal_endings: str = ""  # after a numeral: st nd rd th
    percent: str = ""  # words for %
    decimal: str = "."


class Calendar(NamedTuple):
    """Words of dates and times beyond the names of CLDR."""

    months: _Forms = _NONE  # further forms: "1" → jan january
    weekdays: _Forms = _NONE  # "0" is Monday
    days: Mapping[str, str] = _NONE  # days from today → words: "1": tomorrow
    inside: str = ""  # between day and month, month and year: of
    until: str = ""  # between the ends of a range: to, until
    together: str = ""  # between two days of one month: and
    at: str = ""  # before an hour: at
    day_lead: str = ""  # before a day that something is for or lasts to: on, by, until
    ahead: str = ""  # in three days
    ago: str = ""  # three days ago, before or after the count
    next: str = ""
    last: str = ""
    this: str = ""
    hour: str = ""  # after an hour: o'clock, Uhr, h
    morning: str = ""  # makes an hour one of the first half of the day
    evening: str = ""  # … of the second half
    noon: str = ""
    midnight: str = ""
    day_suffix: str = ""  # after a day's number: st nd rd th, a full stop
    doubtful: str = ""  # names of months that are other words too
    month_lead: str = ""  # before a month that stands alone: in, during
    bare_units: bool = False  # a unit without a number is one of it
    month_first: bool = False  # 5/6 is May 6


class People(NamedTuple):
    """Words and JSON keys by which people's names, phone numbers and secrets are recognised;
    separated by spaces, in any case, with or without accents."""

    given: str = ""
    given_words: str = ""  # given names that are common words too: will, grace
    surnames: str = ""
    not_names: str = ""  # words of titles: one of them in a run of capitals makes it no name
    place_leads: str = ""  # san, lake: with the name behind it a place
    particles: str = ""  # inside surnames: van, de
    family_endings: str = ""  # a pattern: what surnames end in
    patronymic_endings: str = ""
    honorifics: str = ""  # before a name, as written: Mr, Dear
    greetings: tuple[str, ...] = ()  # before a name, as written: Hi, Best regards
    labels: tuple[str, ...] = ()  # before a colon and a name: customer
    links: str = ""  # between two names: and, from
    nobody: str = ""  # values of a name key that name no person
    roles: str = ""  # keys of people: sender, customer
    role_genitives: str = ""  # roles in the form that follows "name of"
    sure_keys: str = ""  # nothing but a name stands under these: surname
    name_words: str = ""  # name, names
    part_words: str = ""  # with name: first, given
    address_keys: str = ""  # from, to, cc
    by_words: str = ""  # created *by*
    done_words: str = ""  # *created* by
    self_keys: str = ""  # a parent whose `name` is a person's: user, profile
    display_words: str = ""  # with name, as little as name alone: display
    never_keys: str = ""  # file, product: what has a name and is no person
    person_beside: str = ""  # keys beside `name` that make it a person's: birthday
    thing_beside: str = ""  # … a thing's: path, price
    title_keys: str = ""  # title, subject: what names a thing
    phone_keys: str = ""
    phone_tails: str = ""  # after a phone key: number, home
    phone_words: tuple[str, ...] = ()  # before a number in prose
    phone_links: str = ""  # between these and the number: number, is
    passport_keys: str = ""
    passport_words: tuple[str, ...] = ()  # before a passport's number in prose
    identity_keys: str = ""  # of numbers that a state gives a person
    identity_words: tuple[str, ...] = ()
    passwords: str = ""  # any value under these keys is a secret
    pin_keys: str = ""  # digits under these keys are a secret
    tokens: str = ""  # a value that is not a word is a secret
    key_heads: str = ""  # the same after one of `key_leads`: key
    key_leads: str = ""  # api, private
    key_tails: str = ""  # after a secret's key: hash, value
    shown_keys: str = ""  # part of a token's key that may be displayed: tracking
    public_keys: str = ""  # part of a key that marks it as not secret: next, page
    secret_words: tuple[str, ...] = ()  # before a secret in prose
    secret_links: tuple[str, ...] = ()  # between these and it: is


@dataclass(frozen=True, eq=False)  # one instance per tag: caches are keyed by identity
class Language:
    """A natural language: its words, and numbers, dates, money and sentences as it writes them."""

    tag: str
    words: Words
    sentences: Sentences = field(default_factory=dict)
    causes: Mapping[str, str] = field(default_factory=dict)  # why a model gave no answer
    letters: str = ""  # letters that no other language of its script has
    script: str = "latin"
    regions: tuple[str, ...] = ()  # where it is spoken, ISO 3166, the likeliest first
    currencies: Mapping[str, str] = field(default_factory=dict)  # USD → dollar dollars
    numerals: Numerals = Numerals()  # noqa: RUF009 - they hold nothing that changes
    calendar: Calendar = Calendar()  # noqa: RUF009
    people: People = People()  # noqa: RUF009
    is_reviewed: bool = True  # read by somebody who speaks it

    def stem(self, word: str) -> str:
        """The stem of a word: equal for the forms of a word."""
        return stem(word, self.tag)

    def say(self, key: str, **values: object) -> str:
        """The kernel's sentence `key`, formatted with `values`; `n` selects the plural form. Falls
        back to English; an unknown key raises `KeyError`."""
        speaker = self if key in self.sentences else of(DEFAULT_TAGS[0])
        sentence = speaker.sentences[key]
        if isinstance(sentence, str):
            return sentence.format(**values)
        count = values["n"]
        assert isinstance(count, int | float)
        form = str(locale(speaker.tag).plural_form(count))
        return sentence.get(form, sentence["other"]).format(**values)

    def field_name(self, name: str) -> str:
        """The translated label of a field name, or the name itself."""
        return str(self.sentences.get(f"field_{name}", name))

    def cause(self, key: str, wait_s: float = 0.0) -> str:
        """The message for the user why a model gave no answer; empty for an unknown cause. `wait_s`
        is the service's Retry-After in seconds, 0 for none."""
        causes = self.causes or of(DEFAULT_TAGS[0]).causes
        if key not in causes:
            return ""
        wait = causes["seconds"].format(n=round(wait_s)) if 0 < wait_s < 100 else causes["minute"]
        return causes[key].format(wait=wait)

    def number(self, value: int | float | Decimal) -> str:
        """A number for people: `1,234.5`, `1 234,5`; up to six decimals. From 10^20 on it is left
        as `str(value)`."""
        from babel.numbers import format_decimal

        if not -MAX_FORMATTED < value < MAX_FORMATTED:
            return str(value)
        return str(format_decimal(value, "#,##0.######", locale=locale(self.tag)))

    def money(self, value: int | float | Decimal, currency: str) -> str:
        """An amount for people, `$1,234.50`. `currency` is an ISO 4217 code; an unknown one is
        appended as it is."""
        from babel.numbers import format_currency

        if not -MAX_FORMATTED < value < MAX_FORMATTED:
            return f"{value} {currency}"
        return str(format_currency(value, currency, locale=locale(self.tag)))

    def date(self, value: date | datetime | str) -> str:
        """A day for people, in words: `May 15, 2026`, `15. Mai 2026`. Raises `ValueError` for a
        string that is not ISO 8601."""
        from babel.dates import format_date

        at = datetime.fromisoformat(value) if isinstance(value, str) else value
        return str(format_date(at, "long", locale=locale(self.tag)))

    def time(self, value: time | datetime | str) -> str:
        """A time of day for people, in the zone that the value is in: `5:21 PM`, `17:21`. Raises
        `ValueError` for a string that is not ISO 8601."""
        from babel.dates import format_time

        at = datetime.fromisoformat(value) if isinstance(value, str) else value
        at = at.time() if isinstance(at, datetime) else at
        return str(format_time(at, "short", locale=locale(self.tag)))

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word of every role, unstemmed; used by language detection."""
        return frozenset().union(*(self.words.forms(role) for role in self.words.given))


@lru_cache(maxsize=64)
def of(tag: str) -> Language:
    """The language of a tag such as `ru`, `ru-RU` or `de_AT`, or the first one of an
    `Accept-Language`; English where it has no file."""
    return _load(known_tag(tag))


@lru_cache(maxsize=16)
def _load(tag: str) -> Language:
    content = contents(tag)
    parts = {k: content[k] for k in ("letters", "script", "sentences", "causes") if k in content}
    return Language(
        tag,
        Words(tag, content["words"]),
        **parts,
        regions=tuple(content.get("regions", "").split()),
        currencies=_join(content.get("currencies", {})),
        numerals=_section(Numerals, content),
        calendar=_section(Calendar, content),
        people=_section(People, content),
        is_reviewed=content["reviewed"],
    )


def _section(kind: type[_Section], content: Mapping[str, Any]) -> _Section:
    """A section of a language file (`people` for `People`): phrases become tuples, words one
    string."""
    phrases = {name for name, default in kind._field_defaults.items() if default == ()}
    raw = content.get(kind.__name__.lower(), {})
    parts: dict[str, Any] = {k: tuple(v) if k in phrases else _join(v) for k, v in raw.items()}
    return kind(**parts)


@lru_cache(maxsize=64)
def people(field: str) -> frozenset[str]:
    """The words that all languages together give for a field of `People`, folded."""
    return frozenset(fold(w) for words in _fields(field) for w in words)


@lru_cache(maxsize=64)
def people_keys(field: str) -> frozenset[str]:
    """As `people`, but folded like JSON keys, without accents."""
    return frozenset(key_fold(w) for words in _fields(field) for w in words)


@lru_cache(maxsize=16)
def people_phrases(field: str) -> tuple[str, ...]:
    """The words and phrases of a field as written, of all languages, the longest first."""
    found = {w for words in _fields(field) for w in words}
    return tuple(sorted(found, key=lambda w: (-len(w), w)))


def _fields(field: str) -> list[tuple[str, ...]]:
    values = [getattr(of(t).people, field) for t in tags()]
    return [v if isinstance(v, tuple) else tuple(v.split()) for v in values]


@lru_cache(maxsize=4096)
def key_fold(word: str) -> str:
    """A word of a JSON key without case and accents: `Prénom` → `prenom`."""
    plain = unicodedata.normalize("NFD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


@lru_cache(maxsize=1)
def title_keys() -> tuple[str, ...]:
    """Folded JSON keys whose value is a record's title (`title`, `subject`, …) in all languages,
    the most specific first."""
    return tuple(
        dict.fromkeys(key_fold(k) for t in tags() for k in of(t).people.title_keys.split())
    )


_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W\d_]+")


@lru_cache(maxsize=4096)
def key_roles(key: str) -> frozenset[str]:
    """The roles of a key: `id`, `rank`, `paging`, `money`, `moment`, `total`, `rate`, `level` (not
    summable), `minor`.

    A key has every role of its words: `page_size` is `paging`, `totalCount` is `total`.
    """
    words = {word.lower() for word in _PARTS.split(key)}
    return frozenset(role for role, known in _roles().items() if not known.isdisjoint(words))


@lru_cache(maxsize=1)
def _roles() -> dict[str, frozenset[str]]:
    lists = json.loads((FOLDER / "json_keys.json").read_bytes())
    return {role: frozenset(" ".join(lines).split()) for role, lines in lists.items()}
