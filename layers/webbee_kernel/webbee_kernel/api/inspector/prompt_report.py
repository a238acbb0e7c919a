"""The whole report of a turn that is not run: blocks and functions; sections and turns are
`memory_report`'s."""

from __future__ import annotations

from collections.abc import Iterator

from ...catalogue import MAX_RULES, FunctionInfo
from ...channels import skeleton
from ...channels.fact_ledger import TURN_CAP
from ...config import MAX_POLICY
from ...llm.tools import tool_spec
from ...stores.types import RING_SIZE
from ...turn.rules import MAX_APPS, MAX_DESCRIPTION, arguments
from ...turn.session_memory import MESSAGE_PREVIEW, REPLY_PREVIEW
from ...turn.turn_context import TurnContext
from ...types import JSONObject
from . import memory_report

CHARS_PER_TOKEN = 3.5
"""A rough figure for mixed English, Russian and JSON; models count for themselves."""


def explain(view: TurnContext) -> JSONObject:
    """`blocks`, `failed`, `sections`, `turns`, `functions`, `window` with what it `left_out`, and
    `placeholders`. Nothing is called."""
    _ = view.opening.prompt  # first: it numbers the placeholders as the turn would
    section_reports = memory_report.sections(view)
    failed = {app.app_id: app.error for app in view.catalogue.apps.values() if app.error}
    return {
        "blocks": blocks(view, sum(s["in_prompt"] for s in section_reports)),
        "failed": [{"app_id": app_id, "reason": error} for app_id, error in failed.items()],
        "sections": section_reports,
        "turns": memory_report.turns(view),
        "functions": function_rows(view),
        "window": view.window,
        "left_out": view.opening.omitted._asdict(),
        "placeholders": memory_report.masked_in(view, view.opening.prompt.text),
        "next_turn": view.memory.last_seq + 1,
    }


def blocks(view: TurnContext, shown_sections: int) -> list[JSONObject]:
    """Each part of the prompt in order: characters, their limit (or None) and its explanation."""
    prompt = view.opening.prompt
    listed = view.opening.shortlist
    count = f"{len(listed.shown)} functions"
    if listed.left_out:
        count = f"{len(listed.shown)} of {len(listed.ranked)} functions"
    gone = view.opening.omitted
    if listed.limit:
        less = " and of none its examples" if gone.examples else ""
        count += f", for the window leaves no room for more{less}"
    forgotten = ""
    if gone.facts or gone.turns:
        forgotten = f"; the window has no room for the facts of {gone.facts} turns"
        forgotten += f", nor for {gone.turns} whole"
    head = len(skeleton.NOTE) + len("[SKELETON]\n\n")
    per_turn = MESSAGE_PREVIEW + REPLY_PREVIEW + TURN_CAP
    parts = (
        ("system", len(prompt.system) - len(prompt.policy) - len(prompt.apps), None, "fixed text"),
        ("policy", len(prompt.policy), MAX_POLICY, "the operator's rules (WEBBEE_POLICY)"),
        (
            "apps",
            len(prompt.apps),
            # the functions' common arguments are never cut
            MAX_APPS + sum(len(arguments(a)) for a in view.catalogue.apps.values()),
            (
                f"what each app is and its rules, {MAX_DESCRIPTION} and {MAX_RULES:,} characters an"
                " app, and what its functions say of arguments in the same words"
            ),
        ),
        ("catalogue", listed.characters, listed.room, count),
        (
            "notice",
            len(prompt.notice),
            None,
            "what the prompt says about functions that are not shown",
        ),
        (
            "skeleton",
            len(prompt.skeleton),
            head + (shown_sections * (skeleton.MAX_LINE + 1) or len(skeleton.EMPTY)),
            f"{shown_sections} sections of {skeleton.MAX_LINE} characters",
        ),
        (
            "history",
            len(prompt.history) - len(view.message),
            RING_SIZE * per_turn,
            (
                f"{RING_SIZE} turns of {per_turn:,} characters: {MESSAGE_PREVIEW} message,"
                f" {REPLY_PREVIEW} reply, {TURN_CAP:,} facts{forgotten}"
            ),
        ),
        ("message", len(view.message), None, "the user's own words"),
    )
    return [
        {"name": n, "chars": c, "tokens": round(c / CHARS_PER_TOKEN), "cap": cap, "of": of}
        for n, c, cap, of in parts
    ]


def offers(view: TurnContext) -> Iterator[tuple[FunctionInfo, int | None, str]]:
    """Every function of every deployed app with its place in the catalogue, or why it has none;
    shown ones first, in the catalogue's order."""
    listed = view.opening.shortlist
    yield from ((f, place, "") for place, f in enumerate(listed.shown, 1))
    fit_in = f"{len(listed.shown)} of {len(listed.ranked)} functions fit into the {listed.room:,}"
    for rank, function in enumerate(listed.ranked, 1):
        if function not in listed.shown:
            by = "by use in the last turns and words shared with the message"
            why = f"{fit_in} characters; this one comes {rank}. {by}; the model can search for it"
            yield function, None, why
    absent = (a for a in view.catalogue.apps.values() if a.app_id not in view.installed)
    for function in (f for app in absent for f in app.functions):
        yield function, None, "the app is not installed for this user"


def function_rows(view: TurnContext) -> list[JSONObject]:
    """The functions of `offers`, then those of apps that failed. `rank` and `score`, None without a
    match, are the embedded model's for the message's words, whichever model answers."""
    scores = _scores(view)
    rows = []
    for function, position, why_not in offers(view):
        rank, score = scores.get(function.tool_name, (None, None))
        missing = ", ".join(s for s in function.scopes if not view.user.has_scope(s))
        rows.append(
            {
                "app_id": function.app_id,
                "fn_name": function.fn_name,
                "description": function.description,
                "action_type": function.action_type,
                "in_catalogue": position is not None,
                "position": position,
                "rank": rank,
                "score": score,
                "why_not": why_not,
                "refused": missing and f"a call would be refused: the scope {missing} is missing",
            }
        )
    named = ("app_id", "fn_name", "why_not", "in_catalogue")
    return rows + [dict(zip(named, (*a, False), strict=True)) for a in _absent(view)]


def _absent(view: TurnContext) -> list[tuple[str, str, str]]:
    """Functions that were withdrawn, then apps that failed to load."""
    apps = view.catalogue.apps.values()
    withdrawn = [(a.app_id, name, why) for a in apps for name, why in a.withdrawn.items()]
    failed = [(a.app_id, "", f"the app failed to load: {a.error}") for a in apps if a.error]
    return withdrawn + failed


def _scores(view: TurnContext) -> dict[str, tuple[int, float]]:
    if not view.message.strip() or not view.opening.shortlist.shown:
        return {}
    from ...llm.embedded.commands import Commands
    from ...llm.embedded.prompt_reader import ParsedPrompt

    tools = tuple(tool_spec(f) for f in view.opening.shortlist.ranked)
    nearest = Commands(ParsedPrompt(message=view.message), tools).nearest()
    return {p.tool.name: (i, round(score, 2)) for i, (score, p) in enumerate(nearest, 1)}
