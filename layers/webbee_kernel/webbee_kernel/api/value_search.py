"""The search for a value: the channels that hold it, cut or mask it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from ..llm.tools import tool_spec
from ..stores.types import RING_SIZE, SessionSummary
from ..text import ELLIPSIS, cut, dumps, one_line
from ..turn.session_memory import MESSAGE_PREVIEW, REPLY_PREVIEW
from ..turn.turn_context import TurnContext
from ..types import JSONObject
from .inspector import function_rows, masked_in, offers, sections, turns

MAX_FOUND = 200
NOT_SEARCHED = (
    "no model reads ctx.cache or ctx.store until a function returns it or a section shows it"
)
NOWHERE = (
    "never written where a model reads, as far as sections and the last five turns tell;"
    f" {NOT_SEARCHED}"
)
FORGOTTEN = f"the model remembers the last {RING_SIZE} turns, and this is no more among them"
ELSEWHERE = "another session wrote it; a model reads its own session"
NAMED = 3
"""Sessions that a verdict names."""
_EXCERPT = 60
FUNCTION = "function"
"""The channel of functions that a value names."""
PAST = ("message", "reply", "also", "details")
"""The searched fields of an archived turn."""

Hit = JSONObject
Why = tuple[str, str]
"""A state, and why it is so."""
SHOWN: Why = ("shown", "")
NEAREST = ("shown", "masked", "cut", "dropped", "hidden", "failed", "unknown")
VERDICTS = {
    "shown": "the model sees it",
    "masked": "the model reads a placeholder for it",
    "failed": "{place} failed to load: the model sees nothing of it",
    "unknown": f"not found; {NOT_SEARCHED}, and facts were cut where it may have stood",
}


def search(
    view: TurnContext,
    value: str,
    past: Iterable[JSONObject] = (),
    others: Mapping[SessionSummary, Iterable[JSONObject]] | None = None,
) -> JSONObject:
    """`{"value", "seen", "verdict", "found": [{"channel", "place", "path", "state", "because",
    "excerpt"}]}`.

    `state` is shown, masked, cut, dropped, hidden (written, but not for the classifier now), failed
    (it names an app that did not load) or unknown (the ledger cut something there). Text is
    compared without case; digits alone match whole numbers only. A function is also found by its
    name, `look`, `shop.look` or `shop__look`: `because` tells what it is. `past` are turns of the
    conversation that memory has lost, as its user may read them, `others` those of his other
    sessions.
    """
    # first: it numbers the placeholders as the turn would
    _ = view.opening.prompt
    channels = _Channels(view, value)
    # the lines of the prompt repeat the channels
    found = list(channels.all(past, others or {})) or list(channels.prompt())
    found.sort(key=lambda hit: hit["state"] == "unknown")  # these last
    return {
        "value": value,
        "seen": any(h["state"] in ("shown", "masked") for h in found),
        "verdict": _verdict(found),
        "found": found[:MAX_FOUND],
        "more": max(0, len(found) - MAX_FOUND),
    }


def _verdict(found: list[Hit]) -> str:
    # by the place that the model is nearest to
    hit = min(found, key=lambda hit: NEAREST.index(hit["state"]), default=None)
    if hit is None:
        return NOWHERE
    if all(one["because"] == ELSEWHERE for one in found):
        named = list(dict.fromkeys(f"session {one['session_id']}" for one in found))[:NAMED]
        written = f"written in {', '.join(named)}: the model of this session does not read it"
        return f"{written}; {NOT_SEARCHED}"
    if hit["channel"] == FUNCTION:
        named = [f"{h['place']} is {h['because']}" for h in found if h["channel"] == FUNCTION]
        return "; ".join(named)
    return VERDICTS.get(hit["state"], "written, but the model does not see it").format(**hit)


def _pattern(value: str) -> re.Pattern[str]:
    needle = one_line(value).casefold()
    if not needle:
        return re.compile("(?!)")  # matches nothing
    begins = r"(?<!\w)" if needle[0].isalnum() else ""  # "west" is not in "newest"
    ends = ""
    if needle.isdigit():  # "50" is not in "500", "12.50" or "09:50:00"
        begins, ends = rf"{begins}(?<!\d[.:])", r"(?!\d|:\d|\.\d*[1-9])"
    return re.compile(f"{begins}{re.escape(needle)}{ends}")


def _text(value: Any) -> str:
    return one_line(value if isinstance(value, str) else dumps(value))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar of a JSON value and every key, with its path: `per_account[0].email`."""
    if isinstance(value, dict):
        for key, item in value.items():
            where = f"{path}.{key}" if path else str(key)
            yield from leaves(item, where)
            yield where, str(key)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from leaves(item, f"{path}[{i}]")
    else:
        yield path, value


class _Channels:
    """Searches what a turn reads, channel by channel."""

    def __init__(self, view: TurnContext, value: str) -> None:
        self._view = view
        self._value = value
        self._pattern = _pattern(value)

    def all(
        self, past: Iterable[JSONObject], others: Mapping[SessionSummary, Iterable[JSONObject]]
    ) -> Iterator[Hit]:
        """Functions of this name, the message, then every channel."""
        yield from self._functions()
        if self._stands(message := self._view.message):
            yield self._hit("message", "this message", "", SHOWN, message)
        yield from chain(self._failed(), self._sections(), self._turns())
        yield from chain.from_iterable(self._archived(r, ("dropped", FORGOTTEN)) for r in past)
        yield from chain(self._catalogue(), self._others(others))

    def prompt(self) -> Iterator[Hit]:
        """Lines of the prompt in no channel: rules, descriptions of apps, headers."""
        prompt = self._view.opening.prompt
        for place, text in (("system text", prompt.system), ("prompt", prompt.text)):
            for number, line in enumerate(text.splitlines(), 1):
                if self._stands(line):
                    yield self._hit("prompt", place, f"line {number}", SHOWN, line)

    def _stands(self, text: Any) -> bool:
        return bool(self._pattern.search(_text(text).casefold()))

    def _hit(self, channel: str, place: str, path: str, why: Why, value: Any) -> Hit:
        """A place, with the text around the value, or its beginning."""
        text = _text(value)
        found = self._pattern.search(text.casefold())
        start = max(0, found.start() - _EXCERPT) if found else 0
        excerpt = cut((ELLIPSIS if start else "") + text[start:], 3 * _EXCERPT)
        named = {"channel": channel, "place": place, "path": path}
        return {**named, "state": why[0], "because": why[1], "excerpt": excerpt}

    def _told(
        self,
        channel: str,
        place: str,
        values: Iterable[tuple[str, Any]],
        shown: str,
        otherwise: Why,
        field: JSONObject | None = None,
    ) -> Iterator[Hit]:
        """The leaves with the value: shown if the `shown` text has it, masked if a placeholder in
        that stands for it, else as the losses of a section's `field` say, or `otherwise`."""
        is_shown, masked = self._stands(shown), masked_in(self._view, shown)
        for path, leaf in ((path, leaf) for path, leaf in values if self._stands(leaf)):
            why = _lost(field, path) if field else otherwise
            # also placeholders for a part of the value
            names = [p for p, real in masked.items() if self._stands(real) or real in self._value]
            if names:
                why = "masked", f"the model reads {', '.join(names)}"
            yield self._hit(channel, place, path, SHOWN if is_shown else why, leaf)

    def _failed(self) -> Iterator[Hit]:
        """Apps that failed to load and are named in the value: `shop`, `shop.buy`, `shop__buy`."""
        named = set(re.split(r"__|[^a-z0-9_-]", self._value.casefold()))
        for app in self._view.catalogue.apps.values():
            if app.error and app.app_id in named:
                why = ("failed", f"the app failed to load: {app.error}")
                yield self._hit("extension", app.app_id, "", why, app.app_id)

    def _functions(self) -> Iterator[Hit]:
        """Functions that the value names: whether they are offered, or why not, and the remembered
        turns that called them."""
        about = {
            (f.app_id, f.fn_name): (f.description, *f.examples) for f, *_ in offers(self._view)
        }
        calls = [(turn["turn"], c) for turn in turns(self._view) for c in turn["calls"]]
        for row in (r for r in function_rows(self._view) if self._names(r["app_id"], r["fn_name"])):
            key = row["app_id"], row["fn_name"]
            called = [str(n) for n, call in calls if (call["app_id"], call["fn_name"]) == key]
            state, offer = "shown", f"offered to the model at place {row['position']}"
            if not row["in_catalogue"]:
                state = "dropped" if key[0] in self._view.installed else "hidden"
                offer = "not offered"
            because = f"a function, {offer}" + (f": {row['why_not']}" if row["why_not"] else "")
            if called:
                because += f"; called in turn {' and '.join(dict.fromkeys(called))}"
            text = "; ".join(about.get(key, ()))
            yield self._hit(FUNCTION, ".".join(key), "name", (state, because), text)

    def _names(self, app_id: str, fn_name: str) -> bool:
        """Whether the value is a function's name."""
        forms = (fn_name, f"{app_id}.{fn_name}", f"{app_id}__{fn_name}")
        return one_line(self._value).casefold() in (form.casefold() for form in forms if fn_name)

    def _sections(self) -> Iterator[Hit]:
        stored = {(s.app_id, s.section): s.data for s in self._view.user_state.sections}
        for report in sections(self._view):
            key = report["app_id"], report["section"]
            place = ".".join(key)
            why = SHOWN if report["in_prompt"] else ("hidden", report["why_not"])
            if self._stands(key[1]) or self._stands(place):
                yield self._hit("skeleton", place, "", why, key[1])
            fields = {field["name"]: field for field in report["fields"]}
            for name, value in (stored.get(key) or {}).items():
                field = fields.get(str(name))
                values, shown = leaves({name: value}), _rendered(field)
                yield from self._told("skeleton", place, values, shown, why, field)

    def _turns(self) -> Iterator[Hit]:
        for turn in turns(self._view):
            place = f"turn {turn['turn']}"
            for what, limit in (("message", MESSAGE_PREVIEW), ("reply", REPLY_PREVIEW)):
                because = f"a remembered {what} renders up to {limit} characters"
                why = ("cut", f"{because}; facts carry the data")
                text = leaves(turn[what], what)
                yield from self._told("history", place, text, turn[f"{what}_shown"], why)
            for fact in turn["facts"]:
                yield from self._fact(f"{place} {fact['app_id']}.{fact['fn_name']}", fact)

    def _fact(self, place: str, fact: JSONObject) -> Iterator[Hit]:
        """A call's facts and arguments with the value, else that they were cut."""
        stored = (leaves(fact[n], n) for n in ("data", "args") if fact[n] is not None)
        line = f"{fact['line']}\n{fact['args_line']}"
        found = list(self._told("fact_ledger", place, chain(*stored), line, SHOWN))
        yield from found
        if fact["is_cut"] and not found:
            why = ("unknown", "the ledger cut something here")
            yield self._hit("fact_ledger", place, "", why, line)

    def _archived(self, row: JSONObject, why: Why, place: str = "") -> Iterator[Hit]:
        """The first hit in a turn that is archived and no longer in the model's memory."""
        told = ((n, leaf) for n in PAST for n, leaf in leaves(row.get(n), n))
        for path, leaf in ((p, leaf) for p, leaf in told if self._stands(leaf)):
            yield self._hit("history", f"{place}turn {row['turn']}", path, why, leaf)
            break

    def _others(self, sessions: Mapping[SessionSummary, Iterable[JSONObject]]) -> Iterator[Hit]:
        """Turns of the user's other sessions, which this session's model does not read."""
        for session, rows in sessions.items():
            named = {"session_id": session.session_id, "title": session.title}
            for row in rows:
                place = f"session {session.session_id}, "
                for hit in self._archived(row, ("hidden", ELSEWHERE), place):
                    yield {**hit, **named, "request_id": row["request_id"]}

    def _catalogue(self) -> Iterator[Hit]:
        """The first place of the value in each function that it does not name."""
        for function, position, why_not in offers(self._view):
            if self._names(function.app_id, function.fn_name):
                continue
            hidden = "dropped" if function.app_id in self._view.installed else "hidden"
            why, spec = SHOWN if position else (hidden, why_not), tool_spec(function)
            parts = ("name", "description", "examples", "input_schema")
            texts = chain.from_iterable(leaves(getattr(spec, part), part) for part in parts)
            for path, text in ((p, t) for p, t in texts if self._stands(t)):
                yield self._hit("catalogue", spec.name, path, why, text)
                break


def _rendered(field: JSONObject | None) -> str:
    """A section's field in the prompt: its name renders even if its value does not."""
    if field is None or field["state"] == "dropped":
        return ""
    return f"{field['name']}={field['shown']}"


def _lost(field: JSONObject, path: str) -> Why:
    """By which rule a value of a section's field does not render."""
    for loss in field["losses"]:
        parent = loss["path"]
        within = path == parent or path.startswith((parent + ".", parent + "["))
        if within or loss["rule"] == "line_over_700":
            # these two rules keep the beginning
            partly = loss["rule"] in ("string_over_60", "line_over_700") and field["state"] == "cut"
            return "cut" if partly else "dropped", loss["because"]
    return "cut", "it renders in another form"
