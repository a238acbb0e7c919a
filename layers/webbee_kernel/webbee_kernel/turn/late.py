"""Late results: the result of a call that ended after its turn is added to that turn, so that the
next prompt has its facts and no model repeats the call.

Late results are events of kind `result`, which extensions can write too; so one is accepted only
for an app that the turn called, and only for a call that was still running.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from ..catalogue import Dispatch
from ..channels import fact_ledger
from ..clock import Clock
from ..config import Settings
from ..errors import KernelError, StorageUnavailable
from ..language import detect
from ..pii import NOTHING
from ..stores import Stores
from ..stores.types import SessionMemory, ToolCallDigest, Turn
from ..types import CallOutcome, Event, JSONObject, SessionKey, UserKey
from .pending_approvals import MAX_RACES
from .results_block import TIMEOUT, mask_outcome
from .session_memory import detector, masker_for

KIND: Final = "result"
WAIT_S: Final = 900.0
"""Seconds after which a result without a recorded turn is dropped; a turn takes five minutes at
most."""
PAUSE_S: Final = 1.0
"""Seconds between polls for the turn, in a deployment without a queue."""

Look = Literal["taken", "known", "absent"]
"""`taken`: added to its turn; `known`: nothing to add; `absent`: the turn is not recorded yet."""

_log = logging.getLogger("webbee.late")


@dataclass(frozen=True)
class LateResults:
    """Amends recorded turns."""

    settings: Settings
    stores: Stores
    dispatch: Dispatch
    clock: Clock

    async def look(self, user: UserKey, event: Event) -> Look:
        """Add a late result to its turn, if that is recorded. Idempotent. Raises stores' errors."""
        result = event.data
        if event.kind != KIND or not result.get("session_id") or not result.get("request_id"):
            return "known"
        key = SessionKey(user, str(result["session_id"]))
        for _ in range(MAX_RACES):
            memory = await self.stores.sessions.read(key, now=self.clock.now())
            turn = memory.turn_of(str(result["request_id"]))
            if turn is None:
                return "absent"
            amended = await self._amended(memory, turn, result)
            if amended is None:
                return "known"
            until = int(self.clock.now()) + self.settings.ring_days * 86_400
            if await self.stores.sessions.replace(
                key, amended, version=memory.versions[turn.seq], answered=(), expires_at=until
            ):
                return "taken"
        raise StorageUnavailable("the turn of a late result is written all the time: retry")

    async def take(self, user: UserKey, event: Event) -> bool:
        """Poll `look` until the result is settled, for a deployment without a queue; whether it was
        added."""
        for _ in range(int(WAIT_S / PAUSE_S)):
            try:
                if (found := await self.look(user, event)) != "absent":
                    return found == "taken"
            except KernelError as error:
                _log.warning("code=%s | a late result waits for its turn", error.code)
            await asyncio.sleep(PAUSE_S)
        _log.warning("kind=%s | a late result found no turn", event.kind)
        return False

    async def _amended(self, memory: SessionMemory, turn: Turn, result: JSONObject) -> Turn | None:
        """The turn with the result added, or None if there is nothing to add."""
        calls = _calls(turn, result)
        if calls is None:
            return None
        amended = replace(turn, response=turn.response | {"calls": calls} | _receipts(turn, calls))
        if result.get("status") == "ok":
            digests, vault = await self._facts(memory, turn, result)
            # it may have been this call that made the turn an error
            status = "ok" if turn.status == "error" else turn.status
            amended = replace(amended, status=status, digests=digests, vault=vault)
        return amended if amended != turn else None

    async def _facts(
        self, memory: SessionMemory, turn: Turn, result: JSONObject
    ) -> tuple[tuple[ToolCallDigest, ...], dict[str, str]]:
        """The turn's facts with those of the result appended, and their placeholders; unchanged if
        already there."""
        app_id, fn_name = str(result["app_id"]), str(result.get("fn_name", ""))
        settings = self.settings
        finder = detector(settings.name_detector, settings.mask_kinds, detect(turn.message))
        gate = None if settings.expose_pii else masker_for(memory, "", finder)
        function = (await self.dispatch.catalogue()).function(app_id, fn_name)
        declared = function.pii if function else NOTHING
        shown = mask_outcome(
            CallOutcome(app_id, fn_name, "ok", data=result.get("data")), gate, declared
        )
        new = app_id, fn_name, shown.data
        if any(digest in turn.digests for digest in fact_ledger.record([new])):
            return turn.digests, turn.vault
        kept, arguments = fact_ledger.calls_of(turn.digests)
        digests = fact_ledger.record([*kept, new], arguments=[*arguments, {}])
        if gate is None:
            return digests, turn.vault
        said = "\n".join(d.data_facts_json + d.args_json for d in digests)
        # beside those it had: its reply may show what no fact holds any more
        return digests, {**turn.vault, **gate.used_in(said)}


def _calls(turn: Turn, result: JSONObject) -> list[JSONObject] | None:
    """The turn's calls with the late one updated; unchanged for a background task; None if the turn
    did not call that app."""
    calls: list[JSONObject] = [dict(c) for c in turn.response.get("calls", [])]
    of_app = [c for c in calls if c["app_id"] == result.get("app_id")]
    # the call that began the task has ended, and is told as it did
    if "task_id" in result:
        return calls if of_app else None
    # of several calls of the function the one that ended
    place = turn.unended.get(str(result.get("call")))
    for call in of_app if place is None else calls[place : place + 1]:
        if (call["fn_name"], call.get("error_code")) == (result.get("fn_name"), TIMEOUT):
            call.pop("error_code")
            call["status"], call["late"] = result.get("status"), True
            if result.get("status") != "ok":
                call["error_code"] = str(result.get("error_code") or "EXT_UNSTRUCTURED_ERROR")
            return calls
    return None


def _receipts(turn: Turn, calls: Sequence[JSONObject]) -> JSONObject:
    """The turn's receipts with those of late calls updated; empty without receipts."""
    from ..grounding.receipts import Receipt

    result = [dict(r) for r in turn.response.get("receipts", ())]
    for receipt in result:
        call = calls[receipt["call"]] if "call" in receipt else {}
        if call.get("late") and receipt["status"] in ("running", "unknown"):
            ended: Literal["done", "failed"] = "done" if call["status"] == "ok" else "failed"
            made = Receipt(0, ended, receipt["what"], str(call.get("error_code", "")))
            receipt |= {"status": ended, "text": made.text(detect(turn.message))}
    return {"receipts": result} if result else {}
