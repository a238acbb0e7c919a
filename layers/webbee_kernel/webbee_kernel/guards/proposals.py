"""Proposals: the card of a turn, on which the user decides. Pure.

It shows every destination in full, each record by its title, and the text that is sent. Text of
apps or strangers cannot forge lines: quotes contain no quotation marks, app names only name
characters, and an app that looks like another is shown with its id.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from .. import language
from ..catalogue import AppInfo, Catalogue, FunctionInfo
from ..text import as_code, dumps, one_line, reveal
from ..types import CallOutcome, JSONObject, Step
from .addresses import decoded, with_code_points
from .arguments import CHOICES, TITLES, Leaf, scalars
from .consent import consent_keys
from .field_names import OUTWARD_VERBS, is_id_name, is_secret_value, root_of, words_of
from .result_records import MAX_NAME, Titles
from .sinks import GuardedCall
from .user_words import words_in

MAX_WHOLE = 1_000
"""Texts up to this length are shown in full."""
HEAD, TAIL = 400, 200
"""Characters shown of a longer text, besides every address, number and code in it."""
HIDDEN = "•••"
"""Placeholder for secrets."""

_JOINED: Final = "['\u2019-]"
"""Characters inside words."""
_SHORT, _LONG_WORD = 4, 25
"""Capitals up to 3 letters are not a code; words of 25 letters are."""
_DATE: Final = r"\d{4}-\d\d-\d\d"
_NO_NAME: Final = r"[^\w .&'+-]+"
_QUOTES = str.maketrans({"“": "'", "”": "'", "„": "'", "«": "'", "»": "'", '"': "'", "→": "-"})
TITLE_NAMES = ("title", "subject", "name", "text")
"""Names of text arguments that serve as title if there is no record."""
MAX_TITLE = 80
_BARE_IDS = ("id", "ids", "uid", "uuid")
"""Names that are redundant next to the record's title."""
MOVE, RESTORE, REPLY, SEND = "move", "restore", "reply", "send"
VERBS = ("delete", SEND, "create", "update", MOVE, RESTORE, REPLY)
"""Verbs with a translated button label; other buttons use the function's name."""
ANSWERING = (REPLY, "respond")
"""First words of functions that reply to a record; the app knows the recipient."""


class Card(NamedTuple):
    """A proposal: `summary` has a line per effect, `keys` are the consent keys that a yes accepts,
    `hidden` the paths of secrets by call index. Of `asks`, which is stored with the record,
    `question` is the heading, `ask` the closing sentence in text clients, `verb` the button label,
    `calls` the effects with their fields."""

    summary: str
    asks: JSONObject
    keys: tuple[str, ...]
    hidden: tuple[str, ...]


def card(
    steps: Sequence[Step], catalogue: Catalogue, titles: Titles, tag: str, *, restores: bool = False
) -> Card:
    """The card of these calls; `restores`: the call undoes a deletion."""
    speaker, concept = language.of(tag), RESTORE if restores else _concept(steps[0].fn_name, tag)
    drawn = [_DrawnCall(step, catalogue, titles, tag) for step in steps]
    calls = [one.to_dict(catalogue) for one in drawn]
    lines = [_line(call, tag) for call in calls]
    is_several = len(lines) > 1
    if is_several:
        lines = [f"{n}. {line}" for n, line in enumerate(lines, 1)]
    return Card(
        summary="\n".join(lines),
        asks={
            "question": _question(calls, concept, tag),
            "ask": speaker.say("card_ask_all" if is_several else "card_ask"),
            "verb": _verb([one.call for one in drawn], concept, tag),
            "language": tag,
            "calls": calls,
        },
        keys=tuple(dict.fromkeys(key for one in drawn for key in consent_keys(one.call))),
        hidden=tuple(f"{n}.{path}" for n, one in enumerate(drawn) for path in one.secret_paths()),
    )


def _question(calls: Sequence[JSONObject], concept: str, tag: str) -> str:
    """The heading: the effect, the first of several alike with a count, or their number."""
    kinds = {(call["app"], call["title"], call["effect"]) for call in calls}
    is_known = any(_titles(calls[0], tag)) and calls[0]["effect"] in ("write", "destructive")
    if len(calls) > 1 and (len(kinds) > 1 or not is_known):
        return language.of(tag).say("card_several", n=len(calls))
    return _effect_question(calls[0], concept, tag, len(calls) - 1)


def _is_hidden(leaf: Leaf) -> bool:
    """Whether a card hides it: a secret, except a sentence that is one only by its name."""
    is_said = isinstance(leaf.value, bool) or len(str(leaf.value).split()) > 2
    return leaf.is_declared_secret or (is_secret_value(leaf.name) and not is_said)


def describe(step: Step, catalogue: Catalogue, titles: Titles, tag: str = "en") -> str:
    """One call as a line of a card."""
    return _line(_DrawnCall(step, catalogue, titles, tag).to_dict(catalogue), tag)


def undo_of(outcome: CallOutcome, catalogue: Catalogue) -> JSONObject:
    """The call that undoes an effect: the one given by the result, else the one that deletes the
    single record it created. Empty if there is none."""
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
    """The destructive functions of an app that need only an id and are named like `creates` except
    for the verb, each with its id parameter."""
    words = set(words_of(creates))
    for one in app.functions:
        if one.action_type == "destructive" and len(ids := _ids_of(one)) == 1:
            own = set(words_of(one.fn_name))
            if {len(words - own), len(own - words)} == {1}:  # add_task, delete_task
                yield one.fn_name, ids[0]


def _ids_of(function: FunctionInfo) -> list[str]:
    """The parameters for a single id; empty if anything else is required."""
    schema = function.input_schema
    properties = schema.get("properties", {})
    ids = [n for n, p in properties.items() if is_id_name(n) and p.get("type") != "array"]
    return ids if set(schema.get("required", ())) <= set(ids) else []


_LOOKALIKES = str.maketrans(
    "\u0430\u0432\u0433\u0435\u0437\u0438\u043a\u043c\u043d\u043e\u043f\u0440\u0441\u0442\u0443"
    "\u0445\u044c\u0431\u0455\u0456\u0458\u04bb\u0501\u051b\u051d\u0131\u0142\u00f8\u0111"
    "\u03b1\u03b2\u03b3\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c3\u03c2\u03c4\u03c5\u03c7"
    "\u03c91l0",
    "abreeukmhonpctyxbbsijhdqwiiodabyenikvopoctuxwiio",
)
"""Lookalike letters of other scripts, `1`, `l` and `0` → Latin."""
_KNOWN_LETTERS: Final = (
    "[a-z0-9\u00df-\u00ff\u0142\u0111\u0131\u0153\u0430-\u044f\u0451-\u045f\u03ac-\u03ce"
    "\u05d0-\u05ea\u0620-\u064a\u0904-\u0939\u0e01-\u0e30\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]*"
)
"""Names in letters whose lookalikes are known."""


def app_name(app_id: str, catalogue: Catalogue, tag: str) -> str:
    """The app's name in a language, with its id if another app's name looks or may look the
    same."""
    name = _plain_name(catalogue.name(app_id, tag)) or app_id
    others = {
        _look(text)
        for other in catalogue.apps.values()
        if other.app_id != app_id
        for text in (other.app_id, other.display_name, *other.titles.values())
    }
    is_distinct = re.fullmatch(_KNOWN_LETTERS, _letters(name)) and _look(name) not in others
    return name if name == app_id or is_distinct else f"{name} ({app_id})"


def _plain_name(text: str) -> str:
    bare = re.sub(_NO_NAME, " ", one_line(unicodedata.normalize("NFKC", text)))
    return " ".join(bare.split())[:MAX_NAME].strip()


def _letters(text: str, form: Literal["NFKC", "NFKD"] = "NFKC") -> str:
    return "".join(c for c in unicodedata.normalize(form, text).casefold() if c.isalnum())


def _look(text: str) -> str:
    return _letters(text, "NFKD").translate(_LOOKALIKES)


class _DrawnCall:
    """One call as a card shows it, in a language."""

    def __init__(self, step: Step, catalogue: Catalogue, titles: Titles, tag: str) -> None:
        function = catalogue.function(step.app_id, step.fn_name)
        unknown = FunctionInfo(step.app_id, step.fn_name, "", step.action_type)
        self.call = GuardedCall(function or unknown, step.arguments)
        self.titles, self.tag = titles, tag
        self.shown = {sink.path for sink, _ in self.call.destinations}
        self.to = {sink.path for sink, _ in self.call.destinations if sink.kind != "flag"}
        self.is_destructive = self.call.effect == "destructive"
        given = [x for x in self.call.all_leaves if not x.is_absent]
        self.is_only = self.is_destructive and len(given) == 1  # it alone says what is destroyed
        self.editable = {x.path for x in scalars(step.arguments) if not self.is_destructive}

    def to_dict(self, catalogue: Catalogue) -> JSONObject:
        """The effect as JSON: app, title, effect and fields."""
        function, effect, tag = self.call.function, self.call.effect, self.tag
        app = catalogue.apps.get(function.app_id)
        told = filter(self._is_told, self.call.all_leaves)
        # a destructive call that leaves open of what may mean all of it
        empty = (k for k, v in self.call.arguments.items() if self.is_destructive and v in ([], {}))
        open_names = (language.of(tag).field_name(" ".join(words_of(key))) for key in empty)
        return {
            "app": app_name(function.app_id, catalogue, tag),
            "icon": app.icon if app else "",
            "title": _card_title(function, effect, tag),
            "effect": effect,
            "remember": effect in ("outward", "opens") and bool(self.to),
            "fields": [
                *({"name": _name(x, tag), **self._field(x, self._title(x))} for x in told),
                *({"name": name, "value": "\u2013", "kind": "value"} for name in open_names),
            ],
        }

    def secret_paths(self) -> Iterator[str]:
        """The paths of secrets among the arguments."""
        hidden = filter(_is_hidden, self.call.all_leaves)
        return (x.path for x in hidden if x.path not in self.shown)

    def _is_told(self, leaf: Leaf) -> bool:
        """Whether a card shows an argument: what is given, and a default that is a destination or
        says how much (`all: true`, `older_than_days: 0` of what destroys) or what is done (`read:
        true`)."""
        is_number = type(leaf.value) in (int, float)
        says_how_much = leaf.value is True or (self.is_destructive and is_number)
        has_value = bool(leaf.value) and not (isinstance(leaf.value, bool) or leaf.is_key)
        is_shown = leaf.path in self.shown or not leaf.is_absent
        return is_shown or has_value or says_how_much

    def _title(self, leaf: Leaf) -> str:
        """The title of an argument's record, or empty; with the record's address if the call is
        outward and has no destination argument."""
        app_id, value = self.call.function.app_id, str(leaf.value)
        if leaf.path in self.to:
            return one_line(self.titles.of_destination(app_id, leaf.name, value))
        is_plain = isinstance(leaf.value, str | int) and not isinstance(leaf.value, bool)
        may_be_name = is_plain and len(value) <= MAX_NAME and root_of(leaf.name)
        if not (may_be_name or self.call.is_id(leaf)):
            return ""
        name = "" if leaf.name == self.call.function.id_projection else leaf.name
        shown = {x.value for x in self.call.all_leaves}
        title = self.titles.of(app_id, name, value, shown)
        text, is_open = one_line(title.text), self.call.effect == "outward" and not self.to - {""}
        return f"{text} – {title.address}" if text and is_open and title.address else text

    def _field(self, leaf: Leaf, title: str) -> JSONObject:
        """The value and kind of one argument, which may be a record with a `title`; the path of a
        text that may be edited."""
        value, is_destination = leaf.value, leaf.path in self.to
        if _is_hidden(leaf) and not (is_destination or title or self.is_only):
            return {"value": HIDDEN, "kind": "secret"}
        if isinstance(value, bool):
            label = language.of(self.tag).say("said_yes" if value else "said_no")
            return {"value": label, "kind": "value"}
        text = reveal(str(value))
        choice = leaf.by_language(CHOICES).get(text, {})
        if label := _plain_name(language.text_in(choice, self.tag)):
            return {"value": label, "kind": "value"}
        known = {"title": title} if title else {}
        if is_destination:
            return {"value": with_code_points(text), "kind": "destination", **known}
        if title or is_id_name(leaf.name):
            return {"value": text, "kind": "record", **known}
        if not isinstance(value, str) or leaf.is_offered:
            return {"value": text if isinstance(value, str) else value, "kind": "value"}
        if inside := decoded(value):  # what it is, and no text to edit
            return {"value": reveal(inside), "kind": "text"}
        place = {"path": leaf.path} if leaf.path in self.editable and not leaf.is_key else {}
        return {"value": text, "kind": "text", **place}


def _card_title(function: FunctionInfo, effect: str, tag: str) -> str:
    """The title of a call; with "delete" for a destructive one whose title lacks it."""
    title, verb = _title(function, tag), language.of(tag).say("card_verb_delete")
    own = not language.text_in(function.titles, tag)
    has_verb = {language.stem(w, tag) for w in words_in(title)} >= {
        language.stem(w, tag) for w in words_in(verb)
    }
    return title if own or has_verb or effect != "destructive" else f"{verb}: {title}"


def _title(function: FunctionInfo, tag: str) -> str:
    """The author's title in the user's language, else the name in words; a single common verb is
    translated."""
    if title := _plain_name(language.text_in(function.titles, tag)):
        return title
    fn_name, speaks = function.fn_name, language.of(tag)
    words, concept = words_of(fn_name), _concept(fn_name, tag)
    if len(words) == 1 and concept in VERBS and not speaks.words.effects:
        return speaks.say(f"card_verb_{concept}").lower()
    return _plain_name(" ".join(words)) or _plain_name(fn_name)


def _name(leaf: Leaf, tag: str) -> str:
    """The author's title of the argument in the user's language, else its name, translated if
    known, without a trailing "id"."""
    if title := _plain_name(language.text_in(leaf.by_language(TITLES), tag)):
        return title
    words = leaf.words
    if len(words) > 1 and words[-1] in _BARE_IDS:
        words = words[:-1]
    return language.of(tag).field_name(" ".join(words) or _plain_name(leaf.name))


def _line(call: JSONObject, tag: str) -> str:
    """`Mail – send email → ann@example.org: subject “Hello”`."""
    fields = call["fields"]
    to = dict.fromkeys(
        _quote(f["title"], tag) if f.get("title") else as_code(one_line(str(f["value"])))
        for f in fields
        if f["kind"] == "destination"
    )
    goes = f" → {', '.join(to)}" if to else ""
    rest = ", ".join(_field_text(f, tag) for f in fields if f["kind"] != "destination")
    return f"{call['app']} – {call['title']}{goes}" + (f": {rest}" if rest else "")


def _field_text(field: JSONObject, tag: str) -> str:
    name, value = field["name"], str(field["value"])
    if field.get("title"):
        label = "" if name in _BARE_IDS else f"{name} "
        return label + _quote(str(field["title"]), tag)
    if re.fullmatch(_DATE, value):  # as the reader writes it, if it is one
        with suppress(ValueError):
            value = language.of(tag).date(value)
        return f"{name}: {value}"
    if field["kind"] == "text":
        return f"{name} {excerpt(value, tag)}"
    colon = "" if field["kind"] == "record" else ":"
    return f"{name}{colon} {as_code(one_line(value))}"


def excerpt(text: str, tag: str = "en") -> str:
    """A text that is sent: in full, or its beginning, its end and every address, number and code
    between."""
    flat = one_line(text)
    if len(flat) <= MAX_WHOLE:  # read whole by who decides
        return _quote(flat, tag)
    notable = ", ".join(one_line(t) for t in key_tokens(flat[HEAD:-TAIL])).translate(_QUOTES)
    beginning, end = (_quote(t, tag) for t in (f"{flat[:HEAD]} …", f"… {flat[-TAIL:]}"))
    return f"({len(flat)}) {beginning} {end}" + (f" [{as_code(notable)}]" if notable else "")


def key_tokens(text: str) -> Iterable[str]:
    """Every address, number and code of a text, each once: whatever is not a plain word."""
    bare = (token.strip(".,;:!?()[]\"'“”„«»") for token in text.split())
    return dict.fromkeys(
        token for token in bare if any(map(str.isalnum, token)) and _is_code(token)
    )


def _is_code(token: str) -> bool:
    parts = re.split(_JOINED, token)
    is_word = (
        len(parts) < 3 and len(token) < _LONG_WORD and all(map(str.isalpha, filter(None, parts)))
    )
    return not (is_word and all(p[1:] == p[1:].lower() or len(p) < _SHORT for p in parts))


def _quote(text: str, tag: str) -> str:
    told = as_code(one_line(text).translate(_QUOTES))  # no quotation mark but ours
    return language.of(tag).say("quoted", what=told)


def _effect_question(call: JSONObject, concept: str, tag: str, more: int = 0) -> str:
    """An effect as a short question: `Delete “Lisbon launch” (+2) (Notes)?`"""
    title = next((text for text in _titles(call, tag) if 0 < len(text) <= MAX_TITLE), "")
    name = one_line(title).translate(_QUOTES)
    what = language.of(tag).say("quoted", what=name) if title else ""
    if what and (others := _others(call) + more):
        what += f" (+{others})"
    if concept in VERBS and what:
        return language.of(tag).say(f"ask_{concept}", what=f"{what} ({call['app']})")
    title = str(call["title"])
    return f"{title[:1].upper()}{title[1:]} {what} ({call['app']})?".replace("  ", " ")


def _others(call: JSONObject) -> int:
    """The number of further records in the list of which the question names one."""
    records = [f for f in call["fields"] if f["kind"] == "record"]
    named = next((f["name"] for f in records if f.get("title")), "")
    return max(0, len([f for f in records if f["name"] == named]) - 1)


def _titles(call: JSONObject, tag: str) -> list[str]:
    """The titles of a call's record: known titles, then title arguments; else the only field of
    what is destroyed, such as a plate."""
    fields, own = call["fields"], {language.of(tag).field_name(name) for name in TITLE_NAMES}
    is_key = call["effect"] == "destructive" and len(fields) == 1
    titles = [f["title"] for f in fields if f["kind"] == "record" and f.get("title")]
    titles += [f["value"] for f in fields if f["kind"] == "text" and (f["name"] in own or is_key)]
    return list(map(str, titles))


def _concept(fn_name: str, tag: str) -> str:
    """The common effect named by a function's first word, used for its button label only. `move` is
    left out where the language has effect words: the name says where to."""
    first, known = next(iter(words_of(fn_name)), ""), language.of("en").words.effects
    found = REPLY if first in ANSWERING else known.get(language.stem(first, "en"), "")
    if found != MOVE:
        return found
    # money is sent, not moved; where the language has effect words the name says it better
    named = SEND if first in OUTWARD_VERBS else MOVE
    return "" if language.of(tag).words.effects else named


def _is_negated(call: GuardedCall) -> bool:
    """Whether a flag set to false turns its function's verb round: `pin(pinned=False)`."""
    verbs = {language.stem(word, "en") for word in words_of(call.function.fn_name)}
    flags = [words_of(name) for name, value in call.arguments.items() if value is False]
    return any(language.stem(words[-1], "en") in verbs for words in flags if words)


def _verb(calls: Sequence[GuardedCall], concept: str, tag: str) -> str:
    """The button label: the function's verb, translated if common, and the number of calls."""
    speaks, first = language.of(tag), calls[0].function
    if len({call.function.fn_name for call in calls}) > 1:
        return speaks.say("card_verb_all")
    # an author's title may say anything: the button says what the function is called
    title = _title(replace(first, titles={}), tag)
    verb = f"{title[:1].upper()}{title[1:]}"
    is_foreign = not speaks.words.effects and language.text_in(first.titles, tag)
    if any(map(_is_negated, calls)) or (is_foreign and concept not in VERBS):
        verb = speaks.say("said_yes").capitalize()
    elif concept in VERBS:
        verb = speaks.say(f"card_verb_{concept}")
    return f"{verb} ({len(calls)})" if len(calls) > 1 else verb
