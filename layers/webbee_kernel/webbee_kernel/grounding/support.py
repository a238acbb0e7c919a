"""The support that evidence gives one claim of a reply: one method per kind of claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

from . import dates, names
from .claims import Claim
from .evidence import Evidence, digits, fold, stem
from .numbers import ONE, Number, rounds_to, settle

SHOWN = 8  #: numbers of a reply that are compared with one another: at most 28 pairs
_COUNTING = re.compile(
    r"(?:\b(?:have|has|had|are|found|total|got|remain|left|contains?|returned|exactly|there(?:'s|"
    r" is| are))"
    r"|(?<!\w)(?:всего|вас|есть|найдено|наш[её]л|нашл[аио]|нашлось|осталось|лишь|ровно))[\s:*_]+(?:(?:only|just|now|ещ[её]|только|ровно|a"
    r" total of)\s+)?$",
    re.I,
)
_COUNTED = re.compile(
    r"[\s*_]+(?:[\w-]+\s+)?(?:tasks?|e?-?mails?|messages?|notes?|files?|events?|meetings?|invoices?|items?|contacts?|results?|reminders?|unread|tickets?"
    r"|задач\w*|пис[еь]м\w*|сообщен\w*|замет\w*|файл\w*|событи\w*|встреч\w*|сч[её]т\w*|контакт\w*|напоминан\w*|непрочитанн\w*)(?!\w)",
    re.I,
)
_ONE_THING = re.compile(
    r"(?:\b(?:have|has|only|just|is|found)|(?<!\w)(?:вас|только|есть|осталось|нашлось|всего))\s+$",
    re.I,
)
_COMPARES = re.compile(
    r"\b(?:total|altogether|in"
    r" all|combined|together|more|less|fewer|cheaper|left|remain\w*|difference|over|short|ahead|behind)\b"
    r"|(?<!\w)(?:всего|итого|вместе|в"
    r" сумме|больше|меньше|дешевле|дороже|осталось|остал\w+|разница|ещё|еще)(?!\w)",
    re.I,
)
_AVERAGE = re.compile(r"\b(?:average|mean|avg)\b|средн", re.I)
_HOUR_WORD = re.compile(
    r"(?:\b(?:at|by|until|till|before|after|from|to)|(?<!\w)(?:в|во|до|с|со|к|после))\s+\**$", re.I
)
_SUBSET = re.compile(
    r"(?:\b(?:first|top|last|latest|newest|next|recent|oldest|of)"
    r"|(?<!\w)(?:перв\w+|последн\w+|ближайш\w+|след\w+|из))\s+(?:recent\s+)?\**$",
    re.I,
)
_MORE = re.compile(r"\s*\**\s*(?:more|others?\b|remaining|остальн|друг)", re.I)
_MORE_BEFORE = re.compile(
    r"(?:\b(?:other|another|remaining)|(?<!\w)(?:ещ[её]|остальн\w+))\s+\**$", re.I
)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|nearly|almost|some|over)"
    r"|(?<!\w)(?:около|примерно|почти|приблизительно|более)|[~≈])\s*[€$£₽]?\s*$",
    re.I,
)
_NTH = re.compile(r"(?:st|nd|rd|th|-?го|-?е|-?й|-?я|\s+числ)(?!\w)")
_BYTES = re.compile(r"[ \u00a0]?(?:([kк])|([mм])|([gг])|([tт]))i?[bб](?!\w)", re.I)
_SPAN = re.compile(
    r"[\s\u00a0-]*(?:(?:full|whole|полных)\s)?"
    r"(?:(sec|s\b|сек)|(min|мин)|(h\b|hours?|hrs?|час|ч\b)|(days?|дн|день|сут)|(nights?|ноч)|(weeks?|недел))",
    re.I,
)
_AND_MINUTES = re.compile(r"\w*\.?,?\s+(?:and\s+|и\s+)?\d+\s?(?:min|m\b|мин)", re.I)
_HOURS_AND = re.compile(r"\d\s?(?:h|ч)\w*\.?,?\s+(?:and\s+|и\s+)?$", re.I)
_MINUTES = (1 / 60, 1, 60, 1440, 1440, 10080)
_BULLET = re.compile(r"^[ \t]*(?:[-*•–]|\d+[.)])\s+\S", re.M)
_TELL = re.compile(
    r"(?:\b(?:say|reply|type|write|answer|enter|press|click|confirm)"
    r"|(?<!\w)(?:скажите|подтвердите|напишите|ответьте|введите|нажмите|выберите)),?(?:\s+(?:please|with|пожалуйста))?\s*[:—–-]?\s*\W?$",
    re.I,
)
_CURRENCIES = {
    "EUR": r"€|\beur\b|\beuros?\b|\bевро\b", "USD": r"(?<!\w)\$|\busd\b|\bdollars?\b|\bдоллар", "GBP": r"£|\bgbp\b|\bpounds?\b|\bфунт",
    "RUB": r"₽|\brub\b|\brubles?\b|\bрубл|\bруб",
}  # fmt: skip
_CURRENCY = {code: re.compile(pattern, re.I) for code, pattern in _CURRENCIES.items()}


class Support:
    """One claim where it stands, asked whether the evidence holds it; one method per kind, found by
    name."""

    def __init__(
        self, claim: Claim, reply: str, beside: Sequence[Claim], evidence: Evidence
    ) -> None:
        """`beside`: the claims that stand next to this one in the reply."""
        self.claim, self.reply, self.beside, self.evidence = claim, reply, beside, evidence
        self.before = reply[max(0, claim.start - 32) : claim.start]

    def grounded(self) -> bool:
        asked: bool = getattr(self, f"_{self.claim.kind}")()
        return asked

    @property
    def values(self) -> list[Number]:
        return [value for value, _ in self.claim.values]

    @property
    def around(self) -> str:
        return self.before + " " + self.reply[self.claim.end : self.claim.end + 24]

    def compares(self, shown: Sequence[Number]) -> bool:
        """Tell whether a number that says it compares or adds up is the sum or difference of two
        that the reply shows and grounds."""
        if self.claim.kind != "number" or not _COMPARES.search(self.around):
            return False
        return any(
            settle(a + b) in self.values or settle(abs(a - b)) in self.values
            for a, b in combinations(shown, 2)
        )

    def _quote(self) -> bool:
        token = self.claim.token
        core = token.strip(" .,;:!?…*_")
        if not core or self.evidence.has_phrase(token) or self.evidence.has_phrase(core):
            return True
        words = re.findall(r"[^\W\d_]+", core)
        inflected = (
            bool(words)
            and not re.search(r"\d|@", core)
            and any("а" <= c <= "я" for c in core.lower())
            and names.known(words, self.evidence)
        )
        return inflected or bool(_TELL.search(self.before))

    def _url(self) -> bool:
        return self.evidence.has(self.claim.token.rstrip("/"), "/-?=&%#._~:")

    def _email(self) -> bool:
        return self.evidence.has(self.claim.token, ".+-_@")

    def _placeholder(self) -> bool:
        return fold(self.claim.token) in self.evidence.text

    def _literal(self) -> bool:
        token = self.claim.token
        following = self.reply[self.claim.end : self.claim.end + 1]
        if (
            self.evidence.has(token, "-.")
            or self.evidence.has(token.lstrip("vV"), "-.")
            or self.evidence.has("v" + token, "-.")
        ):
            return True
        if following == "…" and len(token) >= 4 and fold(token) in self.evidence.text:
            return True
        if re.fullmatch(r"(?i)q[1-4]", token):
            return self.evidence.has(token) or any(
                (month + 2) // 3 == int(token[1]) for _, month, _ in self.evidence.dates
            )
        if re.fullmatch(r"(?i)v\d[\d.]*", token) and re.search(
            rf"(?<![a-z\d]){re.escape(token.lower())}(?![.]?\d)", self.evidence.text
        ):
            return True
        loose = re.sub(
            r"(?<=[^\W\d_])[\s-]?(?=\d)", r"[ -]?", re.escape(fold(token)).replace(r"\-", "-")
        )
        return bool(re.search(rf"(?<![\w-]){loose}(?![\w-])", self.evidence.text))

    def _hash(self) -> bool:
        inner = self.claim.token.lstrip("#№ \u00a0")
        if not inner.isdigit():
            return self.evidence.has(inner, "-")
        number, known = int(inner), self.evidence.numbers
        listed = (
            number <= (self.evidence.derived.longest or 0)
            and "#" in self.claim.token
            and len(inner) < 3
        )
        return (
            number in known.weak
            or number in known.strong
            or number in known.embedded
            or listed
            or self.evidence.has(inner, "-")
        )

    def _idiom(self) -> bool:
        return True

    def _phone(self) -> bool:
        number, known = digits(self.claim.token), self.evidence.numbers
        if any(
            number == own or number[-10:] == own[-10:]
            for own in self.evidence.phones
            if len(own) >= 7
        ):
            return True
        return (
            int(number) in known.strong
            or int(number) in known.weak
            or int(number) in known.embedded
            or self.evidence.has(number)
        )

    def _marker(self) -> bool:
        longest = self.evidence.derived.longest
        return int(self.claim.token) <= (9 if longest is None else longest)

    def _date(self) -> bool:
        return any(self._has_date(value) for value in self.claim.values) or self._number_as_date()

    def _has_date(self, wanted: dates.Date) -> bool:
        year, month, day = wanted
        return any(
            (y is None or year is None or y == year) and (m, d) == (month, day)
            for y, m, d in self.evidence.dates
        )

    def _number_as_date(self) -> bool:
        return self.evidence.has(self.claim.token, ".")

    def _month(self) -> bool:
        year, month = self.claim.values[0]
        own = self.evidence.months | {(y, m) for y, m, _ in self.evidence.dates}
        return any(
            m == month and (y is None or year is None or y == year) for y, m in own
        ) or self.evidence.has(self.claim.token)

    def _weekday(self) -> bool:
        wanted = self.claim.values[0]
        beside = self._date_beside()
        if beside is not None:
            days = {dates.weekday(date) for date in beside}
            return wanted in days or days <= {None}
        return (
            any(dates.weekday(date) == wanted for date in self.evidence.dates)
            or stem(self.claim.token) in self.evidence.text
        )

    def _date_beside(self) -> list[dates.Date] | None:
        """Return the dates that the claim next to a weekday can mean, with the years that the
        evidence has for them."""
        for other in self.beside:
            gap = (
                self.reply[self.claim.end : other.start]
                if other.start > self.claim.start
                else self.reply[other.end : self.claim.start]
            )
            if other.kind == "date" and len(gap) <= 3 and not re.search(r"\w|\n|[.;]", gap):
                values: list[dates.Date] = list(other.values)
                return [
                    own
                    for own in self.evidence.dates
                    for y, m, d in values
                    if own[1:] == (m, d) and y in (None, own[0])
                ] or values
        return None

    def _time(self) -> bool:
        clock = self.claim.token.lstrip("Tt ")
        return any(
            value in self.evidence.times for value in self.claim.values
        ) or self.evidence.has(clock, ":.")

    def _number(self) -> bool:
        claim = self.claim
        if claim.spelled and fold(claim.token) in ONE and not self._stands_alone():
            return True
        if not claim.values:
            return self.evidence.has(claim.token)
        if not self._currency():
            return False
        if claim.percent:
            return any(self._share(value, decimals) for value, decimals in claim.values)
        return any(
            self._shown(value, decimals) or self._counted(value) or self._measured(value, decimals)
            for value, decimals in claim.values
        )

    def _stands_alone(self) -> bool:
        """Tell whether "one" counts something, rather than standing for it ("this one", "one of
        them")."""
        after = self.reply[self.claim.end : self.claim.end + 5]
        return bool(_ONE_THING.search(self.before)) and not after.startswith((" of ", " из "))

    def _currency(self) -> bool:
        """Tell whether the currency beside the number is one the evidence names, if it names
        any."""
        beside = (
            self.reply[max(0, self.claim.start - 1) : self.claim.start]
            + "\0"
            + self.reply[self.claim.end : self.claim.end + 10]
        )
        if not re.search(r"[$€£₽]|\w", beside):
            return True
        beside = re.sub(r"^(\W*\0\W*\w*).*", r"\1", beside, flags=re.S)
        claimed = {
            code for code, pattern in _CURRENCY.items() if pattern.search(beside.replace("\0", " "))
        }
        if not claimed:
            return True
        known = {code for code, pattern in _CURRENCY.items() if pattern.search(self.evidence.text)}
        return not known or bool(known & claimed)

    def _written(self, value: Number) -> bool:
        """Accept a year that stands in the text ("2026-Q1"), and a day and month written as a
        decimal ("18.05")."""
        token = self.claim.token
        if (
            isinstance(value, int)
            and len(token) == 4
            and token.isdigit()
            and self.evidence.has(token)
        ):
            return True
        day, _, month = token.partition(".")
        return (
            day.isdigit()
            and month.isdigit()
            and len(month) == 2
            and self._has_date((None, int(month), int(day)))
        )

    def _shown(self, value: Number, decimals: int) -> bool:
        own = self.evidence.numbers
        if value in own.strong or -value in own.strong:
            return True  # as it stands in the data: nothing need be derived
        derived = self.evidence.derived
        if (
            value in own.strong
            or value in derived.numbers
            or value in derived.counts
            or -value in own.strong
        ):
            return True
        around = self.around
        if value in derived.compared and _COMPARES.search(around):
            return True
        if any(rounds_to(mean, value, decimals) for mean in derived.means) and _AVERAGE.search(
            around
        ):
            return True
        counting = self._counting()
        if not counting and (
            value in own.weak
            or value in own.embedded
            or any(y == value for y, _, _ in self.evidence.dates)
        ):
            return True
        if not counting and self._written(value):
            return True
        if counting and value in own.embedded and self._next_stem() in own.embedded[value]:
            return True
        scale = self.claim.scale
        rounded = own.exact if scale > 1 else self.evidence.fractional
        if any(rounds_to(abs(exact), abs(value), decimals, scale) for exact in rounded):
            return True
        return bool(_ABOUT.search(self.before)) and any(
            _nearly(abs(exact), value) for exact in [*own.strong, *derived.numbers, *derived.counts]
        )

    def _counting(self) -> bool:
        if re.search(r"[$€£₽#№]\s?$", self.before):
            return False
        return bool(_COUNTING.search(self.before) or _COUNTED.match(self.reply, self.claim.end))

    def _next_stem(self) -> str:
        following = re.compile(r"[\s\u00a0]*([^\W\d_]+)").match(self.reply, self.claim.end)
        return stem(following.group(1)) if following else ""

    def _counted(self, value: Number) -> bool:
        """Accept what the reply itself counts: the items it lists, the first N of a list, the rest
        of it."""
        longest = self.evidence.derived.longest
        if longest is None or not isinstance(value, int) or value < 0:
            return False
        listed = _bullets(self.reply)
        if _MORE.match(self.reply, self.claim.end) or _MORE_BEFORE.search(self.before):
            wholes = self.evidence.derived.counts | {
                n for n in self.evidence.numbers.strong if isinstance(n, int)
            }
            return any(
                value == whole - listed or (not listed and 0 < whole - value <= 5)
                for whole in wholes
            )
        if value > longest:
            return False
        return bool(_SUBSET.search(self.before) or _NTH.match(self.reply, self.claim.end)) or (
            value == listed and not _COUNTING.search(self.before)
        )

    def _measured(self, value: Number, decimals: int) -> bool:
        """Accept an hour of a time, a day of a date, a size in another unit, a length of time
        between two moments."""
        if (
            isinstance(value, int)
            and 0 <= value <= 24
            and _HOUR_WORD.search(self.before)
            and set(dates.clock(value, 0, None)) & self.evidence.times
        ):
            return True
        if _NTH.match(self.reply, self.claim.end) and any(
            d == value for _, _, d in self.evidence.dates
        ):
            return True
        size = _BYTES.match(self.reply, self.claim.end)
        if size and size.lastindex:
            units = (1000**size.lastindex, 1024**size.lastindex)
            return any(
                rounds_to(exact / unit, value, decimals)
                for exact in self.evidence.numbers.exact
                if exact > 999
                for unit in units
            )
        span = _SPAN.match(self.reply, self.claim.end)
        if not span or not span.lastindex:
            return False
        spans = self.evidence.derived.spans
        if span.lastindex == 3 and _AND_MINUTES.match(self.reply, span.end()):
            return any(length // 60 == value for length in spans)
        if span.lastindex == 2 and _HOURS_AND.search(self.before):
            return any(length % 60 == value for length in spans)
        unit = _MINUTES[span.lastindex - 1]
        return any(rounds_to(length / unit, value, decimals) for length in spans)

    def _share(self, value: Number, decimals: int) -> bool:
        own = self.evidence.numbers
        if (
            value in own.strong
            or -value in own.strong
            or value in own.embedded
            or any(rounds_to(abs(n), value, decimals) for n in own.exact if isinstance(n, float))
        ):
            return True
        if any(rounds_to(n * 100, value, decimals) for n in own.exact if 0 < n <= 1):
            return True
        return any(
            rounds_to(100 * part / whole, value, decimals)
            for part, whole in self.evidence.derived.shares
            if whole
        )


@lru_cache(maxsize=8)
def _bullets(reply: str) -> int:
    return len(_BULLET.findall(reply))


def _nearly(exact: Number, shown: Number) -> bool:
    """Accept "about 40" for 36 and "about 150 000" for 154 320: rounded to one, two or three
    leading digits, from 20 up."""
    if exact < 20 or not isinstance(shown, int):
        return False
    size = len(str(int(exact)))
    return any(round(exact, kept - size) == shown for kept in range(1, min(4, size)))
