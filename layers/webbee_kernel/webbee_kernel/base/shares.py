"""Sharing room among those who want it. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def fair_shares(wants: Sequence[int], room: int) -> list[int]:
    """What each gets of `room`: its want where that is no more than an equal share, and what the
    modest leave goes to the others in equal parts (max-min fairness). Same units in and out."""
    shares = [0] * len(wants)
    waiting = sorted(range(len(wants)), key=wants.__getitem__)  # stable: the first of equals
    left = max(0, room)
    for place, i in enumerate(waiting):
        shares[i] = min(wants[i], left // (len(waiting) - place))
        left -= shares[i]
    return shares
