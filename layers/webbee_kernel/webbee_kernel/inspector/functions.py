"""Per function: whether the classifier is offered it, how near the message's words are, and why not
when not."""

from __future__ import annotations

from ..catalogue import FunctionInfo
from ..llm.tools import tool_spec
from ..turn.state import TurnState
from ..turn.tool_retrieval import Shortlist
from ..types import JSONObject


def report(view: TurnState) -> list[JSONObject]:
    """Every function of every deployed app, offered ones first in the order a model reads them;
    apps that failed last.

    `rank` and `score` say how near the message's words are to the function's name, description and
    examples. They come from the embedded model's matcher, whichever model answers; None without
    evidence.
    """
    scores = _scores(view)
    listed = view.shortlist
    offered = [_row(view, f, i, scores) for i, f in enumerate(listed.shown, 1)]
    left_out = [
        _row(view, f, None, scores, _left_out(listed, i))
        for i, f in enumerate(listed.ranked, 1)
        if f not in listed.shown
    ]
    absent = [
        f
        for app in view.catalogue.apps.values()
        if app.app_id not in view.installed
        for f in app.functions
    ]
    others = [_row(view, f, None, {}, "the app is not installed for this user") for f in absent]
    failed = [
        {
            "app_id": a.app_id,
            "fn_name": "",
            "in_catalogue": False,
            "why_not": f"the app failed to load: {a.error}",
        }
        for a in view.catalogue.apps.values()
        if a.error
    ]
    return [*offered, *left_out, *others, *_withdrawn(view), *failed]


def _withdrawn(view: TurnState) -> list[JSONObject]:
    return [
        {"app_id": a.app_id, "fn_name": name, "in_catalogue": False, "why_not": why}
        for a in view.catalogue.apps.values()
        for name, why in a.withdrawn.items()
    ]


def _left_out(listed: Shortlist, rank: int) -> str:
    return (
        f"{len(listed.shown)} of {len(listed.ranked)} functions fit into the {listed.room:,}"
        f" characters; this one comes {rank}. by use in the last turns and words shared with the"
        " message; the model can search for it"
    )


def _row(
    view: TurnState,
    function: FunctionInfo,
    position: int | None,
    scores: dict[str, tuple[int, float]],
    why_not: str = "",
) -> JSONObject:
    rank, score = scores.get(function.tool_name, (None, None))
    missing = [s for s in function.scopes if not view.user.has_scope(s)]
    return {
        "app_id": function.app_id,
        "fn_name": function.fn_name,
        "description": function.description,
        "action_type": function.action_type,
        "in_catalogue": position is not None,
        "position": position,
        "rank": rank,
        "score": score,
        "why_not": why_not,
        "refused": (
            f"a call would be refused: the scope {', '.join(missing)} is missing" if missing else ""
        ),
    }


def _scores(view: TurnState) -> dict[str, tuple[int, float]]:
    if not view.message.strip() or not view.functions:
        return {}
    from ..llm.embedded.commands import Commands
    from ..llm.embedded.prompt_reader import Reading

    tools = tuple(tool_spec(f) for f in view.shortlist.ranked)
    nearest = Commands(Reading(message=view.message), tools).nearest()
    return {p.tool.name: (i, round(score, 2)) for i, (score, p) in enumerate(nearest, 1)}
