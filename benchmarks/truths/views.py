"""A drawn view: some records of one source, the calls that returned them, and pieces of text
about them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.truths.model import JSON, NOW, Call, Piece, Record, UnfitError
from benchmarks.truths.values import forms, shifted, show
from benchmarks.truths.words import Draw, Field, Source, load

LONGEST_TITLE = 60
PAGE_SIZE = 50  #: of a paged result; never its total


@dataclass(frozen=True)
class View:
    """Records of one source as one turn's calls returned them; `total` is how many there are,
    shown or not.
    """

    draw: Draw
    source: Source
    records: tuple[Record, ...]
    calls: tuple[Call, ...]
    total: int
    now: str = NOW

    @property
    def language(self) -> str:
        return self.draw.language

    def title(self, i: int) -> str:
        return str(self.records[i][self.source.title])

    def field(self, *roles: str) -> Field:
        """Return a random field of one of the roles, any when none is named."""
        suited = [f for f in self.source.fields if not roles or f.role in roles]
        if not suited:
            raise UnfitError
        return self.draw.rng.choice(suited)

    def piece(self, i: int, field: Field, form: str = "") -> Piece:
        """The value of a field of record `i`, in the given form if it has it; in a random one
        when none is given.
        """
        value = self.records[i][field.name]
        vocabulary, currency = field.name, self.source.currency
        possible = forms(field.role, value, vocabulary=vocabulary, currency=currency, now=self.now)
        if form not in possible:
            form = possible[0] if form else self.draw.rng.choice(possible)
        return Piece(self.written(value, field, form), field.role, value, i, field.name, form)

    def written(self, value: JSON, field: Field, form: str) -> str:
        """Write any value as this view would."""
        return show(
            value,
            field.role,
            form,
            self.language,
            field=field.name,
            currency=self.source.currency,
            now=self.now,
        )

    def title_piece(self, i: int) -> Piece:
        """The title of record `i`, bare, bold or in quotation marks."""
        mark = self.draw.rng.choice(["", "", "**", '"'])
        return Piece(f"{mark}{self.title(i)}{mark}", "title", self.title(i), i, self.source.title)

    def say(self, construct: str, **parts: str | Piece) -> list[Piece]:
        """Fill a template of the draw's half; `nouns` is there without asking."""
        plural = self.source.plural(self.language)
        nouns = {
            "nouns": plural,
            "Nouns": plural[:1].upper() + plural[1:],
            "nouns_many": self.source.nouns[1][2],
        }
        return fill(self.draw.pick(construct), **{**nouns, **parts})


def fill(template: str, **parts: str | Piece) -> list[Piece]:
    """Put `parts` into `{names}` of a template; the result starts with a capital letter where a
    word of ours starts it.
    """
    pieces = []
    for token in re.split(r"(\{\w+\})", template):
        part = parts[token[1:-1]] if token.startswith("{") else token
        pieces.append(Piece(part) if isinstance(part, str) else part)
    pieces = [p for p in pieces if p.text]
    if pieces and not pieces[0].role:
        pieces[0] = replace(pieces[0], text=pieces[0].text[:1].upper() + pieces[0].text[1:])
    return pieces


def draw_view(
    draw: Draw, *, least: int = 3, most: int = 8, source: Source | None = None, paged: bool = False
) -> View:
    """Draw a source, records with distinct titles, and the calls that return them; `paged` ones
    are a part of a larger total.
    """
    source = source or draw.source()
    pool = [
        r
        for r in load("results")["records"][source.name]
        if all(r.get(f.name) not in (None, "") for f in source.fields)
    ]
    draw.rng.shuffle(pool)
    records = _distinct(pool, source)[: draw.rng.randint(least, most)]
    if len(records) < least:
        raise UnfitError
    if paged and source.shape.startswith(("bare", "calls")):
        raise UnfitError
    total = draw.rng.choice(_totals(len(records))) if paged else len(records)
    return View(
        draw,
        source,
        tuple(records),
        _calls(draw, source, records, total),
        total,
        _now(draw, source, records),
    )


def _totals(shown: int) -> list[int]:
    """What the total of a page of `shown` records may be."""
    return [n for n in range(max(12, shown + 3), 65) if n != PAGE_SIZE]


def _distinct(pool: Sequence[Record], source: Source) -> list[Record]:
    kept: list[Record] = []
    for record in pool:
        title = str(record[source.title])
        others = [str(r[source.title]) for r in kept]
        if len(title) > LONGEST_TITLE or any(
            title.lower() in o.lower() or o.lower() in title.lower() for o in others
        ):
            continue
        if source.key not in record or all(r[source.key] != record[source.key] for r in kept):
            kept.append(record)
    return kept


def _now(draw: Draw, source: Source, records: Sequence[Record]) -> str:
    """A moment within a day of one of the records' dates, so that "tomorrow" can be said of it."""
    dated = [f for f in source.fields if f.role in {"date", "datetime"}]
    if not dated:
        return NOW
    day = shifted(str(draw.rng.choice(records)[dated[0].name])[:10], draw.rng.choice([-1, 0, 1]))
    return f"{day}T07:42:04Z"


def _calls(draw: Draw, source: Source, records: Sequence[Record], total: int) -> tuple[Call, ...]:
    shape, _, key = source.shape.partition(":")
    summary = draw.rng.choice(["", f"Found {total} {source.noun('en', total)}"])
    if shape == "calls":
        return tuple(
            Call(source.app_id, source.fn_name, "read", {key: r[key]}, data=r, summary="")
            for r in records
        )
    if shape == "bare":
        return (
            Call(source.app_id, source.fn_name, "read", {}, data=list(records), summary=summary),
        )
    body: JSON = list(records)
    if shape == "dict":
        body = {
            str(r[source.key]): {k: v for k, v in r.items() if k != source.key} for r in records
        }
    data = {key: body, **({"currency": source.currency} if source.currency else {})}
    if total > len(records):
        data = {**data, "total": total, "page_size": PAGE_SIZE}
    return (Call(source.app_id, source.fn_name, "read", {}, data=data, summary=summary),)
