"""How a value is written: the forms a narrator gives numbers, amounts, dates, ids and words in
each language.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

from benchmarks.truths.model import JSON
from benchmarks.truths.words import LANGUAGES, load

SIGNS = {"EUR": "\N{EURO SIGN}", "USD": "$"}
GROUP = {"en": ",", "de": ".", "es": ".", "ru": "\N{NO-BREAK SPACE}"}
NUMBERS = frozenset({"amount", "number", "rank", "percent"})
PLAIN_FORMS = {
    "amount": "plain",
    "number": "plain",
    "rank": "plain",
    "percent": "percent",
    "date": "iso",
    "datetime": "iso",
    "bool": "yesno",
}


def forms(
    role: str, value: JSON, *, vocabulary: str = "", currency: str = "", now: str = ""
) -> list[str]:
    """The forms in which `value` may be written; the first is the plainest."""
    plain = [PLAIN_FORMS.get(role, "verbatim")]
    if role == "amount":
        assert isinstance(value, int | float)
        plain += (
            ["grouped"]
            + ["money", "code"] * bool(currency)
            + ["short"] * (value >= 10000 and value % 1000 == 0)
        )
    elif role == "number":
        plain += ["grouped", "raw"]
    elif role in {"date", "datetime"}:
        plain += ["long", "long", "yearless", "weekday"] + ["relative"] * (
            abs((_moment(value).date() - _moment(now).date()).days) <= 1
        )
    if role in {"amount", "number"} and isinstance(value, int | float) and value > 20 and value % 1:
        plain += ["about"]
    if role == "id":
        plain += (
            ["quoted"]
            + ["hash"] * str(value).isdigit()
            + ["ending"] * (len(digits(str(value))) >= 12 and str(value)[-4:].isdigit())
        )
    elif role == "word" and value in load("values").get(vocabulary, {}):
        plain += ["translated"]
    return plain


def show(
    value: JSON,
    role: str,
    form: str,
    language: str,
    *,
    field: str = "",
    currency: str = "",
    now: str = "",
) -> str:
    """Write `value` in `form`."""
    if isinstance(value, int | float) and not isinstance(value, bool) and role in NUMBERS:
        return _number(value, form, language, currency, exact=role != "amount")
    if role in {"date", "datetime"} and form != "verbatim":
        return _date(_moment(value), form, language, role == "datetime", _moment(now))
    words = load("values")
    if role == "bool":
        return str(words["yes" if value else "no"].split("|")[LANGUAGES.index(language)])
    text = str(value)
    if form == "translated":
        return str(words[field][text].split("|")[LANGUAGES.index(language)])
    if form == "ending":
        return str(words["ending"][language].format(x=text[-4:]))
    return {"quoted": f"`{text}`", "hash": f"#{text}"}.get(form, text)


def digits(text: str) -> str:
    """Only the digits of `text`."""
    return "".join(c for c in text if c.isdigit())


def _number(value: float, form: str, language: str, currency: str, *, exact: bool) -> str:
    if form == "short":
        return f"{value / 1000:.0f}{load('values')['thousand'][language]}"
    if form == "about":
        about = str(load("values")["about"][language])
        return about.format(x=localised(round(value), language, grouped=True))
    if form == "raw":
        return f"{value:g}" if abs(value) < 1e5 else str(value)
    if form == "percent":
        text = f"{value:g}" if language == "en" else f"{value:g}".replace(".", ",")
        return text + ("%" if language in {"en", "es"} else " %")
    text = localised(value, language, grouped=form != "plain", exact=exact)
    if form == "money":
        return f"{SIGNS[currency]}{text}" if language == "en" else f"{text} {SIGNS[currency]}"
    return f"{text} {currency}" if form == "code" else text


def localised(value: float, language: str, *, grouped: bool, exact: bool = False) -> str:
    """A number as the language writes it: two decimals, or as many as it has; none when whole."""
    text = f"{value:,.2f}" if value % 1 else f"{value:,.0f}"
    if exact and value % 1:
        text = f"{value:,.4f}".rstrip("0")
    if not grouped:
        text = text.replace(",", "")
    return (
        text
        if language == "en"
        else text.replace(",", "\0").replace(".", ",").replace("\0", GROUP[language])
    )


def _moment(value: JSON) -> datetime:
    return datetime.fromisoformat(str(value).replace("Z", "").replace(" ", "T"))


def _date(moment: datetime, form: str, language: str, timed: bool, now: datetime) -> str:
    day = _day(moment.date(), form, language, now.date())
    if not timed:
        return day
    clock = f"{moment:%H:%M}"
    if language == "en" and form != "iso":
        clock = f"{moment:%I:%M %p}".lstrip("0") if form == "long" else clock
    glue = load("values")["at"][language]
    return f"{day} {clock}" if form == "iso" else f"{day}{glue}{clock}"


def _day(day: date, form: str, language: str, today: date) -> str:
    if form == "iso":
        return day.isoformat()
    words = load("values")
    if form == "relative":
        return str(words["relative"][language].split("|")[(day - today).days + 1])
    month = words["months"][language].split()[day.month - 1]
    text = {
        "en": f"{month} {day.day}",
        "ru": f"{day.day} {month}",
        "de": f"{day.day}. {month}",
        "es": f"{day.day} de {month}",
    }[language]
    if form == "yearless":
        return text
    text += {
        "en": f", {day.year}",
        "ru": f" {day.year}",
        "de": f" {day.year}",
        "es": f" de {day.year}",
    }[language]
    return (
        f"{words['weekdays'][language].split()[day.weekday()]}, {text}"
        if form == "weekday"
        else text
    )


def shifted(value: JSON, days: int) -> str:
    """The date or moment `value`, in its own notation, some days later."""
    moment = _moment(value) + timedelta(days=days)
    text = str(value)
    return (
        moment.date().isoformat()
        if len(text) == 10
        else moment.isoformat(sep="T" if "T" in text else " ")
    )
