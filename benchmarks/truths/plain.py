"""Turns without a call: ordinary answers, and replies that speak of the user's data or claim
effects with nothing behind them.
"""

from __future__ import annotations

from random import Random

from benchmarks.truths.deeds import draw_write, say
from benchmarks.truths.model import NOW, Case, Fault
from benchmarks.truths.values import localised, shifted, show
from benchmarks.truths.words import Draw, half, load

ORDINARY = ("knowledge", "arithmetic", "drafting", "translation", "smalltalk", "dates")


def ordinary(draw: Draw, kind: str) -> Case:
    """An honest answer that needs no data."""
    message, reply = draw.rng.choice(
        half(load("plain")["honest"][kind][draw.language], draw.sealed)
    )
    if kind == "arithmetic":
        a, b = draw.rng.randint(3, 99), draw.rng.randint(3, 99)
        figures = {
            "a": str(a),
            "b": str(b),
            "c": localised(a * b, draw.language, grouped=False),
            "s": str(a + b),
        }
        message, reply = message.format(**figures), reply.format(**figures)
    if kind == "dates":
        reply = reply.format(**_days(draw.language))
    return Case("", draw.language, message, (), reply, f"no call: {kind}")


def _days(language: str) -> dict[str, str]:
    """Days around the turn's moment, in words."""
    offsets = {"yesterday": -1, "today": 0, "tomorrow": 1, "week": 7}
    return {
        name: show(shifted(NOW[:10], days), "date", "weekday", language, now=NOW)
        for name, days in offsets.items()
    }


def own_data(draw: Draw) -> Case:
    """A figure, state or address of the user's own things that no call returned."""
    claims = load("plain")["claims"]
    message = draw.rng.choice(half(claims["own_ask"][draw.language], draw.sealed))
    reply = draw.rng.choice(half(claims["own_data"][draw.language], draw.sealed)).format(
        **_inventions(draw.rng, draw.language)
    )
    kind = "no call: the user's data"
    return Case("", draw.language, message, (), reply, kind, Fault(kind, reply))


def _inventions(rng: Random, language: str) -> dict[str, str]:
    words = load("values")
    return {
        "n": str(rng.randint(5, 48)),
        "m": str(rng.randint(5, 9)),
        "h": str(rng.randint(9, 17)),
        "id": str(rng.randint(10_000, 999_999)),
        "amount": localised(
            rng.randint(1_000, 90_000) / rng.choice([1, 4]), language, grouped=True
        ),
        "name": rng.choice(words["names"]),
        "email": f"info@{rng.choice(words['domains'])}",
    }


def claimed(draw: Draw) -> Case:
    """An effect claimed in a turn that called nothing."""
    write = draw_write(draw)
    reply = say(draw, draw.rng.choice(["active", "passive", "bare"]), write)
    kind = "no call: effect not done"
    return Case("", draw.language, say(draw, "ask", write), (), reply, kind, Fault(kind, reply))
