"""Details of calls for the person in whose name they were made: what each was given and what it
gave. Nothing here is remembered for a model. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from ..catalogue import FunctionInfo
from ..channels.bounding import fitted
from ..channels.truncate import fit
from ..guards.arguments import leaves
from ..guards.names import names_a_secret
from ..guards.proposals import HIDDEN
from ..stores.types import Turn
from ..types import CallOutcome, JSONObject
from .confirmation import hidden
from .results_block import near

if TYPE_CHECKING:
    from ..pii import Masker

MOST: Final = 4_000
"""Characters of a call's result as it is shown."""


def given(function: FunctionInfo | None, arguments: JSONObject) -> JSONObject:
    """A call's arguments as their user may see them: passwords are hidden, long ones cut."""
    found = leaves(function, arguments) if function else ()
    shown: Any = hidden(arguments, [leaf.path for leaf in found if leaf.is_secret])
    return {"arguments": fit(shown, MOST)} if shown else {}


def gave(outcome: CallOutcome) -> JSONObject:
    """A call's result, or its error, cut to what can be looked at."""
    told: JSONObject = {}
    if (data := near(outcome)) not in (None, "", [], {}):
        told["data"] = fitted(data, MOST)
    for name in ("summary", "error"):
        if text := getattr(outcome, name):
            told[name] = fit(text, MOST)
    return told


def recalled(turn: Turn) -> list[JSONObject]:
    """What memory still has of each of a turn's calls, in the user's own values; nothing of a call
    whose facts were cut away."""
    from ..pii import Masker

    masker, left = Masker(turn.vault), list(turn.digests)
    found: list[JSONObject] = []
    for call in turn.response.get("calls", ()):
        which = (call["app_id"], call["fn_name"])
        digest = next((d for d in left if (d.app_id, d.fn_name) == which), None)
        found.append({})
        if digest is None or call["status"] != "ok":
            continue
        left.remove(digest)
        texts = {"arguments": digest.args_json, "data": digest.data_facts_json}
        found[-1] = {k: _real(orjson.loads(v), masker) for k, v in texts.items() if v}
    return found


def _real(value: Any, masker: Masker) -> Any:
    """The value with what its placeholders stand for; passwords stay hidden."""
    match value:
        case dict():
            return {k: HIDDEN if names_a_secret(k) else _real(v, masker) for k, v in value.items()}
        case list():
            return [_real(v, masker) for v in value]
        case str():
            return masker.unmask_text(value)
    return value
