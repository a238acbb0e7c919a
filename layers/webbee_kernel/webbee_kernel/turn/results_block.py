"""Blocks that both models read: the operator's policy (`[POLICY]`), and a turn's outcomes
(`[RESULTS]`), which are told to the reply's check and to the user, too. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

import orjson

from .. import language as words
from ..catalogue import Catalogue, FunctionInfo
from ..channels.truncate import MAX_DATA, bound, fit, fit_bounded
from ..guards.field_names import is_secret_name
from ..guards.proposals import HIDDEN
from ..guards.sinks import GuardedCall
from ..llm.tools import summary_of
from ..sdk.result import ANSWERING, NEEDS_ANSWER
from ..stores.types import Turn
from ..text import dumps, fair_shares, one_line
from ..types import JSON, NOT_RUN, RAN, RUNNING, CallOutcome, JSONObject

if TYPE_CHECKING:
    from ..grounding import Call
    from ..pii.masker import Masker

MAX_ARGUMENTS = 1_000
"""Characters of one call's arguments."""
MAX_LISTS: Final = 4
"""Maximum lists of a result with aggregates."""

REFUSED = frozenset(
    {
        "VALIDATION_MISSING_FIELD",
        "VALIDATION_TYPE_ERROR",
        "FABRICATED_ID_SHAPE",
        "UNKNOWN_TOOL",
        "UNKNOWN_SUB_FUNCTION",
    }
)
"""Codes of calls that never ran and that a model can correct."""


TIMEOUT = "BACKEND_TIMEOUT"
"""The code of a call that timed out and may still be running."""


@lru_cache(maxsize=8)
def policy_block(policy: str) -> str:
    """`[POLICY]` and the operator's text, line by line; empty without one."""
    lines = [one_line(line) for line in policy.splitlines()]
    return "\n".join(["[POLICY]", *(line for line in lines if line)]) if any(lines) else ""


def is_refused(outcome: CallOutcome) -> bool:
    """Whether the call was refused before it ran."""
    return outcome.error_code in REFUSED and not outcome.ok


def visible_data(outcome: CallOutcome) -> JSON:
    """The data bounded to MAX_DATA; the same object if nothing was cut."""
    return bound(outcome.data, MAX_DATA)


def mask_outcome(
    outcome: CallOutcome, gate: Masker | None, declared: Mapping[str, str]
) -> CallOutcome:
    """The outcome with data, arguments, summary and error masked; unchanged without a gate.
    `declared` are the author's PII kinds by field."""
    if gate is None:
        return outcome
    return replace(
        outcome,
        data=gate.mask(outcome.data, declared),
        summary=gate.mask_text(outcome.summary),
        error=gate.mask_text(outcome.error) if outcome.error else "",
        arguments=gate.mask(outcome.arguments, declared) if outcome.arguments else {},
    )


def results_block(
    outcomes: Mapping[int, CallOutcome], computed: Mapping[int, Sequence[str]], room: int
) -> str:
    """`[RESULTS]`, one line per outcome in order, with data of at most `room` characters in all,
    each followed by the aggregates of its lists:
    `COMPUTED: data.tasks: rows=36; status: open 20, done 16`."""
    told = lines(outcomes, room, numbered=False)
    block = ["[RESULTS]"]
    for i, outcome in outcomes.items():
        block.append(told[i] + arguments(outcome))
        block += [f"COMPUTED: {text}" for text in computed.get(i, ())]
    return "\n".join(block)


def computed_of(
    outcome: CallOutcome, gate: Masker | None, declared: Mapping[str, str]
) -> tuple[str, ...]:
    """The masked aggregates of an outcome's lists, over all of its data."""
    from ..grounding.aggregates import aggregates

    if not outcome.ok:
        return ()
    # one row adds up to itself
    found = [one for one in aggregates(outcome.data) if one.rows > 1][:MAX_LISTS]

    def shown(name: str, key: str, row: Mapping[str, Any]) -> str:
        # within its row and list: names around a value decide what it is masked as
        whole: Any = gate.mask({name: [dict(row)]}, declared) if gate else {name: [row]}
        return str(whole[name][0].get(key, ""))

    return tuple(one.text(partial(shown, one.name)) for one in found)


def lines(
    outcomes: Mapping[int, CallOutcome], room: int, *, numbered: bool = True
) -> dict[int, str]:
    """`RESULT: app=mail fn=list status=ok step=0 summary="…" data={…}` by call, all data together
    within `room` characters; a failure has its code and text instead."""
    data = {i: dumps(o.data) if o.ok else "" for i, o in outcomes.items()}
    if sum(map(len, data.values())) > room:
        rooms = fair_shares([len(text) for text in data.values()], room)
        data = {
            i: text if len(text) <= share else dumps(fit_bounded(outcomes[i].data, share))
            for (i, text), share in zip(data.items(), rooms, strict=True)
        }
    return {i: _line(o, data[i], i if numbered else None) for i, o in outcomes.items()}


def _line(outcome: CallOutcome, data: str, number: int | None) -> str:
    head = f"RESULT: app={outcome.app_id} fn={outcome.fn_name} status={outcome.status}"
    if number is not None:
        head += f" step={number}"
    if not outcome.ok:
        again = " retryable=true" if outcome.retryable else ""
        # for the classifier alone: the narrator, whose lines have no number, calls nothing
        asks = number is not None and outcome.error_code == NEEDS_ANSWER
        then = f" then={dumps(ANSWERING)}" if asks else ""
        return f"{head} code={dumps(outcome.error_code)}{again} error={dumps(outcome.error)}{then}"
    return f"{head} summary={dumps(outcome.summary)} data={data}"


def arguments(outcome: CallOutcome) -> str:
    """` args={…}`, or empty without arguments."""
    given = outcome.arguments
    return f" args={dumps(fit(given, MAX_ARGUMENTS))}" if given else ""


MAX_SHOWN: Final = 4_000
"""Maximum characters of a displayed result."""


def shown_arguments(function: FunctionInfo | None, arguments: JSONObject) -> JSONObject:
    """A call's arguments for display: secrets hidden, long values cut."""
    found = GuardedCall(function, arguments).leaves if function else ()
    shown: Any = hide(arguments, [leaf.path for leaf in found if leaf.is_secret])
    return {"arguments": fit(shown, MAX_SHOWN)} if shown else {}


def shown_result(outcome: CallOutcome) -> JSONObject:
    """A call's status with its result or error for display, cut to MAX_SHOWN."""
    fields: JSONObject = {"status": outcome.status, "duration_ms": outcome.duration_ms}
    if outcome.error_code:
        fields["error_code"] = outcome.error_code
    if (data := visible_data(outcome)) not in (None, "", [], {}):
        fields["data"] = fit_bounded(data, MAX_SHOWN)
    for name in ("summary", "error"):
        if text := getattr(outcome, name):
            fields[name] = fit(text, MAX_SHOWN)
    return fields


def remembered_details(turn: Turn) -> list[JSONObject]:
    """The remembered arguments and data of each of a turn's calls, unmasked; empty for a call whose
    facts were dropped."""
    from ..pii.masker import Masker

    masker, left = Masker(turn.vault), list(turn.digests)
    found: list[JSONObject] = []
    for call in turn.response.get("calls", ()):
        which = (call["app_id"], call["fn_name"])
        digest = next((d for d in left if (d.app_id, d.fn_name) == which), None)
        found.append({})
        if digest is None or call["status"] != "ok":
            continue
        # a function that was called twice has two of them, in the order of the calls
        left.remove(digest)
        texts = {"arguments": digest.args_json, "data": digest.data_facts_json}
        found[-1] = {k: _clear(orjson.loads(v), masker) for k, v in texts.items() if v}
    return found


def _clear(value: Any, masker: Masker) -> Any:
    """The value with placeholders replaced and secrets hidden."""
    match value:
        case dict():
            return {k: HIDDEN if is_secret_name(k) else _clear(v, masker) for k, v in value.items()}
        case list():
            return [_clear(v, masker) for v in value]
        case str():
            return masker.unmask_text(value)
    return value


def hide(value: Any, paths: Sequence[str], path: str = "") -> Any:
    """The value with the values at these paths replaced by dots."""
    if path and path in paths:
        return HIDDEN
    if isinstance(value, dict):
        return {k: hide(v, paths, f"{path}.{k}" if path else str(k)) for k, v in value.items()}
    if isinstance(value, list):
        return [hide(v, paths, f"{path}.{n}" if path else str(n)) for n, v in enumerate(value)]
    return value


MISSING = "VALIDATION_MISSING_FIELD"


def call_of(outcome: CallOutcome, catalogue: Catalogue, tag: str) -> Call:
    """An outcome as a call for the check and for rendering, with titles in the language `tag`.
    Errors about fabricated or missing values are replaced by a sentence for users."""
    from ..grounding import Call

    # what `StepRunner` refuses so names no problems, unlike what an app's schema refuses
    is_unresolved = (outcome.error_code, outcome.fate, outcome.problems) == (MISSING, NOT_RUN, ())
    is_fabricated = outcome.error_code == "FABRICATED_ID_SHAPE" or is_unresolved
    speaks = words.of(tag)
    error = speaks.say("value_unknown") if is_fabricated else outcome.error
    if outcome.incident:
        broke = speaks.say("broke", n=outcome.incident)
        # what it had written before it broke is not known
        broke += f" {speaks.say('in_part')}" if outcome.action_type != "read" else ""
        error = outcome.fault or broke
    function = catalogue.function(outcome.app_id, outcome.fn_name)
    return Call(
        outcome.app_id,
        outcome.fn_name,
        outcome.action_type,
        outcome.arguments,
        call_status(outcome),
        error,
        outcome.data,
        outcome.summary,
        catalogue.name(outcome.app_id, tag),
        summary_of(function, tag) if function else "",
        catalogue.columns(outcome.app_id, tag),
    )


def call_status(outcome: CallOutcome) -> str:
    """The status of a call for the check: `ok`, `not_run` (refused), `running` (past its deadline),
    `unknown` (an effect that may have happened without an answer), `raised` (the function raised an
    exception), else `error`."""
    if outcome.ok:
        return "ok"
    if is_refused(outcome):
        return "not_run"
    if outcome.fate == RUNNING:
        return "running"
    # a dispatch that surely ran nothing is retryable, one that lost the answer is not
    silent = outcome.error_code == "BACKEND_5XX" and not outcome.retryable
    lost = outcome.error_code == TIMEOUT or silent or outcome.fate == RAN
    if lost and outcome.action_type != "read":
        return "unknown"
    return "raised" if outcome.incident else "error"
