"""A value: the channels where it stands, was cut or masked, or that it was never written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...catalogue import FunctionInfo
from ...channels import fact_ledger
from ...llm.tools import tool_spec
from ...stores.types import RING_SIZE, SessionSummary, ToolCallDigest
from ...text import ELLIPSIS, cut, dumps, one_line
from ...turn import session_memory
from ...turn.session_memory import MESSAGE_PREVIEW, REPLY_PREVIEW, unmask_json
from ...turn.turn_context import TurnContext
from ...types import JSONObject
from . import memory_report

MAX_FOUND = 200
SEEN = "the model sees it"
MASKED = "the model reads a placeholder for it"
NOT_SEARCHED = (
    "no model reads ctx.cache or ctx.store until a function returns it or a section shows it"
)
NOWHERE = (
    "never written where a model reads, as far as sections and the last five turns tell;"
    f" {NOT_SEARCHED}"
)
ELSEWHERE = "another session wrote it; a model reads its own session"
NAMED = 3
"""Sessions that a verdict names."""
_EXCERPT = 60
PAST = ("message", "reply", "also", "details")
"""What of a turn that is archived was said or brought."""

Hit = JSONObject
Stands = Callable[[Any], bool]


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
    compared without case; digits alone match whole numbers only. `past` are turns of the
    conversation that memory has lost, as its user may read them, `others` those of his other
    sessions.
    """
    # made first: it gives placeholders the numbers that a turn would
    _ = view.opening.prompt
    pattern = _pattern(value)

    def stands(text: Any) -> bool:
        return bool(pattern.search(_text(text).casefold()))

    found: list[Hit] = []
    if stands(view.message):
        why = "the user's own words are never masked"
        found.append(_hit("message", "this message", "", "shown", why, view.message))
    channels = (
        _failed(view, value, stands),
        _sections(view, stands),
        _turns(view, stands),
        _past(past, stands),
        _catalogue(view, stands),
        _others(others or {}, stands),
    )
    for hits in channels:
        found += hits
    # last: the lines of the prompt repeat what the channels have told better
    found = found or list(_rest(view, stands))
    found.sort(key=lambda hit: hit["state"] == "unknown")  # what is known first
    return {
        "value": value,
        "seen": any(h["state"] in ("shown", "masked") for h in found),
        "verdict": _verdict(found, view),
        "found": [h | {"excerpt": _near(h["excerpt"], pattern)} for h in found[:MAX_FOUND]],
        "more": max(0, len(found) - MAX_FOUND),
    }


def _verdict(found: list[Hit], view: TurnContext) -> str:
    states = {h["state"] for h in found}
    if states & {"shown", "masked"}:
        return SEEN if "shown" in states else MASKED
    sessions = dict.fromkeys(h["place"].partition(",")[0] for h in found if _is_elsewhere(h))
    if sessions and len(found) == sum(map(_is_elsewhere, found)):
        named = ", ".join(list(sessions)[:NAMED])
        return f"written in {named}: the model of this session does not read it; {NOT_SEARCHED}"
    if states - {"unknown", "failed"}:
        return "written, but the model does not see it"
    for failed in (h["place"] for h in found if h["state"] == "failed"):
        return f"{failed} failed to load: the model sees nothing of it"
    if found:
        return f"not found; {NOT_SEARCHED}, and facts were cut where it may have stood"
    return "; ".join((NOWHERE, *_not_loaded(view)))


def _not_loaded(view: TurnContext) -> list[str]:
    missing = sorted(app.app_id for app in view.catalogue.apps.values() if app.error)
    return [f"{', '.join(missing)} failed to load"] if missing else []


def _pattern(value: str) -> re.Pattern[str]:
    needle = one_line(value).casefold()
    # matches nothing: an empty text would stand everywhere
    if not needle:
        return re.compile("(?!)")
    begins = r"(?<!\w)" if needle[0].isalnum() else ""  # "west" is not in "newest"
    ends = ""
    if needle.isdigit():  # "50" is not in "500", "12.50" or "09:50:00"
        begins, ends = rf"{begins}(?<!\d[.:])", r"(?!\d|:\d|\.\d*[1-9])"
    return re.compile(f"{begins}{re.escape(needle)}{ends}")


def _text(value: Any) -> str:
    return one_line(value if isinstance(value, str) else dumps(value))


def _near(text: str, pattern: re.Pattern[str]) -> str:
    """The text around what is looked for; its beginning where that stands in it otherwise."""
    found = pattern.search(text.casefold())
    start = max(0, found.start() - _EXCERPT) if found else 0
    return cut((ELLIPSIS if start else "") + text[start:], 3 * _EXCERPT)


def _hit(channel: str, place: str, path: str, state: str, because: str, text: Any) -> Hit:
    named = {"channel": channel, "place": place, "path": path}
    return {**named, "state": state, "because": because, "excerpt": _text(text)}


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every scalar of a JSON value and every key, with its path: `per_account[0].email`."""
    if isinstance(value, dict):
        for key, item in value.items():
            where = f"{path}.{key}"
            yield from leaves(item, where)
            yield where, str(key)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from leaves(item, f"{path}[{i}]")
    else:
        yield path, value


def _failed(view: TurnContext, value: str, stands: Stands) -> Iterator[Hit]:
    """Apps that did not load and that the value names: `shop`, `shop.buy`, `shop__buy`."""
    named = set(re.split(r"__|[^a-z0-9_-]", value.casefold()))
    for app in view.catalogue.apps.values():
        if app.error and (app.app_id in named or stands(app.app_id)):
            why = f"the app failed to load: {app.error}"
            yield _hit("extension", app.app_id, "", "failed", why, app.app_id)


def _sections(view: TurnContext, stands: Stands) -> Iterator[Hit]:
    stored = {(s.app_id, s.section): s.data or {} for s in view.user_state.sections}
    for report in memory_report.sections(view):
        app, section = report["app_id"], report["section"]
        place = f"{app}.{section}"
        if stands(section) or stands(place):
            state = "shown" if report["in_prompt"] else "hidden"
            yield _hit("skeleton", place, "", state, report["why_not"], section)
        for name, value in stored.get((app, section), {}).items():
            for path, leaf in ((str(name), str(name)), *leaves(value, str(name))):
                if stands(leaf):
                    state, because = _section_state(report, str(name), path, leaf, stands)
                    yield _hit("skeleton", place, path, state, because, leaf)


def _section_state(
    report: JSONObject, name: str, path: str, leaf: Any, stands: Stands
) -> tuple[str, str]:
    if not report["in_prompt"]:
        return "hidden", report["why_not"]
    field = next(f for f in report["fields"] if f["name"] == name)
    if field["state"] != "dropped":
        # a field's name renders whatever becomes of its value
        if stands(field["shown"]) or path == name == leaf:
            return "shown", ""
        if names := _masking(field["masked"], leaf, stands):
            return "masked", _reads(names)
    return _lost(field, path)


def _masking(masked: Mapping[str, str], leaf: Any, stands: Stands) -> list[str]:
    """Placeholders that stand for what is looked for, or for a part of the value."""
    return [p for p, real in masked.items() if stands(real) or real in str(leaf)]


def _lost(field: JSONObject, path: str) -> tuple[str, str]:
    """By which rule a value of a section's field does not render."""
    losses = (
        x for x in field["losses"] if _within(path, x["path"]) or x["rule"] == "line_over_700"
    )
    loss = next(losses, None)
    if loss is None:
        return "cut", "it renders in another form"
    # these two rules leave a beginning, the others nothing
    partly = loss["rule"] in ("string_over_60", "line_over_700") and field["state"] == "cut"
    return "cut" if partly else "dropped", f"{loss['because']} ({loss['detail']})"


def _reads(names: list[str]) -> str:
    return f"the model reads {', '.join(names)}"


def _within(path: str, parent: str) -> bool:
    return path == parent or path.startswith((parent + ".", parent + "["))


def _turns(view: TurnContext, stands: Stands) -> Iterator[Hit]:
    items = session_memory.history(view.memory, view.gate.mask if view.gate else None)
    for turn, item in zip(view.memory.turns, items, strict=True):
        place = f"turn {turn.seq}"
        prose = (
            ("message", turn.message, item.message, MESSAGE_PREVIEW),
            ("reply", turn.reply, item.reply, REPLY_PREVIEW),
        )
        for what, text, shown, limit in prose:
            why = f"a remembered {what} renders up to {limit} characters; facts carry the data"
            yield from _told(view, "history", place, shown, {what: text}, stands, ("cut", why))
        for digest in item.digests:
            yield from _facts(view, f"{place} {digest.app_id}.{digest.fn_name}", digest, stands)


def _facts(view: TurnContext, place: str, digest: ToolCallDigest, stands: Stands) -> Iterator[Hit]:
    """Where a call's facts and arguments hold what is looked for, else where they were cut: it may
    have stood there."""
    stored = {"data": digest.data_facts_json, "args": digest.args_json}
    values = {name: unmask_json(text, view.masker) for name, text in stored.items() if text}
    line = "\n".join(fact_ledger.lines(digest))
    found = list(_told(view, "fact_ledger", place, line, values, stands, ("shown", "")))
    yield from found
    for name, value in values.items() if not found else ():
        for path, marker in memory_report.cuts(value, name):
            because = f"the ledger cut here: {marker}"
            yield _hit("fact_ledger", place, path, "unknown", because, marker)


def _told(
    view: TurnContext,
    channel: str,
    place: str,
    shown: str,
    values: Mapping[str, Any],
    stands: Stands,
    otherwise: tuple[str, str],
) -> Iterator[Hit]:
    """What of these values is looked for: it stands in what is shown of them, or a placeholder
    does, or `otherwise`: the state and why."""
    state, because = ("shown", "") if stands(shown) else otherwise
    if not stands(shown) and (names := _standing_for(view, shown, stands)):
        state, because = "masked", _reads(names)
    for name, value in values.items():
        for path, leaf in leaves(value, name):
            if stands(leaf):
                yield _hit(channel, place, path, state, because, leaf)


def _standing_for(view: TurnContext, shown: str, stands: Stands) -> list[str]:
    """Placeholders in a text that stand for values holding the needle."""
    return [p for p, v in view.masker.used_in(shown).items() if stands(v)] if view.gate else []


def _past(rows: Iterable[JSONObject], stands: Stands) -> Iterator[Hit]:
    """Turns that the person reads again and the model has forgotten; one hit each."""
    because = f"the model remembers the last {RING_SIZE} turns, and this is no more among them"
    for row in rows:
        told = ((n, leaf) for n in PAST for n, leaf in leaves(row.get(n), n))
        if hit := next(((path, leaf) for path, leaf in told if stands(leaf)), None):
            yield _hit("history", f"turn {row['turn']}", hit[0], "dropped", because, hit[1])


def _rest(view: TurnContext, stands: Stands) -> Iterator[Hit]:
    """Lines of the prompt that are of no channel: rules, what apps say of themselves, headers."""
    prompt = view.opening.prompt
    for place, text in (("system text", prompt.system), ("prompt", prompt.text)):
        for number, line in enumerate(text.splitlines(), 1):
            if stands(line):
                yield _hit("prompt", place, f"line {number}", "shown", "", line)


def _others(
    sessions: Mapping[SessionSummary, Iterable[JSONObject]], stands: Stands
) -> Iterator[Hit]:
    """Turns of the same person's other sessions, which no model reads in this one; each names the
    session and the turn that may be opened."""
    for session, rows in sessions.items():
        named = {"session_id": session.session_id, "title": session.title, "because": ELSEWHERE}
        for row in rows:
            for hit in _past([row], stands):
                place = f"session {session.session_id}, {hit['place']}"
                where = {"place": place, "request_id": row["request_id"]}
                yield {**hit, **named, **where, "state": "hidden"}


def _is_elsewhere(hit: Hit) -> bool:
    return bool(hit["because"] == ELSEWHERE)


def _offers(view: TurnContext) -> Iterator[tuple[FunctionInfo, str, str]]:
    """Every function of the deployment: whether it is shown, and why not."""
    for function in view.opening.shortlist.ranked:
        shown = function in view.opening.shortlist.shown
        why = "" if shown else "the function is not shown: the catalogue is full"
        yield function, "shown" if shown else "dropped", why
    for app in view.catalogue.apps.values():
        for function in app.functions if app.app_id not in view.installed else ():
            yield function, "hidden", "the app is not installed for this user"


def _catalogue(view: TurnContext, stands: Stands) -> Iterator[Hit]:
    for function, state, because in _offers(view):
        spec = tool_spec(function)
        for part in ("description", "examples", "input_schema"):
            found = ((p, t) for p, t in leaves(getattr(spec, part), part) if stands(t))
            if hit := next(found, None):
                yield _hit("catalogue", spec.name, hit[0], state, because, hit[1])
                break
        if stands(spec.name):
            yield _hit("catalogue", spec.name, "name", state, because, spec.name)
