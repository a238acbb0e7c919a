"""Consenting: the table of `guards.consent` asked for a turn's calls, with what that turn knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .. import language
from ..guards.consent import Moment, Rule, may_be_asked, why_asked
from ..guards.references import Found, References
from ..guards.words import Said
from ..stores.protocols import AcceptedStore
from ..stores.types import RING_SIZE
from ..types import JSONObject, Step
from . import confirmation
from .session_memory import unmasked_json

if TYPE_CHECKING:
    from ..catalogue import FunctionInfo
    from .state import TurnState


class Consent:
    """Which calls the user is asked about. `hosts` are those that the operator lets reads open."""

    def __init__(
        self, accepted: AcceptedStore, rule: Rule = "bound", hosts: Sequence[str] = ()
    ) -> None:
        self._accepted = accepted
        self._rule = rule
        self._hosts = frozenset(hosts)

    async def __call__(
        self,
        state: TurnState,
        calls: Sequence[tuple[Step, JSONObject]],
        *,
        knows_message: bool = True,
    ) -> frozenset[int]:
        """The numbers of the steps that wait."""
        known = [
            (step, function, arguments)
            for step, arguments in calls
            if (function := state.catalogue.function(step.app_id, step.fn_name))
        ]
        judged = [k for k in known if k[0].has_effect or may_be_asked(k[1], k[2])]
        if not judged:
            return frozenset()
        moment = self._moment(state, state.session_accepted, knows_message)
        asked = [k for k in judged if why_asked(k[1], k[2], moment)]
        # Only what would be asked about may have been accepted for good: most turns never look.
        return frozenset([s.index for s, f, a in asked if await self._waits(state, f, a, moment)])

    async def _waits(
        self, state: TurnState, function: FunctionInfo, arguments: JSONObject, moment: Moment
    ) -> bool:
        """Whether a call waits with what its person has accepted for good, too."""
        name = f"{function.app_id}.{function.fn_name}"
        kept = {a.key for a in await self._accepted.list(state.user_key, function=name)}
        now = self._moment(state, state.session_accepted | kept, moment.knows_message)
        return not kept or bool(why_asked(function, arguments, now))

    def _moment(self, state: TurnState, accepted: frozenset[str], knows_message: bool) -> Moment:
        return Moment(
            message=state.message,
            said=state.references.said,
            records=state.references,
            accepted=accepted,
            hosts=self._hosts,
            rule=self._rule,
            knows_message=knows_message,
        )


def references_of(state: TurnState) -> References:
    """The records of this turn's results and of the remembered facts, in real values, and what the
    user has said: his message, with a plain yes the reply that it answers."""
    last = state.memory.turns[-1] if state.memory.turns else None
    reply = "\n".join((last.reply, *last.shown)) if last else ""
    texts, asked = [state.message], ""
    if last and confirmation.agrees(state.message, last.reply):
        texts.append(last.reply)
        asked = confirmation.question_of(last.reply)
    tag = language.detect(state.message, language.of(state.language).tag)
    return References(tuple(_found(state)), Said(texts, tag), reply, asked)


def _found(state: TurnState) -> Iterator[Found]:
    for _, o in sorted(state.outcomes.items(), reverse=True):
        if o.ok:
            yield Found(o.app_id, o.fn_name, o.data, 0, o.action_type != "read")
    for ago, turn in enumerate(reversed(state.memory.turns), 1):
        for digest in reversed(turn.digests):
            function = state.catalogue.function(digest.app_id, digest.fn_name)
            made = function is not None and function.action_type != "read"
            for text in (digest.data_facts_json, digest.args_json):
                if text:
                    data = unmasked_json(text, state.masker)
                    yield Found(digest.app_id, digest.fn_name, data, ago, made)
    for section in state.sections:
        yield Found(section.app_id, section.section, section.data, RING_SIZE)
