"""Questions: what waits for a yes as a person reads it: a sentence with names, its fields below,
nothing cut. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .. import language
from ..catalogue import Catalogue
from ..values import JSONObject, PendingConfirmation, Step
from .confirmation import arguments_shown, describe, directing_of, display_name, flat, pending
from .provenance import Why

if TYPE_CHECKING:
    from .state import TurnState

TITLES = ("title", "subject", "name", "text")
"""Arguments that name what a call is about, where no id does."""

LONGEST_TITLE = 80
_ASKED = ("delete", "send", "create", "update", "move")


def waiting(
    step: Step, state: TurnState, session: str, *, why: Why | None = None, resume: bool = False
) -> PendingConfirmation:
    """The question for one call of a turn: the call itself, and how a person reads it. `why` it is
    asked about, where not for what it is; with `resume` the turn goes on after a yes."""
    catalogue, titles, tag = state.catalogue, state.titles(), state.language
    return pending(
        step,
        describe(step, catalogue, titles, why, tag),
        session=session,
        message=state.message,
        request_id=state.request_id,
        now=state.now,
        found=directing_of(step, catalogue),
        resume=resume,
        asks=asks(step, catalogue, titles, tag),
    )


def asks(step: Step, catalogue: Catalogue, titles: Mapping[str, str], tag: str) -> JSONObject:
    """The question for one call, `{"question", "titles"}`: `Delete “Lisbon launch” (Notes)?`, and
    what each id in its arguments stands for, by path."""
    named = {
        path: titles[str(value)]
        for path, value in flat(step.arguments)
        if isinstance(value, str | int) and str(value) in titles
    }
    display = display_name(step.app_id, catalogue)
    speaks, concept = language.of(tag), _concept(step.fn_name)
    what = _what(step, catalogue, named)
    if concept in _ASKED and what:
        question = speaks.say(f"ask_{concept}", what=f"{what} ({display})")
    else:
        call = step.fn_name.replace("_", " ").capitalize()
        question = f"{call} {what} ({display})?".replace("  ", " ")
    return {"question": question, "titles": named}


def body(pending: PendingConfirmation) -> JSONObject:
    """A question as an answer carries it."""
    titles = pending.asks.get("titles", {})
    told: JSONObject = {
        "id": pending.confirmation_id,
        "expires_at": pending.expires_at,
        "summary": pending.summary,
        "calls": [
            {
                "app_id": step["app_id"],
                "fn_name": step["fn_name"],
                "arguments": arguments,
                "fields": _fields(arguments, titles),
            }
            for step, arguments in zip(pending.steps, arguments_shown(pending), strict=True)
        ],
    }
    question = pending.asks.get("question")
    return {**told, "question": question} if question else told


def _fields(arguments: JSONObject, titles: Mapping[str, str]) -> list[JSONObject]:
    return [
        {
            "name": path.replace("_", " "),
            "value": value,
            **({"title": titles[path]} if path in titles else {}),
        }
        for path, value in flat(arguments)
        if value not in (None, "", [], {})
    ]


def _concept(fn_name: str) -> str:
    known = language.of("en").words.concepts("effects")
    return known.get(language.stem(fn_name.split("_")[0], "en"), "")


def _what(step: Step, catalogue: Catalogue, named: Mapping[str, str]) -> str:
    """What the effect is about, by name, and to whom it goes."""
    given = (str(step.arguments.get(key) or "").strip() for key in TITLES)
    title = next((f"“{t}”" for t in (*named.values(), *given) if 0 < len(t) <= LONGEST_TITLE), "")
    to = [str(d.value) for d in directing_of(step, catalogue) if d.kind == "recipient"]
    goes = f"→ {', '.join(dict.fromkeys(to))}" if to else ""
    return f"{title} {goes}".strip()
