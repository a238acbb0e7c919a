"""Proposals: the card of a turn, as the person reads it who decides. Pure.

Every destination whole, each record by what its app calls it and what tells it from its like, the
text that leaves, in lines that nothing an app or a stranger wrote can add to: what is quoted holds
no quotation mark of ours, names of apps hold nothing but a name, and an app that is called like
another is told by its id.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, NamedTuple

from .. import language
from ..catalogue import AppInfo, Catalogue, FunctionInfo
from ..text import as_code, dumps, one_line, reveal
from ..types import CallOutcome, JSONObject, Step
from .addresses import spelled
from .arguments import Leaf, scalars, shown
from .consent import accepted_by, destinations
from .field_names import ends_in_a_secret, names_an_id, words_of
from .sinks import effect_of
from .titles import LONGEST_NAME, Naming, Titles
from .user_words import words_in

WHOLE = 1_000
"""Characters of a text that is shown whole."""
BEGINNING, END = 400, 200
"""Characters that are shown of a longer one, beside every address, figure and code in it."""
HIDDEN = "•••"
"""What stands on a card for a password."""

_JOINED = re.compile("['\u2019-]")
"""What joins the parts of a word."""
_SHORT, _LONG_WORD = 4, 25
"""Letters of capitals that are no code; of a word that is one."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NO_NAME = re.compile(r"[^\w .&'+-]+")
_QUOTES = str.maketrans({"“": "'", "”": "'", "„": "'", "«": "'", "»": "'", '"': "'", "→": "-"})
TITLES = ("title", "subject", "name", "text")
"""Names of texts that say what an effect is about, where no record does."""
LONGEST_TITLE = 80
_BARE_IDS = ("id", "ids", "uid", "uuid")
"""Names that say nothing beside the title of what they are the id of."""
MOVE, RESTORE, REPLY = "move", "restore", "reply"
VERBS = ("delete", "send", "create", "update", MOVE, RESTORE, REPLY)
"""What a button may say in the user's language; another one says what its function is called."""
ANSWERING = (REPLY, "respond")
"""First words of functions that answer a record: to whom that goes is theirs to know."""


class Card(NamedTuple):
    """What is proposed: `summary` a line for each effect, `question` what is asked above the
    fields, `ask` the one sentence that a text ends in, `verb` what the button says, `language` the
    tag of all of it, `calls` the effects with their fields. `keys` are its destinations as a yes
    accepts them, `hidden` where passwords stand, by place of the call."""

    summary: str
    question: str
    ask: str
    verb: str
    language: str
    calls: tuple[JSONObject, ...]
    keys: tuple[str, ...]
    hidden: tuple[str, ...]

    def asks(self) -> JSONObject:
        """What is kept of it with the record."""
        return {
            "question": self.question,
            "ask": self.ask,
            "verb": self.verb,
            "language": self.language,
            "calls": list(self.calls),
        }


def card(
    steps: Sequence[Step], catalogue: Catalogue, titles: Titles, tag: str, *, restores: bool = False
) -> Card:
    """The card of these calls; `titles` is what ids stand for, `restores` says that the one call
    brings back what was destroyed."""
    speaks, concept = language.of(tag), RESTORE if restores else _concept(steps[0].fn_name, tag)
    known = [(s, catalogue.function(s.app_id, s.fn_name) or _unknown(s)) for s in steps]
    calls = [_call(step, function, catalogue, titles, tag) for step, function in known]
    lines = [_line(call, tag) for call in calls]
    several = len(lines) > 1
    if several:
        lines = [f"{n}. {line}" for n, line in enumerate(lines, 1)]
    return Card(
        summary="\n".join(lines),
        question=_question(calls, concept, tag),
        ask=speaks.say("card_ask_all" if several else "card_ask"),
        verb=_verb([function for _, function in known], concept, tag),
        language=tag,
        calls=tuple(calls),
        keys=tuple(
            dict.fromkeys(k for s, function in known for k in accepted_by(function, s.arguments))
        ),
        hidden=tuple(_hidden(known)),
    )


def _question(calls: Sequence[JSONObject], concept: str, tag: str) -> str:
    """What is asked above the fields: what the one effect does, or the first of several alike that
    stay here, and how many more; else how many there are."""
    kinds = {(call["app"], call["title"], call["effect"]) for call in calls}
    is_known = any(_titles(calls[0], tag)) and calls[0]["effect"] in ("write", "destructive")
    if len(calls) > 1 and (len(kinds) > 1 or not is_known):
        return language.of(tag).say("card_several", n=len(calls))
    return _asked(calls[0], concept, tag, len(calls) - 1)


def _hidden(known: Sequence[tuple[Step, FunctionInfo]]) -> Iterator[str]:
    """The places of the secrets among the arguments of some calls."""
    for place, (step, function) in enumerate(known):
        to = {sink.path for sink, _ in destinations(function, step.arguments)}
        for leaf in shown(function, step.arguments):
            if _is_hidden(leaf) and leaf.path not in to:
                yield f"{place}.{leaf.path}"


def _is_hidden(leaf: Leaf) -> bool:
    """Whether a card shows dots for it: a secret, but for a sentence that only a name calls
    one."""
    is_text = len(str(leaf.value).split()) > 2
    return leaf.is_declared_secret or (ends_in_a_secret(leaf.name) and not is_text)


def described(step: Step, catalogue: Catalogue, titles: Titles, tag: str = "en") -> str:
    """One call on one line, as a card tells it."""
    function = catalogue.function(step.app_id, step.fn_name) or _unknown(step)
    return _line(_call(step, function, catalogue, titles, tag), tag)


def undo_of(outcome: CallOutcome, catalogue: Catalogue) -> JSONObject:
    """The call that takes an effect back: the one that the call's result told, else the one that
    deletes the one record which it created and told the id of. Empty where there is none."""
    app = catalogue.apps.get(outcome.app_id)
    if app is None:
        return {}
    if outcome.undo:
        known = catalogue.function(outcome.app_id, outcome.undo["function"])
        return {"app_id": outcome.app_id, **outcome.undo} if known else {}
    [ident] = outcome.created if len(outcome.created) == 1 else [""]
    found = list(_deleting(app, outcome.fn_name)) if ident else []
    if len(found) != 1 or dumps(ident) not in dumps(outcome.data):  # two ways back are none
        return {}
    (name, parameter) = found[0]
    return {"app_id": outcome.app_id, "function": name, "params": {parameter: ident}}


def _deleting(app: AppInfo, creates: str) -> Iterator[tuple[str, str]]:
    """The functions of an app that destroy, take an id and need nothing else, and are named like
    the one that `creates`, but for the verb; each with its parameter for the id."""
    made = set(words_of(creates))
    for one in app.functions:
        if one.action_type == "destructive" and len(ids := _ids_of(one)) == 1:
            own = set(words_of(one.fn_name))
            if {len(made - own), len(own - made)} == {1}:  # add_task, delete_task
                yield one.fn_name, ids[0]


def _ids_of(function: FunctionInfo) -> list[str]:
    """The parameters for one id; none where something else is required."""
    schema = function.input_schema
    properties = schema.get("properties", {})
    ids = [n for n, p in properties.items() if names_an_id(n) and p.get("type") != "array"]
    return ids if set(schema.get("required", ())) <= set(ids) else []


_DRAWN = str.maketrans(
    "\u0430\u0432\u0433\u0435\u0437\u0438\u043a\u043c\u043d\u043e\u043f\u0440\u0441\u0442\u0443"
    "\u0445\u044c\u0431\u0455\u0456\u0458\u04bb\u0501\u051b\u051d\u0131\u0142\u00f8\u0111"
    "\u03b1\u03b2\u03b3\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c3\u03c2\u03c4\u03c5\u03c7"
    "\u03c91l0",
    "abreeukmhonpctyxbbsijhdqwiiodabyenikvopoctuxwiio",
)
"""Letters that are drawn alike, those of other scripts and `1`, `l` and `0`."""
_READ = re.compile(
    "[a-z0-9\u00df-\u00ff\u0142\u0111\u0131\u0153\u0430-\u044f\u0451-\u045f\u03ac-\u03ce"
    "\u05d0-\u05ea\u0620-\u064a\u0904-\u0939\u0e01-\u0e30\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]*"
)
"""Names in letters whose look is known."""


def app_name(app_id: str, catalogue: Catalogue, tag: str) -> str:
    """What a person calls the app in a language; with its id behind it where another app looks the
    same, or may: letters of other scripts can be drawn like any."""
    app = catalogue.apps.get(app_id)
    name = _plain_name(catalogue.names(tag)[app_id] if app else "") or app_id
    others = {
        _look(text)
        for other in catalogue.apps.values()
        if other.app_id != app_id
        for text in (other.app_id, other.display_name, *other.titles.values())
    }
    is_told_apart = _READ.fullmatch(_letters(name)) and _look(name) not in others
    return name if name == app_id or is_told_apart else f"{name} ({app_id})"


def _plain_name(text: str) -> str:
    bare = _NO_NAME.sub(" ", one_line(unicodedata.normalize("NFKC", text)))
    return " ".join(bare.split())[:LONGEST_NAME].strip()


def _letters(text: str, form: Literal["NFKC", "NFKD"] = "NFKC") -> str:
    return "".join(c for c in unicodedata.normalize(form, text).casefold() if c.isalnum())


def _look(text: str) -> str:
    return _letters(text, "NFKD").translate(_DRAWN)


def _unknown(step: Step) -> FunctionInfo:
    return FunctionInfo(step.app_id, step.fn_name, "", step.action_type)


def _call(
    step: Step, function: FunctionInfo, catalogue: Catalogue, titles: Titles, tag: str
) -> JSONObject:
    """One effect: what is called, whether it destroys or leaves, and its fields."""
    found = [sink for sink, _ in destinations(function, step.arguments)]
    to = {sink.path for sink in found if sink.kind != "flag"}
    told = {sink.path for sink in found}
    app = catalogue.apps.get(step.app_id)
    effect = effect_of(function, step.arguments)
    texts = {leaf.path for leaf in scalars(step.arguments)} if effect != "destructive" else set()
    unsaid = effect == "outward" and not to - {""}
    leaves = [*shown(function, step.arguments)]
    named = Naming(function, titles, unsaid, frozenset(leaf.value for leaf in leaves))
    return {
        "app": app_name(step.app_id, catalogue, tag),
        "icon": app.icon if app else "",
        "title": _card_title(function, effect, tag),
        "effect": effect,
        "remember": effect in ("outward", "opens") and bool(to),
        "fields": [
            _field(leaf, leaf.path in to, title, texts, tag)
            for leaf in leaves
            if not leaf.filled or leaf.path in told or leaf.tells_by_default
            for title in [named.title(leaf, leaf.path in to)]
        ],
    }


def _card_title(function: FunctionInfo, effect: str, tag: str) -> str:
    """The title of a call; of one that destroys with the kernel's word for that before it, where an
    author's own does not say it."""
    title, verb = _title(function, tag), language.of(tag).say("card_verb_delete")
    own = not language.text_in(function.titles, tag)
    says = {language.stem(w, tag) for w in words_in(title)} >= {
        language.stem(w, tag) for w in words_in(verb)
    }
    return title if own or says or effect != "destructive" else f"{verb}: {title}"


def _title(function: FunctionInfo, tag: str) -> str:
    """What a function does, as its author says it in the user's language; else its name in words;
    of a common verb alone, the user's own in a language that function names are not made of: its
    file knows no verbs of theirs."""
    if title := _plain_name(language.text_in(function.titles, tag)):
        return title
    fn_name, speaks = function.fn_name, language.of(tag)
    words, concept = words_of(fn_name), _concept(fn_name, tag)
    if len(words) == 1 and concept in VERBS and not speaks.words.effects:
        return speaks.say(f"card_verb_{concept}").lower()
    return _plain_name(" ".join(words)) or _plain_name(fn_name)


def _field(
    leaf: Leaf, is_destination: bool, title: str, texts: Collection[str], tag: str
) -> JSONObject:
    """One argument: its name, its value, and what it is for the person who reads it; `texts` are
    the places of those that may be edited."""
    name, value = _name(leaf, tag), leaf.value
    if _is_hidden(leaf) and not is_destination:
        return {"name": name, "value": HIDDEN, "kind": "secret"}
    if isinstance(value, bool):
        said = language.of(tag).say("said_yes" if value else "said_no")
        return {"name": name, "value": said, "kind": "value"}
    text = reveal(str(value))
    if said := _plain_name(language.text_in(leaf.choices.get(text, {}), tag)):
        return {"name": name, "value": said, "kind": "value"}
    if is_destination:
        known = {"title": title} if title else {}
        return {"name": name, "value": spelled(text), "kind": "destination", **known}
    if title:
        return {"name": name, "value": text, "kind": "record", "title": title}
    if names_an_id(leaf.name):
        return {"name": name, "value": text, "kind": "record"}
    if isinstance(value, str) and not leaf.offered:
        place = {"path": leaf.path} if leaf.path in texts and not leaf.is_key else {}
        return {"name": name, "value": text, "kind": "text", **place}
    return {"name": name, "value": value if not isinstance(value, str) else text, "kind": "value"}


def _name(leaf: Leaf, tag: str) -> str:
    """What its author calls the argument in the user's language, else its own name in the user's
    words, without the "id" behind it."""
    if title := _plain_name(language.text_in(leaf.titles, tag)):
        return title
    words = words_of(leaf.name)
    if len(words) > 1 and words[-1] in _BARE_IDS:
        words = words[:-1]
    return language.of(tag).field_name(" ".join(words) or _plain_name(leaf.name))


def _line(call: JSONObject, tag: str) -> str:
    """`Mail – send email → ann@example.org: subject “Hello”`."""
    fields = call["fields"]
    to = dict.fromkeys(
        _quoted(f["title"], tag) if f.get("title") else as_code(one_line(str(f["value"])))
        for f in fields
        if f["kind"] == "destination"
    )
    goes = f" → {', '.join(to)}" if to else ""
    rest = ", ".join(_told(f, tag) for f in fields if f["kind"] != "destination")
    return f"{call['app']} – {call['title']}{goes}" + (f": {rest}" if rest else "")


def _told(field: JSONObject, tag: str) -> str:
    name, value = field["name"], str(field["value"])
    if field.get("title"):
        said = "" if name in _BARE_IDS else f"{name} "
        return said + _quoted(str(field["title"]), tag)
    if _DATE.fullmatch(value):  # as a day of the reader's own calendar
        return f"{name}: {_day(value, tag)}"
    if field["kind"] == "text":
        return f"{name} {shown_text(value, tag)}"
    colon = "" if field["kind"] == "record" else ":"
    return f"{name}{colon} {as_code(one_line(value))}"


def _day(value: str, tag: str) -> str:
    """A date as its reader writes it; what only looks like one stays."""
    with suppress(ValueError):
        return language.of(tag).date(value)
    return value


def shown_text(text: str, tag: str = "en") -> str:
    """A text that leaves: whole, or of a longer one its beginning, its end, and every address,
    figure and code in it."""
    flat = one_line(text)
    if len(flat) <= WHOLE:  # read whole by who decides
        return _quoted(flat, tag)
    held = ", ".join(one_line(t) for t in telling(flat[BEGINNING:-END])).translate(_QUOTES)
    beginning, end = (_quoted(t, tag) for t in (f"{flat[:BEGINNING]} …", f"… {flat[-END:]}"))
    return f"({len(flat)}) {beginning} {end}" + (f" [{as_code(held)}]" if held else "")


def telling(text: str) -> Iterable[str]:
    """Every address, figure and code of a text, each once: whatever is no plain word."""
    bare = (token.strip(".,;:!?()[]\"'“”„«»") for token in text.split())
    return dict.fromkeys(token for token in bare if any(map(str.isalnum, token)) and _tells(token))


def _tells(token: str) -> bool:
    parts = _JOINED.split(token)
    is_word = (
        len(parts) < 3 and len(token) < _LONG_WORD and all(map(str.isalpha, filter(None, parts)))
    )
    return not (is_word and all(p[1:] == p[1:].lower() or len(p) < _SHORT for p in parts))


def _quoted(text: str, tag: str) -> str:
    told = as_code(one_line(text).translate(_QUOTES))  # no quotation mark but ours
    return language.of(tag).say("quoted", what=told)


def _asked(call: JSONObject, concept: str, tag: str, alike: int = 0) -> str:
    """An effect, with so many alike, as a short question: `Delete “Lisbon launch” (+2) (Notes)?`"""
    title = next((text for text in _titles(call, tag) if 0 < len(text) <= LONGEST_TITLE), "")
    told = one_line(title).translate(_QUOTES)
    what = language.of(tag).say("quoted", what=told) if title else ""
    if what and (others := _others(call) + alike):
        what += f" (+{others})"
    if concept in VERBS and what:
        return language.of(tag).say(f"ask_{concept}", what=f"{what} ({call['app']})")
    title = str(call["title"])
    return f"{title[:1].upper()}{title[1:]} {what} ({call['app']})?".replace("  ", " ")


def _others(call: JSONObject) -> int:
    """How many more records stand in the list that the question names one of."""
    records = [f for f in call["fields"] if f["kind"] == "record"]
    named = next((f["name"] for f in records if f.get("title")), "")
    return max(0, len([f for f in records if f["name"] == named]) - 1)


def _titles(call: JSONObject, tag: str) -> list[str]:
    """What a call names its record by: a title that is known, then texts that are one."""
    own = {language.of(tag).field_name(name) for name in TITLES}
    named = [f["title"] for f in call["fields"] if f["kind"] == "record" and f.get("title")]
    texts = (f for f in call["fields"] if f["kind"] == "text")
    named += [f["value"] for f in texts if f["name"] in own or f.get("path") in TITLES]
    return list(map(str, named))


def _concept(fn_name: str, tag: str) -> str:
    """What a function's first word does, where that is common: what its button says goes by it,
    and nothing else. A move goes by its name, which says where to, in the language of names."""
    known = language.of("en").words.effects
    first = words_of(fn_name)[:1]
    found = known.get(language.stem(first[0], "en"), "") if first else ""
    found = REPLY if {*first} & {*ANSWERING} else found
    return "" if found == MOVE and language.of(tag).words.effects else found


def _verb(functions: Sequence[FunctionInfo], concept: str, tag: str) -> str:
    """What the button says: the verb of the one function, in the user's language where it is a
    common one, and how often it is called."""
    if len({f.fn_name for f in functions}) > 1:
        return language.of(tag).say("card_verb_all")
    # an author's title may say anything: the button says what the function is called
    title = _title(replace(functions[0], titles={}), tag)
    verb = f"{title[:1].upper()}{title[1:]}"
    if concept in VERBS:
        verb = language.of(tag).say(f"card_verb_{concept}")
    return f"{verb} ({len(functions)})" if len(functions) > 1 else verb


def editable(call: JSONObject) -> Iterator[str]:
    """The places of the texts of a call that may be edited before it runs."""
    yield from (str(f["path"]) for f in call.get("fields", ()) if f.get("path"))
