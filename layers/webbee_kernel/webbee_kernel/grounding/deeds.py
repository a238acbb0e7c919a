"""What a call does, what a message asks for, and when two words say the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from .. import language
from .evidence import Call, Evidence
from .places import fold, key_words
from .reading import Reading, among
from .told import Told

_APART = "an|auf|ab|aus|bei|durch|ein|fest|frei|hin|her|hinzu|los|mit|nach|um|vor|weg|zu|zuruck"
_GE = re.compile(f"^(?:(?:({_APART})(?:ge|zu))|ge)(?=\\w{{4}})")
_CUT = re.compile("['\u2019].*")  # "where's"
_VOWELS = re.compile("[aeiouy]+")
ALIKE = {
    "send": {"pay", "move", "save", "create", "update"},
    "create": {"schedule", "save", "update", "pay", "send"},
    "update": {"move", "close", "save", "schedule", "create", "pay"},
    "schedule": {"create", "move", "update", "pay", "save"},
    "close": {"delete", "update", "move", "pay"},
    "delete": {"close", "update", "move"},
    "move": {"update", "schedule", "send", "save", "pay"},
    "save": {"create", "send", "update", "move"},
    "pay": {"send", "schedule", "create", "close", "move", "update"},
}
"""What people also call an effect: a transfer is "sent", "paid" or "moved"."""


BONES = 5  # consonants that two words of one root have, whatever stands between them
QUOTED, LEAST_QUOTED = 300, 4
"""Characters of a clause that may be quoted from a result; words that are in none by chance."""
AROUND = 24  # characters on either side of a word that, found in a result, are quoted from it


@lru_cache(maxsize=2048)
def _concepts(fn_name: str, text: str, *, has_effect: bool) -> frozenset[str]:
    effects, stem = language.of("en").words.effects, language.of("en").stem
    words = key_words(fn_name) if has_effect else key_words(fn_name)[:1]
    named = frozenset(effects[word] for word in words if word in effects)
    if named or (fn_name and not has_effect):
        return named
    stems = [stem(token.text) for token in language.tokens(text)]
    return frozenset(effects[s] for s in stems if s in effects)


def concepts(call: Call) -> frozenset[str]:
    """What a call does, from its name, summary, description and result; empty when none tells."""
    said = call.data if isinstance(call.data, str) else ""
    text = f"{call.description} {call.summary} {said}"[:400]
    return _concepts(call.fn_name, text, has_effect=call.has_effect)


def only_read(evidence: Evidence) -> bool:
    """Whether calls were made and none of them could have an effect."""
    made = [c for c in evidence.calls if c.fn_name]
    return bool(made) and not any(c.has_effect for c in made)


def alike(concept: str, own: frozenset[str]) -> bool:
    return not own or concept in own or any(concept in ALIKE.get(o, ()) for o in own)


def asked(reading: Reading, evidence: Evidence, claim: Told) -> bool:
    """Whether the user's message asks for an effect, in a form that does not yet tell it."""
    if claim.asked:
        return True
    words, stem = reading.language.words, reading.language.stem
    said = [t.text for t in language.tokens(evidence.message)]
    word, asks = fold(claim.word), inquires(reading, evidence.message, said)
    others = [
        text  # what the message begins with may be a command: "set it"
        for at, text in enumerate(said)
        if not (at and fold(text) == word) and not (asks and reading.language.tells(text))
    ]
    return any(
        words.effects.get(stem(text)) == claim.concept or kin(fold(text), word) for text in others
    )


def inquires(reading: Reading, message: str, said: Sequence[str]) -> bool:
    """Whether a message asks: what has a verb in the past then wishes for nothing ("what is
    planned?", "has it been sent?")."""
    words, stems = reading.language.words, [reading.language.stem(text) for text in said]
    begs = among(stems, words.ability, words.wish)  # "can you move it?"
    ends = message.rstrip().endswith("?")
    marked = {_CUT.sub("", text.casefold()) for text in said}
    # folded, a Spanish "that" would ask "what"
    return not marked.isdisjoint(words.forms("question")) or (ends and not begs)


def commands(reading: Reading, evidence: Evidence) -> list[str]:
    """The verbs of known effects that the user's message commands."""
    spoken = [t.text for t in language.tokens(evidence.message)]
    return commanded(reading, spoken, asks=inquires(reading, evidence.message, spoken))


def wishes(reading: Reading, evidence: Evidence) -> bool:
    """Whether the user's message asks for an effect, or for what is neither an effect that the
    language knows nor a look at something; "my emails" are no wish."""
    words, stem = reading.language.words, reading.language.stem
    spoken = [t.text for t in language.tokens(evidence.message)]
    said = [stem(text) for text in spoken]
    verbs = commands(reading, evidence)
    nouns = words.forms("determiner")  # "from your list" asks for none
    shown = any(
        words.commands.get(s) in ("show", "find", "read") and fold(before) not in nouns
        for before, s in zip(["", *spoken], said, strict=False)
    )
    asks = inquires(reading, evidence.message, spoken)
    looks = shown or asks or among(said, words.looking, words.thanks)
    return bool(verbs) or bool(spoken and not looks)


def commanded(reading: Reading, spoken: Sequence[str], *, asks: bool) -> list[str]:
    """The verbs of known effects in a message, less those that are nouns there ("my emails",
    "orders") and, where it asks, those that tell what was done."""
    words, forms = reading.language.words, reading.language.words.forms("effects")
    said = [reading.language.stem(text) for text in spoken]
    return [
        s
        for before, s, text in zip(["", *said], said, spoken, strict=False)
        if s in words.effects
        and not (asks and reading.language.tells(text))
        and (s not in words.named_alike or (fold(text) in forms and before in ("", *words.leads)))
    ]


def dictated(evidence: Evidence, claim: Told) -> bool:
    """Whether the user's message has the word of a claim, in a form of it."""
    said = words_of(evidence.message)
    return any(kin(word, fold(claim.word)) for word in said)


def dictated_as_is(evidence: Evidence, claim: Told) -> bool:
    """Whether the user's message has the word of a claim in the same form, as an infinitive."""
    return fold(claim.word) in words_of(evidence.message)


def read_out(reading: Reading, evidence: Evidence, claim: Told) -> bool:
    """Whether the clause stands word for word in a result: a mail that says "attached is the
    draft" is read out, not claimed."""
    start, end = claim.clause
    clause = reading.text[start:end].strip() if end - start <= QUOTED else ""
    around = reading.text[max(0, claim.start - AROUND) : claim.start + AROUND].strip()
    quoted = [clause] if len(clause.split()) >= LEAST_QUOTED else []
    quoted += [around] if len(around) > AROUND else []
    places = (p for text in quoted for p in evidence.index.find(text))
    return any(p.path.startswith(("data", "summary", "error")) for p in places)


def meant_by(english: Sequence[str]) -> set[str]:
    """What the words of an error tell of effects, in whatever language a reply says it."""
    known, stem = language.of("en").words.effects, language.of("en").stem
    return {known[one] for word in english if (one := stem(word)) in known}


def words_of(text: str) -> list[str]:
    return [fold(t.text) for t in language.tokens(text[:400])]


@lru_cache(maxsize=4096)
def kin(one: str, other: str) -> bool:
    """Whether two words may be forms of one: they begin alike, or have the same consonants
    ("streichen", "gestrichen"); what German puts before a participle and an infinitive aside."""
    alike = min(len(one), len(other))
    if alike < 3:
        return False
    bare = _GE.sub(r"\1", one), _GE.sub(r"\1", other)
    bones, others = (_VOWELS.sub("", word) for word in bare)
    if bones == others and len(bones) >= BONES:
        return True
    same = next((i for i, (a, b) in enumerate(zip(*bare, strict=False)) if a != b), alike)
    return same >= 4 and same >= 0.6 * alike


def mended(call: Call, later: Sequence[Call]) -> bool:
    """Whether a later call of the same function succeeded."""
    named = (call.app_id, call.fn_name)
    return any(one.ok and (one.app_id, one.fn_name) == named for one in later)


def quoted(reading: Reading, call: Call) -> bool:
    """Whether a sentence of the reply begins with the call's error in its own words."""
    error = call.error.rstrip(".").casefold() or "\0"
    return any(reading.text[s.start :].casefold().startswith(error) for s in reading.sentences)


def sentence_for(call: Call, tag: str) -> str:
    """What the kernel says of a call that did not succeed."""
    spoken = language.of(tag)
    if call.status in ("running", "unknown", "waits"):
        return spoken.say(f"call_{call.status}", app=call.app)
    why = _reason(call)
    if call.status == "not_run":
        return spoken.say("call_not_run", app=call.app, reason=why)
    return spoken.say("call_failed", app=call.app, error=why)


def _reason(call: Call) -> str:
    """The error, less its full stop. Where it begins with the function's name, which means nothing
    to a person, the app's stands instead."""
    named, _, rest = call.error.partition(" ")
    why = f"{call.app} {rest}" if rest and named == call.fn_name else call.error
    return why.rstrip(".") or "-"
