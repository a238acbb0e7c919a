"""Thousands of cases from a seed: every kind in turn, in four languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random

from benchmarks.truths import effects, honest, plain
from benchmarks.truths.faults import READ_FAULTS
from benchmarks.truths.model import Call, Case, Piece, UnfitError, joined
from benchmarks.truths.views import View, draw_view
from benchmarks.truths.words import LANGUAGES, Draw, sources

TUNING_SEED = 20260515
SEALED_SEED = 7_401_882_263
ATTEMPTS = 400

Maker = Callable[[Draw], Case]


def read_case(draw: Draw, kind: str) -> Case:
    """An honest reply about records."""
    view, pieces = honest.build(kind, draw)
    return _finished(view, _message(view, pieces), pieces, kind)


def faulty_read_case(draw: Draw, kind: str) -> Case:
    """A true reply about records with one fault planted."""
    bases, plant = READ_FAULTS[kind]
    view, pieces = honest.build(draw.rng.choice(bases), draw)
    message = _message(view, pieces)
    planted, fault = plant(view, pieces, message)
    return replace(_finished(view, message, planted, kind), fault=fault)


def nothing_found(draw: Draw) -> Case:
    """An empty result told as such."""
    view = draw_view(
        draw,
        source=draw.rng.choice(
            [
                s
                for s in sources()
                if draw.app_allowed(s.app_id) and ":" in s.shape and "calls" not in s.shape
            ]
        ),
    )
    key = view.source.shape.partition(":")[2]
    call = Call(view.source.app_id, view.source.fn_name, "read", {}, data={key: []}, summary="")
    message = joined(view.say("ask"))
    return Case("", draw.language, message, (call,), joined(view.say("none")), "nothing found")


def _message(view: View, pieces: list[Piece]) -> str:
    said = [p.text for p in pieces if p.role == "said"]
    return joined(view.say("ask")) + (f" ({said[0]})" if said else "")


def _finished(view: View, message: str, pieces: list[Piece], kind: str) -> Case:
    return Case(
        "",
        view.language,
        message,
        view.calls,
        joined(pieces).strip(),
        kind,
        now=view.now,
        pieces=tuple(pieces),
    )


HONEST: dict[str, Maker] = {
    **{kind: partial(read_case, kind=kind) for kind in honest.BUILDERS},
    "nothing found": nothing_found,
    "effect told": effects.told,
    "list and effect told": partial(effects.after_list, done=True),
    "effect offered": effects.offered,
    "failure told": effects.failure_told,
    "partly done": effects.partly,
    **{f"no call: {kind}": partial(plain.ordinary, kind=kind) for kind in plain.ORDINARY},
}
FAULTY: dict[str, Maker] = {
    **{kind: partial(faulty_read_case, kind=kind) for kind in READ_FAULTS},
    **{
        f"effect not done: {c}": partial(effects.claim, construct=c)
        for c in ("active", "passive", "bare")
    },
    "effect not done: beside another": effects.beside,
    "effect not done: after a list": partial(effects.after_list, done=False),
    "failure left out": effects.left_out,
    "failure as success": lambda draw: effects.hidden(
        draw, draw.rng.choice(["active", "passive", "bare"])
    ),
    "denial of what was done": effects.denied,
    "wrong cause": effects.wrong_cause,
    "no call: the user's data": plain.own_data,
    "no call: effect not done": plain.claimed,
}


def generate(seed: int = TUNING_SEED, n: int = 2000, *, sealed: bool = False) -> list[Case]:
    """Return `n` cases, honest and faulty in turn and every kind equally often; the same seed
    gives the same cases.
    """
    makers = [list(HONEST.items()), list(FAULTY.items())]
    cases = []
    for i in range(n):
        kinds = makers[i % 2]
        turn, at = divmod(i // 2, len(kinds))
        kind, make = kinds[at]
        rng = Random(f"{seed}/{i}")
        language = LANGUAGES[(turn + at) % len(LANGUAGES)]
        cases.append(
            replace(
                _drawn(Draw(rng, language, sealed), kind, make),
                id=f"{'sealed' if sealed else 'tuning'}-{i}",
            )
        )
    return cases


def _drawn(draw: Draw, kind: str, make: Maker) -> Case:
    for _ in range(ATTEMPTS):
        try:
            return make(draw)
        except UnfitError:
            continue
    raise LookupError(f"no records suit {kind!r} in {draw.language}")
