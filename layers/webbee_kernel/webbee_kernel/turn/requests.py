"""Requests: which ones a session has answered, beyond the five turns it remembers. Pure.

A request id that comes back with its message gets its answer again; with another message it is
refused, always. For that each slot of the ring keeps short marks of the requests it has answered
before: 9 + 3 characters each, so 5 × 50 of them cost 3 KB and no call.
"""

from __future__ import annotations

from ..base.ids import digest
from ..errors import RequestConflict
from ..values import RING_SIZE, SessionMemory

KEPT = 50
"""Marks a slot keeps."""
_ID, _MESSAGE = 9, 3


def mark(request_id: str, message: str) -> str:
    """12 characters: whose request, and which message it carried."""
    return digest("request", request_id)[:_ID] + digest("message", message)[:_MESSAGE]


def marks(memory: SessionMemory, seq: int, request_id: str, message: str) -> tuple[str, ...]:
    """What turn `seq` keeps: the marks of the slot it overwrites, and its own request's."""
    slot = seq % RING_SIZE
    before = next((t.marks for t in memory.ring if t.seq % RING_SIZE == slot and t.seq < seq), ())
    return (*before, mark(request_id, message))[-KEPT:]


def refuse_another_message(memory: SessionMemory, request_id: str, message: str) -> None:
    """RequestConflict where this request id has been answered with another message."""
    given = mark(request_id, message)
    asked = given[:_ID]
    for turn in memory.turns:
        other = turn.request_id == request_id and turn.message != message
        other = other and given not in turn.marks  # a choice is remembered as what it says
        if other or _marked_otherwise(turn.marks, asked, given):
            raise RequestConflict(
                "this request_id was used for another message: send a new one", field="request_id"
            )


TOLD = 60
"""Characters of a reply by which it is known in another text."""


def repeats_conversation(memory: SessionMemory, message: str) -> bool:
    """Whether a message holds a remembered message together with its reply: a client asks for a
    title, tags or follow-ups of the conversation, and its user has said nothing."""
    text = _squeezed(message)
    for turn in memory.turns:
        said, told = _squeezed(turn.message), _squeezed(turn.reply)[:TOLD]
        if said and told and said != text and said in text and told in text:
            return True
    return False


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _marked_otherwise(marks_: tuple[str, ...], asked: str, given: str) -> bool:
    """Whether a mark is of this request with another message: one search where none is."""
    there = asked in "".join(marks_)
    return there and any(m.startswith(asked) and m != given for m in marks_)
