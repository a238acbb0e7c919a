"""Confirmation: one effect that waits for the user's yes, the sentence that asks, and how an answer
is recognised. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from .. import language
from ..base.apart import told_apart
from ..base.ids import confirmation_id
from ..base.text import cut, one_line
from ..catalogue import Catalogue
from ..values import RING_SIZE, PendingConfirmation, SessionMemory, Step, Turn
from ..values.plain import JSONObject
from .planner import references
from .provenance import Directing, Origin, Why, directing, normal
from .provenance.taking_up import labels

LIFETIME_MINUTES = 5
LIFETIME_S = LIFETIME_MINUTES * 60
"""Seconds a confirmation waits (the platform's figure)."""

LONGEST_CONTENT = 160
"""Characters of a text that directs nothing; the values that direct are never cut."""

HIDDEN = "•••"
"""What stands in a question for a password."""


def answer(message: str) -> bool | None:
    """True for a plain yes ("yes, delete it"), False for a plain no, in any of the languages; None
    for anything that says more than that."""
    words = [language.fold(token.text) for token in language.tokens(message)]
    said = set(words)
    yes, no = _forms("yes"), _forms("no")
    beside_yes = yes | _forms("yes_filler")
    if said & no:
        return None if said - no - _forms("no_filler") - beside_yes else False
    return None if said - beside_yes or not said & yes else True


@lru_cache(maxsize=8)
def _forms(role: str) -> frozenset[str]:
    """The words of a role in all languages together: a yes need not be in the user's own."""
    forms = (language.of(tag).words.forms(role) for tag in language.tags())
    return frozenset(language.fold(word) for words in forms for word in words)


def answers(message: str, count: int) -> dict[int, bool] | None:
    """Which of `count` questions a message answers, and how: all of them by "yes to all" or a plain
    no, some by their place ("yes, the first"). None where it does not say which."""
    plain = answer(message)
    if count == 1 or plain is False:
        return None if plain is None else dict.fromkeys(range(count), plain)
    words = [language.fold(t.text) for t in language.tokens(message)]
    if not _forms("yes").intersection(words):
        return None
    rest = set(words) - _forms("yes") - _forms("yes_filler") - _forms("function")
    if _forms("quantifier").intersection(words) and rest <= _forms("quantifier"):
        return dict.fromkeys(range(count), True)
    return _by_place(rest, language.detect(message), count)


def _by_place(words: set[str], tag: str, count: int) -> dict[int, bool] | None:
    """The questions that ordinals name; None where another word stands among them."""
    places = language.of(tag).words.ordinals
    found = [int(places.get(language.stem(word, tag), 0)) for word in words]
    at = [place - 1 if place > 0 else count + place for place in found]
    named = bool(at) and all(found) and all(0 <= n < count for n in at)
    return dict.fromkeys(at, True) if named else None


def waiting(turn: Turn | None, now: float) -> tuple[PendingConfirmation, ...]:
    """The questions of a turn that nobody has answered and that have not expired."""
    return tuple(p for p in turn.waiting if p.expires_at > now) if turn else ()


def carried(memory: SessionMemory, seq: int, now: float) -> tuple[PendingConfirmation, ...]:
    """Questions that still wait in the turn which turn `seq` overwrites: they move into it."""
    overwritten = (t for t in memory.turns if t.seq < seq and (seq - t.seq) % RING_SIZE == 0)
    return waiting(next(overwritten, None), now)


def pending(
    step: Step,
    summary: str,
    *,
    session: str,
    message: str,
    request_id: str,
    now: float,
    found: Sequence[Directing] = (),
    resume: bool = False,
    asks: JSONObject | None = None,
) -> PendingConfirmation:
    """A record of exactly this call, arguments already real, valid for 300 seconds. The same call
    of the same request has the same id, however often the request is delivered. `found` are its
    directing values."""
    which = (step.app_id, step.fn_name, json.dumps(step.arguments, sort_keys=True))
    values = (normal(d.value) for d in found if d.kind != "secret")
    return PendingConfirmation(
        confirmation_id=confirmation_id(session, request_id, *which),
        expires_at=int(now) + LIFETIME_S,
        message=message,
        request_id=request_id,
        steps=(asdict(step),),
        summary=summary,
        values=tuple(dict.fromkeys(values)),
        hidden=tuple(d.path for d in found if d.kind == "secret"),
        resume=resume,
        asks=asks or {},
    )


def steps(record: PendingConfirmation) -> tuple[Step, ...]:
    """The calls of a record."""
    return tuple(Step(**s) for s in record.steps)


def directing_of(step: Step, catalogue: Catalogue) -> tuple[Directing, ...]:
    """The call's directing values."""
    function = catalogue.function(step.app_id, step.fn_name)
    return directing(function, step.arguments) if function else ()


def arguments_shown(record: PendingConfirmation) -> list[JSONObject]:
    """The arguments of the record's calls as the user may see them: passwords are hidden."""
    return [hidden(step["arguments"], record.hidden) for step in record.steps]


def hidden(value: Any, paths: Sequence[str], path: str = "") -> Any:
    """The value with dots for what stands at these paths."""
    if path and path in paths:
        return HIDDEN
    if isinstance(value, dict):
        return {k: hidden(v, paths, f"{path}.{k}" if path else str(k)) for k, v in value.items()}
    if isinstance(value, list):
        return [hidden(v, paths, f"{path}.{n}") for n, v in enumerate(value)]
    return value


def describe(
    step: Step, catalogue: Catalogue, titles: Mapping[str, str], why: Why | None, tag: str
) -> str:
    """One effect for the person who decides, on one line: what is called, with every value that
    directs it whole, an id by what an app calls it, and where it comes from if not from him.

    `delete note – “Lisbon launch” (Notes)`
    """
    found = directing_of(step, catalogue)
    kinds = {d.path: d.kind for d in found if not d.inside}
    shown = ", ".join(
        _named_in(path, value, kinds, titles) or f"{path}: {_shown(path, value, kinds, titles)}"
        for path, value in flat(step.arguments)
        if value not in (None, "", [], {})
    )
    name = display_name(step.app_id, catalogue)
    call = step.fn_name.replace("_", " ")
    text = one_line(f"{call} – {shown} ({name})" if shown else f"{call} ({name})")
    reasons = _reasons(why, catalogue, titles, tag) if why else []
    return f"{text}: {'; '.join(reasons)}" if reasons else text


def display_name(app_id: str, catalogue: Catalogue) -> str:
    """What a person calls the app."""
    app = catalogue.apps.get(app_id)
    return app.display_name if app and app.display_name else app_id


def planned(step: Step, catalogue: Catalogue, titles: Mapping[str, str]) -> str:
    """The same of a call that was planned and has not run: what refers to a result that is not
    there yet is left out."""
    known = {k: v for k, v in step.arguments.items() if not references(v)}
    return describe(replace(step, arguments=known), catalogue, titles, None, "en")


def question(records: Sequence[PendingConfirmation], tag: str) -> str:
    """What the user reads: one sentence, or a numbered line for each effect."""
    speaks, minutes = language.of(tag), LIFETIME_MINUTES
    match records:
        case [only]:
            return speaks.say("waits_for_yes", summary=only.summary, n=minutes)
    lines = [f"{n}. {record.summary}" for n, record in enumerate(records, 1)]
    return "\n".join([speaks.say("several_wait", n=minutes), *lines])


def titles_in(facts: Iterable[Any]) -> dict[str, str]:
    """What ids stand for in these facts: every dict with an id and a title-like field. What has
    one title with others is told apart from them."""
    found = {ident: (title, record) for ident, title, record in _named(facts)}
    own = told_apart([*found.values()])
    return {i: title + more for (i, (title, _)), more in zip(found.items(), own, strict=True)}


def _named(facts: Iterable[Any]) -> Iterator[tuple[str, str, JSONObject]]:
    """Every record with its id and its title, those inside it behind it."""
    for value in facts:
        if isinstance(value, dict):
            title = next(labels(value), "")
            idents = [value.get(key) for key in ("id", "id_", "uid")]
            yield from ((str(i), title, value) for i in idents if title and _is_id(i))
            yield from _named(value.values())
        elif isinstance(value, list):
            yield from _named(value)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int)


def flat(value: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    """Each value that holds no others, with its path: `messages.0.from`."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from flat(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(v, dict) for v in value):
        for number, item in enumerate(value):
            yield from flat(item, f"{path}.{number}")
    else:
        yield path, value


def _shown(path: str, value: Any, kinds: Mapping[str, str], titles: Mapping[str, str]) -> str:
    if isinstance(value, list):
        items = enumerate(value)
        return ", ".join(_shown(f"{path}.{number}", v, kinds, titles) for number, v in items)
    kind, text = kinds.get(path, ""), str(value)
    if kind == "secret":
        return HIDDEN
    if not kind:
        return cut(text, LONGEST_CONTENT)
    if named := _named_in(path, value, kinds, titles):
        return named
    title = titles.get(text) if kind == "path" else ""
    return f"{text} “{title}”" if title else text


def _named_in(path: str, value: Any, kinds: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """What an app calls the thing of this id; empty where the value is none, or that of nothing
    known."""
    title = titles.get(str(value)) if kinds.get(path) == "id" else ""
    return f"“{title}”" if title else ""


def _reasons(why: Why, catalogue: Catalogue, titles: Mapping[str, str], tag: str) -> list[str]:
    """Why it is asked: the values that are not the user's and where they stand, or that his message
    does not ask for it."""
    speaks = language.of(tag)
    said = [
        one_line(speaks.say("not_named", value=title))
        if o.kind == "id" and (title := titles.get(str(o.value)))
        else _where(o, catalogue, tag)
        for o in why.foreign
    ]
    return said or ([speaks.say("effect_unasked")] if why.unasked else [])


def _where(origin: Origin, catalogue: Catalogue, tag: str) -> str:
    name = display_name(origin.app_id, catalogue)
    value = HIDDEN if origin.kind == "secret" else str(origin.value)
    key = f"stands_in_{origin.origin}" if origin.origin != "earlier" else "stands_in_this_turn"
    if origin.label and key == "stands_in_this_turn":
        key = "stands_in_record"
    sentence = language.of(tag).say(
        key, value=value, app=name, label=cut(origin.label, LONGEST_CONTENT)
    )
    return one_line(sentence)
