"""Session memory in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import token_urlsafe

from ...values import Answering, SessionKey, SessionMemory, Turn, UserKey
from ..keys import session_key, user_key
from ..records import KEPT_S, slot_of, turn_from, turn_text


@dataclass(slots=True)
class _Slot:
    seq: int
    text: str
    version: str
    expires_at: int
    leases: dict[str, Answering] = field(default_factory=dict)


@dataclass(slots=True)
class _Session:
    slots: dict[int, _Slot] = field(default_factory=dict)
    working: dict[str, float] = field(default_factory=dict)

    def living(self, now: float) -> list[_Slot]:
        """The turns that have not expired, oldest first."""
        slots = (slot for slot in self.slots.values() if slot.expires_at > now)
        return sorted(slots, key=lambda slot: slot.seq)

    def at_work(self, now: float) -> dict[str, float]:
        """The requests whose turns run."""
        return {name: until for name, until in self.working.items() if until > now}


class MemorySessionStore:
    """`SessionStore` in memory."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._users: dict[str, dict[str, _Session]] = defaultdict(dict)
        self._asked: dict[tuple[str, str], tuple[str, int]] = {}

    async def read(self, key: SessionKey, *, now: float) -> SessionMemory:
        with self._lock:
            slots = self._find(key).living(now)
            taken = {name: lease for slot in slots for name, lease in slot.leases.items()}
            rows = [(slot.seq, slot.text, slot.version) for slot in slots]
            working = self._find(key).at_work(now)
        return SessionMemory(
            turns=tuple(turn_from(text) for _, text, _ in rows),
            taken=taken,
            versions={seq: version for seq, _, version in rows},
            working=working,
        )

    async def work(self, key: SessionKey, request_id: str, *, until: float) -> None:
        with self._lock:
            self._make(key).working[request_id] = until

    async def append(self, key: SessionKey, turn: Turn, *, expires_at: int, now: float) -> bool:
        text = turn_text(turn)
        with self._lock:
            session = self._make(key)
            held = session.slots.get(slot_of(turn.seq))
            if held and held.seq >= turn.seq and held.expires_at > now:
                return False
            session.slots[slot_of(turn.seq)] = _Slot(turn.seq, text, token_urlsafe(9), expires_at)
            self._note(key, turn)
            return True

    async def replace(
        self,
        key: SessionKey,
        turn: Turn,
        *,
        version: str,
        answered: Sequence[str],
        expires_at: int,
    ) -> bool:
        text = turn_text(turn)
        with self._lock:
            held = self._find(key).slots.get(slot_of(turn.seq))
            if held is None or (held.seq, held.version) != (turn.seq, version):
                return False
            held.text, held.version, held.expires_at = text, token_urlsafe(9), expires_at
            for name in answered:
                held.leases.pop(name, None)
            self._note(key, turn)
            return True

    async def take_pending(
        self, key: SessionKey, seq: int, confirmation_id: str, *, now: float, lease: Answering
    ) -> bool:
        with self._lock:
            held = self._find(key).slots.get(slot_of(seq))
            if held is None or held.seq != seq:
                return False
            taken = held.leases.get(confirmation_id)
            if taken and taken.until >= now:
                return False
            waits = turn_from(held.text).waiting
            if not any(p.confirmation_id == confirmation_id for p in waits):
                return False
            held.leases[confirmation_id] = lease
            return True

    async def keep_pending(
        self, key: SessionKey, seq: int, confirmation_id: str, *, was: float, until: float
    ) -> bool:
        with self._lock:
            held = self._find(key).slots.get(slot_of(seq))
            taken = held.leases.get(confirmation_id) if held and held.seq == seq else None
            if held is None or taken is None or taken.until != was:
                return False
            held.leases[confirmation_id] = Answering(until, taken.yes)
            return True

    def _note(self, key: SessionKey, turn: Turn) -> None:
        for asked in turn.waiting:
            found = (key.session_id, asked.expires_at + KEPT_S)
            self._asked[user_key(key.user), asked.confirmation_id] = found

    async def find_pending(self, user: UserKey, confirmation_id: str, *, now: float) -> str | None:
        with self._lock:
            session_id, expires_at = self._asked.get((user_key(user), confirmation_id), ("", 0))
        return session_id if expires_at > now else None

    async def delete(self, key: SessionKey) -> None:
        with self._lock:
            self._users[user_key(key.user)].pop(key.session_id, None)

    def _find(self, key: SessionKey) -> _Session:
        session_key(key)
        return self._users[user_key(key.user)].get(key.session_id) or _Session()

    def _make(self, key: SessionKey) -> _Session:
        session_key(key)
        return self._users[user_key(key.user)].setdefault(key.session_id, _Session())
