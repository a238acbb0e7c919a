"""True replies about records: lists, tables, sentences, comparisons, counts and figures worked
out from what is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from benchmarks.truths import derived
from benchmarks.truths.lines import NEWLINE, rows, some_fields
from benchmarks.truths.model import Piece, UnfitError
from benchmarks.truths.views import View, draw_view
from benchmarks.truths.words import Draw, Field, load

SPACE = Piece(" ")
ROLE_PHRASES = {
    "amount": "role_amount",
    "date": "role_datetime",
    "datetime": "role_datetime",
    "word": "role_word",
}

#: fields of which "it is on ..." or "it is ..." can be said of the record itself
SAID_OF_TITLE = frozenset({"date", "start_time", "travel_date", "departure_time", "status"})


def framed(view: View, body: list[Piece]) -> list[Piece]:
    """The body between an opening and a closing line."""
    close = view.draw.pick("close")
    return [*view.say("open"), NEWLINE, *body, *([NEWLINE, Piece(close)] if close else [])]


def plain_list(view: View) -> list[Piece]:
    return framed(view, rows(view, range(len(view.records)), some_fields(view)))


def partial_list(view: View) -> list[Piece]:
    shown = view.draw.rng.sample(
        range(len(view.records)), view.draw.rng.randint(1, len(view.records))
    )
    return framed(view, rows(view, shown, some_fields(view)))


def table(view: View) -> list[Piece]:
    fields = some_fields(view, 2, 3)
    head = " | ".join(["", *(f.label(view.language) for f in fields)])
    pieces = [Piece(f"|{head} |\n|{'---|' * (len(fields) + 1)}\n")]
    forms = {f.name: view.piece(0, f).form for f in fields}
    for i in range(len(view.records)):
        pieces += [Piece("| "), Piece(view.title(i), "title", view.title(i), i, view.source.title)]
        for field in fields:
            pieces += [Piece(" | "), view.piece(i, field, forms[field.name])]
        pieces.append(Piece(" |\n"))
    return framed(view, pieces)


def sentence(view: View, i: int, field: Field) -> list[Piece]:
    """One sentence about one field of one record."""
    if field.role == "bool" and field.name in load("values")["bools"]:
        return statement(view, i, field)
    suited = field.role not in {"date", "datetime", "word"} or field.name in SAID_OF_TITLE
    construct = (
        ROLE_PHRASES.get(field.role, "prose")
        if suited and view.draw.rng.random() < 0.4
        else "prose"
    )
    title, value = view.title_piece(i), view.piece(i, field)
    return view.say(construct, title=title, value=value, label=field.label(view.language))


def statement(view: View, i: int, field: Field, truth: bool | None = None) -> list[Piece]:
    """A yes-or-no field as a sentence, with or without "not"."""
    phrases = load("values")["bools"][field.name][view.language]
    value = bool(view.records[i][field.name]) if truth is None else truth
    text = phrases[2 * int(view.draw.sealed) + (0 if value else 1)]
    before, _, after = text.partition("{title}")
    return [
        Piece(before),
        Piece(view.title(i), "title", view.title(i), i, view.source.title),
        Piece(after, "statement", value, i, field.name),
    ]


def prose(view: View) -> list[Piece]:
    chosen = view.draw.rng.sample(
        range(len(view.records)), min(len(view.records), view.draw.rng.randint(1, 3))
    )
    pieces: list[Piece] = []
    for i in chosen:
        pieces += [*sentence(view, i, view.field()), SPACE]
    return pieces[:-1]


def pronoun(view: View) -> list[Piece]:
    """Two sentences about one record, the second without its name."""
    i = view.draw.rng.randrange(len(view.records))
    fields = [f for f in some_fields(view, 2, 3) if f.role != "bool"]
    if len(fields) < 2:
        raise UnfitError
    pieces = sentence(view, i, fields[0])
    for field in fields[1:]:
        value = view.piece(i, field)
        pieces += [SPACE, *view.say("pronoun", value=value, label=field.label(view.language))]
    return pieces


def single(view: View) -> list[Piece]:
    return sentence(view, view.draw.rng.randrange(len(view.records)), view.field())


def contrast(view: View) -> list[Piece]:
    a, b = view.draw.rng.sample(range(len(view.records)), 2)
    field = view.field("amount", "number", "date", "datetime", "word", "place", "email", "person")
    if view.records[a][field.name] == view.records[b][field.name]:
        raise UnfitError
    first = view.piece(a, field)
    parts = {
        "a": view.title_piece(a),
        "b": view.title_piece(b),
        "va": first,
        "vb": view.piece(b, field, first.form),
    }
    return view.say("contrast", label=field.label(view.language), **parts)


def card(view: View) -> list[Piece]:
    """One record as a heading and labelled lines, as in "Destination: MCO"."""
    i = view.draw.rng.randrange(len(view.records))
    style = view.draw.pick("card")
    pieces = [
        Piece(
            view.draw.pick("heading").format(title=view.title(i)),
            "title",
            view.title(i),
            i,
            view.source.title,
        ),
        NEWLINE,
    ]
    for field in view.source.fields:
        before, _, after = style.partition("{value}")
        label = field.label(view.language)
        pieces += [
            Piece(before.format(label=label[:1].upper() + label[1:])),
            view.piece(i, field),
            Piece(after),
            NEWLINE,
        ]
    return pieces


def time_range(view: View) -> list[Piece]:
    """Start and end as "10:00-11:30" or, on the hour, "9-10:30"."""
    ends = {"start_time": "end_time", "departure_time": "arrival_time"}
    start = next((f for f in view.source.fields if f.name in ends), None)
    if start is None:
        raise UnfitError
    pieces: list[Piece] = [*view.say("open"), NEWLINE]
    for i, record in enumerate(view.records):
        first, last = str(record[start.name])[11:16], str(record[ends[start.name]])[11:16]
        if view.draw.rng.random() < 0.5:
            first = first.removesuffix(":00").lstrip("0") or first
        pieces += [
            Piece("- "),
            view.title_piece(i),
            Piece(f", {first}\N{EN DASH}{last}", "range", f"{first}-{last}", i),
            NEWLINE,
        ]
    return pieces


def user_words(view: View) -> list[Piece]:
    """The user's own words repeated, then records; the message of the case holds them."""
    said = view.draw.pick("said")
    return [
        *view.say("words", said=Piece(said, "said", said)),
        NEWLINE,
        *rows(view, range(len(view.records)), some_fields(view, 1, 2)),
    ]


BUILDERS: dict[str, Callable[[View], list[Piece]]] = {
    "list": plain_list,
    "partial list": partial_list,
    "table": table,
    "single value": single,
    "prose": prose,
    "pronoun": pronoun,
    "groups": derived.groups,
    "overview": derived.overview,
    "contrast": contrast,
    "highest": derived.highest,
    "sum": derived.total_of,
    "average": derived.average_of,
    "difference": derived.difference_of,
    "share": derived.share_of,
    "by status": derived.by_status,
    "count": derived.count,
    "count in words": derived.count_in_words,
    "and more": derived.continued,
    "card": card,
    "time range": time_range,
    "user's words": user_words,
}
PAGED = frozenset({"count", "and more", "count in words"})


def beside_another(view: View) -> View:
    """The same view in a turn that also looked at something else."""
    other = draw_view(view.draw, least=2)
    if other.source.app_id == view.source.app_id:
        return view
    return replace(view, calls=(*view.calls, *other.calls))


def build(kind: str, draw: Draw) -> tuple[View, list[Piece]]:
    """Draw a view that suits the kind and the reply over it."""
    view = draw_view(draw, least=2, paged=kind in PAGED and draw.rng.random() < 0.6)
    pieces = BUILDERS[kind](view)
    return (beside_another(view) if draw.rng.random() < 0.3 else view), pieces
