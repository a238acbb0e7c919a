"""What remains of a turn: the record the next one reads, and which sections to refresh. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..arguments import made_up
from ..base.clock import iso
from ..channels import fact_ledger
from ..refresh.asking import after_effects, stale, unnoticed
from ..values import JSON, CallOutcome, JSONObject, SessionMemory, Turn, TurnStatus, Wanted
from ..values.refreshing import SEEN
from .state import TurnState, masker_for

MAX_REMEMBERED = 50
_ID_LIKE = re.compile(r"(?=[A-Za-z_-]{0,40}\d)(?<![\w-])[\w-]{5,64}(?![\w-])")
"""Words with a digit, of the length ids have. Numbers of up to four digits count things too often
to be remembered as ids."""


def remembered(
    state: TurnState,
    memory: SessionMemory,
    request_id: str,
    status: TurnStatus,
    reply: str,
    response: JSONObject,
) -> Turn:
    """This turn as the next one will read it, numbered after `memory` and masked with its
    placeholders."""
    same = memory is state.memory
    masker = state.masker if same else masker_for(memory, state.message, state.masker)
    gate = None if state.expose_pii else masker
    shown = (
        state.told_shown if same else {i: state.as_shown(o, gate) for i, o in state.told.items()}
    )
    ended = [o for o in shown.values() if o.ok]
    digests = fact_ledger.record(_facts(ended), arguments=[o.arguments for o in ended])
    stored = "\n".join(d.data_facts_json + d.args_json for d in digests)
    return Turn(
        seq=memory.last_seq + 1,
        at=iso(state.now),
        status=status,
        message=state.message,
        reply=reply,
        request_id=request_id,
        apps=_apps(state.told.values()),
        digests=digests,
        vault={}
        if state.expose_pii
        else masker.used_in("\n".join((stored, masker.mask_text(reply), state.skeleton_shown))),
        masked=not state.expose_pii,
        response=response,
        **_of_ids(state, reply, stored),
    )


def _apps(outcomes: Iterable[CallOutcome]) -> tuple[str, ...]:
    """The apps that were called, in order, each once."""
    return tuple(dict.fromkeys(o.app_id for o in outcomes))


def _of_ids(state: TurnState, reply: str, stored: str) -> dict[str, tuple[str, ...]]:
    """What a later turn has to know of ids, at most 50 each.

    `vouched`: those the reply shows, that this turn knew to be real, and that no kept fact holds,
    because it was cut or left memory before. `doubted`: what a model made up for other arguments;
    facts may repeat it, which makes it no truer. Most turns have neither and pay next to nothing.
    """
    there = stored + "\n" + state.message
    forgotten = [t for t in dict.fromkeys(_ID_LIKE.findall(reply)) if t not in there]
    given = [a for o in state.told.values() for a in made_up(state.as_shown(o, None).arguments)]
    if not forgotten and all(a in state.message for a in given):
        return {}
    known = state.known()
    return {
        "vouched": tuple(t for t in forgotten if known.holds("id", t))[:MAX_REMEMBERED],
        "doubted": known.doubted[:MAX_REMEMBERED],
    }


def _facts(outcomes: Iterable[CallOutcome]) -> list[tuple[str, str, JSON]]:
    """`(app_id, fn_name, data)` of calls that succeeded, in order: what the ledger records (never
    the summary)."""
    return [(o.app_id, o.fn_name, o.data) for o in outcomes]


def wanted(state: TurnState, *, note_presence: bool) -> list[Wanted]:
    """The refreshes to ask for: sections of apps that changed something, then stale ones; with
    `note_presence`, now and then, that the user is here."""
    effects = (o.app_id for o in state.told.values() if o.ok and o.action_type != "read")
    asked = after_effects(state.catalogue, effects)
    changed = {(w.app_id, w.section) for w in asked}
    old = stale(state.catalogue, state.installed, state.stored, state.now)
    asked += [Wanted(*section, "stale") for section in old if section not in changed]
    if note_presence and unnoticed(state.stored, state.now):
        asked.append(Wanted(*SEEN, "seen"))
    return asked
