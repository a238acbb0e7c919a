"""True replies with figures worked out from what is shown: counts, sums, means, shares."""

from __future__ import annotations

from collections import Counter

from benchmarks.truths.evidence import numeric
from benchmarks.truths.lines import NEWLINE, rows, some_fields
from benchmarks.truths.model import Piece, UnfitError
from benchmarks.truths.values import localised
from benchmarks.truths.views import View
from benchmarks.truths.words import Field, load


def figures(view: View) -> tuple[Field, list[float]]:
    """An amount-like field and its value in every record."""
    field = view.field("amount")
    values = [numeric(r[field.name]) for r in view.records]
    if view.total != len(view.records) or any(v is None or v <= 0 for v in values):
        raise UnfitError
    return field, [v for v in values if v is not None]


def highest(view: View) -> list[Piece]:
    field, values = figures(view)
    top = max(range(len(values)), key=values.__getitem__)
    if values.count(values[top]) > 1:
        raise UnfitError
    return view.say(
        "max",
        title=view.title_piece(top),
        value=view.piece(top, field),
        label=field.label(view.language),
    )


def money(view: View, value: float, role: str = "derived") -> Piece:
    """A figure that was worked out, written like the amounts."""
    form = view.draw.rng.choice(["plain", "grouped", *["money"] * bool(view.source.currency)])
    amount = Field("", "amount", ())
    return Piece(view.written(value, amount, form), role, value, form=form)


def listed(view: View, field: Field, tail: list[Piece]) -> list[Piece]:
    return [
        *view.say("open"),
        NEWLINE,
        *rows(view, range(len(view.records)), [field]),
        NEWLINE,
        *tail,
    ]


def total_of(view: View) -> list[Piece]:
    field, values = figures(view)
    return listed(
        view, field, view.say("sum", x=money(view, sum(values)), label=field.label(view.language))
    )


def overview(view: View) -> list[Piece]:
    """A count, the list and the sum in one reply."""
    field, values = figures(view)
    n, label = view.total, field.label(view.language)
    counted = view.say("count", n=count_piece(view, n), noun_n=view.source.noun(view.language, n))
    body = rows(view, range(n), [field, view.field("date", "place", "word", "id", "number")])
    return [
        *counted,
        NEWLINE,
        *body,
        NEWLINE,
        *view.say("sum", x=money(view, sum(values)), label=label),
    ]


def average_of(view: View) -> list[Piece]:
    field, values = figures(view)
    return listed(
        view,
        field,
        view.say(
            "avg",
            x=money(view, round(sum(values) / len(values), 2)),
            label=field.label(view.language),
        ),
    )


def difference_of(view: View) -> list[Piece]:
    field, values = figures(view)
    a, b = sorted(view.draw.rng.sample(range(len(values)), 2), key=lambda i: -values[i])
    if values[a] == values[b]:
        raise UnfitError
    tail = view.say(
        "diff",
        a=view.title_piece(a),
        b=view.title_piece(b),
        x=money(view, round(values[a] - values[b], 2)),
    )
    return listed(view, field, tail)


def share_of(view: View) -> list[Piece]:
    field, values = figures(view)
    i = view.draw.rng.randrange(len(values))
    share = round(100 * values[i] / sum(values), view.draw.rng.choice([0, 1]))
    shown = Piece(
        view.written(share, Field("", "percent", ()), "percent"), "share", share, i, form="percent"
    )
    return listed(view, field, view.say("share", a=view.title_piece(i), x=shown))


def by_status(view: View) -> list[Piece]:
    field = next((f for f in view.source.fields if f.name == "status"), None)
    if field is None:
        raise UnfitError
    value, count = view.draw.rng.choice(
        Counter(str(r["status"]) for r in view.records).most_common()
    )
    word = view.written(value, field, view.draw.rng.choice(["verbatim", "translated"]))
    return view.say(
        "bystatus",
        n=count_piece(view, count, "status"),
        value=word,
        noun_n=view.source.noun(view.language, count),
    )


def count_piece(view: View, count: int, role: str = "count") -> Piece:
    words = load("values")["counted"][view.language].split()
    spelled = 3 <= count <= 10 and view.draw.rng.random() < 0.4
    return Piece(
        words[count - 3] if spelled else localised(count, view.language, grouped=True),
        role,
        count,
        form="spelled" if spelled else "",
    )


def count(view: View) -> list[Piece]:
    said = view.say(
        "count", n=count_piece(view, view.total), noun_n=view.source.noun(view.language, view.total)
    )
    return (
        [*said, NEWLINE, *rows(view, range(len(view.records)), some_fields(view, 1, 1))]
        if view.draw.rng.random() < 0.5
        else said
    )


def count_in_words(view: View) -> list[Piece]:
    """ "Over 30" of 36, "a dozen" of 12."""
    if view.total == 12:
        return view.say("dozen")
    if view.total <= 10 or view.total % 10 == 0:
        raise UnfitError
    n = view.total // 10 * 10
    return view.say("over", n=str(n), noun_n=view.source.noun(view.language, n))


def groups(view: View) -> list[Piece]:
    """Titles under the word they share: "Open: A, B" and "Resolved: C"."""
    field = view.field("word", "place", "person")
    style = view.draw.pick("group")
    by_word: dict[str, list[int]] = {}
    for i, record in enumerate(view.records):
        by_word.setdefault(str(record[field.name]), []).append(i)
    if not 1 < len(by_word) < len(view.records):
        raise UnfitError
    pieces: list[Piece] = [*view.say("open"), NEWLINE]
    for word, indexes in by_word.items():
        before, _, after = style.partition("{titles}")
        pieces.append(Piece(before.replace("{value}", word)))
        for n, i in enumerate(indexes):
            pieces += [
                *[Piece(", ")] * bool(n),
                Piece(view.title(i), "grouped", word, i, field.name),
            ]
        pieces += [Piece(after), NEWLINE]
    return pieces


def continued(view: View) -> list[Piece]:
    """The first few, "and 7 more"."""
    shown = view.draw.rng.randint(1, len(view.records) - 1)
    rest = view.total - shown
    more = view.say(
        "more", n=count_piece(view, rest, "more"), noun_n=view.source.noun(view.language, rest)
    )
    return [*view.say("open"), NEWLINE, *rows(view, range(shown), some_fields(view, 1, 2)), *more]
