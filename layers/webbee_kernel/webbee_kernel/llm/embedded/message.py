"""A message as tokens (words, quotations, addresses, links, ISO dates), and the function words of a
language. Linear; tokens after `MAX_TOKENS` are not read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from os.path import commonprefix
from typing import NamedTuple

from ... import language
from ...language import key_fold
from ...text import squeeze

_SPECIAL = (
    r"(?P<quote>\"[^\"]{1,2000}\"|«[^«»]{1,2000}»|“[^“”]{1,2000}”"
    r"|„[^„“”]{1,2000}[“”]|「[^「」]{1,2000}」"
    # single marks are apostrophes, too: a quotation stands apart from the words
    r"|(?<![^\s(])['‘](?=\S)[^'’\n]{2,500}(?<=\S)['’](?!\w))"
    r"|(?P<email><EMAIL_\d{1,9}>|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"
    r"|(?P<url>https?://[^\s<>\"»”]{1,2000})"
    r"|(?P<colon>:(?=\s|$)|{telling})"
    r"|(?P<date>(?<!\d)\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z?)?(?!\d))"
)


@lru_cache(maxsize=1)
def _special() -> re.Pattern[str]:
    """The pattern of tokens other than words; phrases that lead in a text count as a colon."""
    forms = sorted(language.forms("telling"), key=len, reverse=True)
    phrases = (re.escape(form).replace("_", r"[\s,]+") for form in forms)
    # behind another word, and before a text; in an example before a slot
    behind = r"(?=\s*(?:$|:?\s+[\w<]|:?\s*[\"«“„「'‘]))"
    telling = rf"(?<=\s)(?i:{'|'.join(phrases)}){behind}"
    return re.compile(_SPECIAL.replace("{telling}", telling))


BREAK = re.compile(r"[;,\n]|[.!?](?=\s)")
"""A possible boundary between parts of a message."""
COLON = ":"
"""The stem of a colon, which separates two slots and is otherwise skipped."""
MAX_TOKENS = 250
"""Maximum tokens; the rest is one token of kind `unread`, which only text slots accept."""
MAX_SKIPPED = 6
"""Maximum articles, particles and colons that are skipped in a row."""
_PHRASES = 12
"""Maximum phrases trimmed around a command."""
_EDGE_MARKS = " \t\r\n\u00a0:,;–—"


class Token(NamedTuple):
    """`kind`: word, quote, email, url, date, colon, unread. The `text` of a quotation is without
    its quotes."""

    text: str
    start: int
    end: int
    kind: str = "word"


class Bounds(NamedTuple):
    """The tokens from `first` to before `last`; `is_question`: a question or "show me" preceded
    them."""

    first: int
    last: int
    is_question: bool


class Lexicon:
    """The words that may accompany a command: stems, or folded words where the form matters;
    phrases by their first word, closing ones reversed."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        # locale data, read once a language: nothing here knows a word
        words = language.of(tag).words
        self.particles = frozenset(map(key_fold, words.forms("particle")))
        self.articles = self.particles.union(map(key_fold, words.forms("article")))
        openers = words.forms("opener") | words.forms("and_") | words.forms("sequence")
        self.begin = _phrases(words.forms("begin") | openers)
        self.openers = frozenset(map(key_fold, openers))
        self.ask = _phrases(words.forms("ask"))
        self.end = _phrases(words.forms("end"), step=-1)
        self.reference = words.reference | words.recency
        self.ordinals = {stem: int(place) for stem, place in words.ordinals.items()}
        self.plural = words.plural_reference
        self.every = self.plural - self.reference  # "all", and not "them"
        self.pronouns = self.plural & self.reference
        self.conjunctions = words.and_ | words.sequence
        self.denial = words.negation | words.prohibition
        self.correction = self.denial | words.no  # "milk, no, bread"
        # "not" is small and changes everything
        self.function = words.function - self.denial
        self.bare = self.function - self.reference - self.plural  # points at nothing, either
        self.fillers = self.function | self.reference | self.plural | self.denial
        self.question = words.question | words.asks.keys()
        self.greetings = _phrases(words.forms("greeting"))
        self.farewells = _phrases(words.forms("thanks"))
        self.hello = words.greeting | words.help | words.ability
        self.polite = self.hello.union(self.function, words.opener, words.question, words.thanks)
        self.thanks = words.thanks
        # what is said of a thing, and names none: "number", "address"
        self.fields = {s: name for s, name in words.things.items() if s not in words.objects}
        groups = {**words.objects, **words.alike}
        self.groups = {stem: f"={group}" for stem, group in groups.items()}
        self.address, self.toward, self.ability = words.address, words.toward, words.ability
        fillers = self.fillers | words.opener | words.and_ | words.ordinals.keys()
        self.undo_fillers = fillers - words.undo - words.restore
        self.restore = self._undo_phrases(words.forms("restore"))
        self.undo = self._undo_phrases(words.forms("undo")) + self.restore

    def _undo_phrases(self, forms: frozenset[str]) -> list[set[str]]:
        """The telling words of phrases, as they are compared."""
        stems = ({language.stem(w, self.tag) for w in form.split("_")} for form in forms)
        return [{self.groups.get(s, s) for s in own} - self.undo_fillers for own in stems]


def _phrases(forms: frozenset[str], step: int = 1) -> Mapping[str, list[list[str]]]:
    """Phrases by first word, the longest first."""
    found: dict[str, list[list[str]]] = {}
    # "could you please" before "could you"
    for form in sorted(forms, key=lambda f: -f.count("_")):
        phrase = [key_fold(w) for w in form.split("_")][::step]
        found.setdefault(phrase[0], []).append(phrase)
    return found


lexicon = lru_cache(maxsize=16)(Lexicon)


def word_key(word: str, tag: str) -> str:
    """The comparison key of a word: its stem, or its group of synonyms."""
    stem = language.stem(word, tag)
    return lexicon(tag).groups.get(stem, stem)


def word_keys(text: str, tag: str) -> set[str]:
    """The comparison keys of a text's words."""
    return {word_key(word.text, tag) for word in language.tokens(text)}


@dataclass
class Message:
    """A text and its tokens, with stems by language. `default_tag` is used if the language cannot
    be detected."""

    text: str
    tokens: tuple[Token, ...]
    default_tag: str = "en"
    _stems: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _bounds: dict[tuple[str, bool, int], Bounds] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, default_tag: str = "en") -> Message:
        """Tokenise a text."""
        # one more than is read tells that there is more
        tokens = list(itertools.islice(tokenize(text), MAX_TOKENS + 1))
        # the rest is one token that no slot but a text takes
        if len(tokens) > MAX_TOKENS:
            start = tokens[-1].start
            tokens[-1] = Token(text[start:], start, len(text), "unread")
        return cls(text, tuple(tokens), default_tag)

    @cached_property
    def tag(self) -> str:
        """The detected language, else the default."""
        return language.detect(self.text, self.default_tag)

    @cached_property
    def words(self) -> list[str]:
        """Each word, folded and without accents; empty for other tokens."""
        texts = (t.text.replace("’", "'") if t.kind == "word" else "" for t in self.tokens)
        return [*map(key_fold, texts)]

    def stems(self, tag: str) -> tuple[str, ...]:
        """The comparison key of each token; `:` for a colon, empty for other non-words."""
        if tag not in self._stems:
            self._stems[tag] = tuple(
                word_key(t.text, tag) if t.kind == "word" else COLON * (t.kind == "colon")
                for t in self.tokens
            )
        return self._stems[tag]

    def is_skippable(self, at: int, tag: str) -> bool:
        """Whether a token is an article, particle or colon."""
        return self.tokens[at].kind == "colon" or self.words[at] in lexicon(tag).articles

    def skip_articles(self, tag: str, at: int, last: int, wanted: str = "") -> int:
        """The position after articles and colons, or of the word `wanted`."""
        end, stems = min(last, at + MAX_SKIPPED), self.stems(tag)
        while at < end and stems[at] != wanted and self.is_skippable(at, tag):
            at += 1
        return at

    def is_tail(self, tag: str, at: int, last: int, nouns: frozenset[str]) -> bool:
        """Whether these tokens add nothing to a command: "again", or the app's noun behind small
        words, "my list | of tasks"."""
        tail, known = slice(self.skip_articles(tag, at, last), last), lexicon(tag)
        stems = self.stems(tag)[tail]
        is_noun = nouns.issuperset(stems[-1:]) and (nouns | known.function).issuperset(stems)
        return is_noun or known.openers.issuperset(self.words[tail])

    @cached_property
    def line_starts(self) -> dict[int, int]:
        """The tokens that begin a line but the first, with the number of breaks before them."""
        gaps = enumerate(itertools.pairwise(self.tokens), 1)
        counts = ((n, self.text.count("\n", a.end, b.start)) for n, (a, b) in gaps)
        return {n: count for n, count in counts if count}

    def in_line(self, places: list[int], at: int, last: int) -> list[int]:
        """The places in the line of a token, or the beginning of the next line, whose break is as
        good as a colon; where there is none before `last`, all of them."""
        end = next((n for n in self.line_starts if at < n < last), last)
        return [n for n in places if n < end] or [end] * (end < last)

    def is_block(self, first: int, last: int) -> bool:
        """Whether these tokens are lines of their own: several, or behind an empty one."""
        breaks = self.line_starts.get(first, 0)
        return breaks > 1 or (breaks == 1 and "\n" in self.lines(first, last))

    def bounds(self, tag: str, *, ask: bool, first: int = 0) -> Bounds:
        """The tokens without phrases that introduce or follow a command."""
        key = (tag, ask, first)
        if key not in self._bounds:
            self._bounds[key] = trim(self.words, lexicon(tag), ask=ask, first=first)
        return self._bounds[key]

    def small_talk(self, tag: str) -> str:
        """The sentence that answers a message which only greets or asks for help, thanks, agrees or
        takes leave; empty for any other."""
        known = lexicon(tag)
        if self._is_small_talk(tag, known.greetings, known.hello):
            return "hello"
        if self._is_small_talk(tag, known.farewells, known.thanks):
            return "welcome"
        return ""

    def is_yes(self, tag: str) -> bool:
        """Whether the message is nothing but a yes."""
        words = language.of(tag).words
        return self.has_yes(tag) and {*self.stems(tag)} <= words.yes | words.yes_filler

    def _is_small_talk(
        self, tag: str, phrases: Mapping[str, list[list[str]]], markers: frozenset[str]
    ) -> bool:
        """Whether it ends in one of these phrases, or has such a word, and the rest is polite."""
        stems, polite = self.stems(tag), lexicon(tag).polite
        for last in (len(stems), self.bounds(tag, ask=False).last):
            for first, word in enumerate(self.words[:last]):
                if self.words[first:last] in phrases.get(word, ()):
                    return polite.issuperset(stems[:first])
        return not markers.isdisjoint(stems) and polite.issuperset(stems)

    def is_denial(self, tag: str) -> bool:
        """Whether the message begins with a no and is not a question."""
        return not self.is_question and not lexicon(tag).correction.isdisjoint(self.stems(tag)[:1])

    def has_yes(self, tag: str) -> bool:
        """Whether the message begins with a yes."""
        return not language.of(tag).words.yes.isdisjoint(self.stems(tag)[:1])

    def is_about_own_data(self, tag: str) -> bool:
        """Whether it names one of the items of the page's account menu."""
        # the button's own label names the things: data, language, sign-out
        told = language.of(tag).say("my_data").split(",")
        things = (word_keys(part, tag) for part in told)
        return any(thing <= {*self.stems(tag)} for thing in things)

    def keywords(self, tag: str, *, fields: bool = False) -> list[str]:
        """The content words; without `fields` no field names, so "plumber" of "the plumber's
        number"."""
        first, last, _ = self.bounds(tag, ask=True)
        known = lexicon(tag)
        ignored = known.polite | known.fillers | known.ordinals.keys()
        words = [root_part(t.text) for t in self.tokens[first:last] if t.kind == "word"]
        content = [w for w in words if len(w) > 1 and word_key(w, tag) not in ignored]
        return [w for w in content if fields or language.stem(w, tag) not in known.fields]

    @cached_property
    def colon(self) -> int:
        """The position of the first colon, or 0."""
        return next((n for n, token in enumerate(self.tokens) if token.kind == "colon"), 0)

    @cached_property
    def is_question(self) -> bool:
        """Whether it has a question mark outside quotations, before any colon and before the lines
        behind an address."""
        ends = [*(t.start for t in self.tokens[1:]), len(self.text)]
        for token, end in zip(self.tokens, ends, strict=False):
            behind = self.text[token.end : end]
            # "note: shall we go?" asks nothing
            if token.kind == "colon" or (token.kind == "email" and "\n" in behind):
                return False
            if "?" in behind:
                return True
        return False

    def has_negation(self, tag: str, first: int = 0, last: int | None = None) -> bool:
        """Whether one of these words is a negation or prohibition."""
        return not lexicon(tag).denial.isdisjoint(self.stems(tag)[first:last])

    def has_modal_lead(self, tag: str) -> bool:
        """Whether a "can you" introduces the command, so that the question mark is not content."""
        first = self.bounds(tag, ask=False).first
        return not lexicon(tag).ability.isdisjoint(self.stems(tag)[:first])

    def slice(self, first: int, last: int) -> str:
        """The text of these tokens with their punctuation, on one line; a single quotation without
        quotes."""
        return squeeze(self.lines(first, last))

    def lines(self, first: int, last: int) -> str:
        """The same with its line breaks."""
        if last - first == 1 and self.tokens[first].kind == "quote":
            return self.tokens[first].text
        # from the token before, so that brackets and quotes belong to the text
        start = self.tokens[first - 1].end if first else 0
        end = self.tokens[last].start if last < len(self.tokens) else len(self.text)
        return self.text[start:end].strip(_EDGE_MARKS)


def root_part(word: str) -> str:
    """The longest part of a word between apostrophes: "Sarah" of "Sarah's", "Anna" of "d'Anna"."""
    return max(word.replace("\u2019", "'").split("'"), key=len)


def is_misspelt(word: str, form: str) -> bool:
    """Whether a word of five letters or more has one letter more, less or other than another, or
    two in the other order."""
    at = len(commonprefix([word, form]))  # noqa: RUF071
    said, meant = word[at:], form[at:]
    swapped = meant[1::-1] + meant[2:]
    pairs = ((said[1:], meant[1:]), (said[1:], meant), (said, meant[1:]), (said, swapped))
    return min(len(word), len(form)) > 4 and any(a == b for a, b in pairs)


def without_stop(text: str) -> str:
    """A text without the full stop that ends a sentence."""
    # "etc..." keeps its dots
    return text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text


def trim(words: Sequence[str], phrases: Lexicon, *, ask: bool, first: int = 0) -> Bounds:
    """Folded words without phrases that introduce or follow a command or, with `ask`, a
    question."""
    last, is_question = len(words), False
    for _ in range(_PHRASES):
        rest = words[first:last]
        if size := _leading(rest, phrases.begin):
            first += size
        elif ask and (size := _leading(rest, phrases.ask)):
            first, is_question = first + size, True
        elif size := _leading(rest[::-1], phrases.end):
            last -= size
        else:
            break
    return Bounds(first, last, is_question)


def _leading(words: Sequence[str], phrases: Mapping[str, list[list[str]]]) -> int:
    """The length of a leading phrase; 0 for none or if nothing would remain."""
    listed = phrases.get(words[0], ()) if words else ()
    sizes = (len(p) for p in listed if words[: len(p)] == p)
    return next((size for size in sizes if size < len(words)), 0)


def tokenize(text: str) -> Iterator[Token]:
    """The tokens of a text, in order."""
    at = 0
    for found in _special().finditer(text):
        yield from _words(text, at, found.start())
        kind = str(found.lastgroup)
        inner = found[0][1:-1].strip() if kind == "quote" else found[0]
        if inner:
            yield Token(inner, found.start(), found.end(), kind)
        at = found.end()
    yield from _words(text, at, len(text))


def _words(text: str, start: int, end: int) -> Iterator[Token]:
    for word in language.tokens(text[start:end]):
        yield Token(word.text, start + word.start, start + word.end)
