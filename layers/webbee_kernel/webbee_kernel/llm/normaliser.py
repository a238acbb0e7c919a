"""What a model says, as people should read it: without thoughts, special tokens and calls that were
written as text. Both adapters use it, streamed or whole; however a stream is cut, the result is the
same. Pure.

The text is read once from its beginning. Where markup may begin one of the readers below says what
stands there: so many characters that are shown, dropped, a thought or a call (True), or that more
has to come before it can be told (`None`); False says that nothing of its kind does. What waits is
looked at again when it has grown by a part of its length, so that the time stays linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from .markup import (
    LONGEST,
    STOP,
    THOUGHT_ENDS,
    Mark,
    header_at,
    is_cut_off,
    mark_at,
    may_become_a_header,
    may_become_a_mark,
)
from .protocol import ToolCall, ToolSpec
from .text_calls import Offered, calls_in

LONGEST_BLOCK: Final = 40_000
_WAITS: Final = 16
"""What waits is read again when it is longer by this part of itself."""
_KEPT: Final = 8_192
"""Characters that were read and may stay in memory."""

_NEXT: Final = re.compile(r"[<`◁\[\n]")
"""Where something other than text may begin."""
_INDENT: Final = re.compile(r"\S|\n")
_STRUCTURE: Final = re.compile(r"[\"'{}\[\]()\\]")
_NEXT_BLOCK: Final = re.compile(r"[ \t;,]*(?=[{\[])")
_WORD: Final = re.compile(r"[A-Za-z_][\w.\-]*")
_ARGUMENTS: Final = re.compile(r"\s{0,3}:?\s{0,3}(?P<opens>[({\[]|\Z)")
"""What may stand between a function's name and its arguments."""
_FENCE: Final = re.compile(r"(?P<ticks>```+)[ \t]*(?P<lang>[\w+.\-]*)[^\n]*\n")
_TICKS: Final = re.compile("`+")
_ROLE: Final = re.compile(r"[ \t]*(?P<who>\w*)")
_OTHERS: Final = ("user", "system", "tool", "human", "developer")
"""Whose turn ends the answer."""

_BARE: Final = ("assistantanalysis", "assistantcommentary", "analysis", "commentary", "to=")
_BARE_CHANNEL: Final = re.compile(r"(?:assistant)?(?:analysis|commentary)(?=[A-Z\s\"'(<]|to=)|to=")
_BARE_CALL: Final = re.compile(
    r"to=(?:functions\.)?(?P<name>[\w.\-]+)\s*(?:code|json)?\s*(?P<given>\{.*)", re.DOTALL
)
_TO: Final = re.compile(r"to=([\w.\-]+)")
_FINAL: Final = "assistantfinal"
"""Channels of gpt-oss as they stand where a server took their tokens away."""


@dataclass(slots=True)
class Normalised:
    """What was said. `calls` are those written as text; `unreadable` says that markup of a call
    was there of which nothing could be made, `thought` that it thought aloud, `orphan` that only
    the end of the thoughts said so."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    unreadable: bool = False
    thought: bool = False
    orphan: bool = False


@dataclass(slots=True)
class Normaliser:
    """An answer as far as it came, and how far it is read: `feed` returns what may be shown of it
    by now, `close` the rest and then all of it as `result`."""

    tools: Sequence[ToolSpec] = ()
    result: Normalised = field(default_factory=Normalised)
    offered: Offered = field(init=False)
    _raw: str = ""
    _at: int = 0
    _due: int = 0
    _shown: list[str] = field(default_factory=list)
    _space: str = ""
    _fresh: list[str] = field(default_factory=list)
    _calls: list[ToolCall] = field(default_factory=list)
    _line: bool = True
    _thinks: bool = False
    _over: bool = False

    def __post_init__(self) -> None:
        self.offered = Offered(self.tools)

    def feed(self, piece: str) -> str:
        """The next piece; what may be shown of the answer now."""
        if not self._over:
            self._raw += piece.replace("\0", "")
        if len(self._raw) >= self._due:
            self._read(final=False)
        return self._taken()

    def close(self) -> str:
        """The answer has ended: what is left to show."""
        self._read(final=True)
        rest = self._taken()
        self.result.text = "".join(self._shown)
        self.result.calls = tuple(self._calls)
        return rest

    def _taken(self) -> str:
        fresh, self._fresh = "".join(self._fresh), []
        return fresh

    def _read(self, *, final: bool) -> None:
        while self._at < len(self._raw) and not self._over:
            if not self._step(self._at, final):
                self._due = len(self._raw) + (len(self._raw) - self._at) // _WAITS
                return
            if self._at > _KEPT and self._at > len(self._raw) // 2:
                self._raw, self._at = self._raw[self._at :], 0

    def _step(self, at: int, final: bool) -> bool:
        """Read what stands here; False where more has to come first."""
        if self._thinks:
            return self._thought(at, final)
        for read in self._readers(self._raw[at]):
            done = read(at, final)
            if done is not False:
                return done is True
        self._plain(at)
        return True

    def _readers(self, sign: str) -> Sequence[Callable[[int, bool], bool | None]]:
        """What may begin with a sign, in the order in which it is tried."""
        if sign == "[" and self._line:
            return (self._mark, self._block)
        if sign in "<[◁":
            return (self._mark,)
        if sign == "`":
            return (self._fence, self._code) if self._line else (self._code,)
        if not self._line:
            return ()
        if sign == "{":
            return (self._block,)
        is_start = not self._shown and not self._calls
        return (self._bare_channel, self._named) if is_start else (self._named,)

    def _mark(self, at: int, final: bool) -> bool | None:
        if not final and may_become_a_mark(self._raw, at):
            return None
        if mark := mark_at(self._raw, at):
            return self._marked(at, mark, final)
        return self._drop(len(self._raw)) if final and is_cut_off(self._raw, at) else False

    def _marked(self, at: int, mark: Mark, final: bool) -> bool | None:
        match mark.kind:
            case "text":
                self._show(self._raw[at : mark.end])
            case "thought":
                return self._orphan(mark.end) if mark.is_end else self._think(mark.end)
            case "call" if not mark.is_end:
                return self._call(at, mark, final)
            case "channel":
                return self._channel(at, mark, final)
            case "turn":
                return self._role(mark.end, final)
            case "end" | "other" if self._end():
                return True
        return self._drop(mark.end)

    def _think(self, start: int) -> bool:
        self._thinks = self.result.thought = True
        return self._drop(start)

    def _thought(self, at: int, final: bool) -> bool:
        """Thoughts go as they come; they end with the answer where nothing else ends them."""
        found = THOUGHT_ENDS.search(self._raw, at)
        self._thinks = not (found or final)
        if found or final:
            return self._drop(found.end() if found else len(self._raw))
        self._at = max(at, len(self._raw) - LONGEST)
        return False

    def _orphan(self, end: int) -> bool:
        """Thoughts whose beginning was in the prompt: all before their end was one."""
        self.result.orphan |= bool(self._shown)
        self._shown.clear()
        self._fresh.clear()
        self._calls.clear()
        self._space = ""
        self._line = self.result.thought = True
        return self._drop(end)

    def _call(self, at: int, mark: Mark, final: bool) -> bool | None:
        """A call in markup of its own, which is never shown. Between tokens it stands at the end of
        an answer."""
        found = mark.closed_by.search(self._raw, mark.end)
        if not final and (found is None or mark.closed_by is STOP):
            return None
        until = found.end() if found else len(self._raw)
        end = len(self._raw) if mark.closed_by is STOP else until
        return self._take_calls(self._raw[at:until], end, marked=True)

    def _channel(self, at: int, mark: Mark, final: bool) -> bool | None:
        """A message of gpt-oss: thoughts, a call to whom it is addressed, or the answer."""
        head = header_at(self._raw, at)
        if head is None:
            waits = not final and may_become_a_header(self._raw, at)
            return None if waits else self._role(mark.end, final)
        said, end = head["head"].strip(), head.end()
        if to := _TO.search(said):
            return self._addressed(to[1], end, final)
        if said in _OTHERS:
            return self._end() or self._drop(end)
        return self._think(end) if said and "final" not in said else self._drop(end)

    def _addressed(self, name: str, start: int, final: bool) -> bool | None:
        stop = STOP.search(self._raw, start)
        if stop is None or not (stop.group() or final):
            return None
        body = self._raw[start : stop.start()].strip() or "{}"
        return self._take_calls(f"{name} {body}", stop.end(), marked=True)

    def _role(self, end: int, final: bool) -> bool | None:
        """Behind the token that begins a turn stands whose it is; another's ends the answer."""
        found = _ROLE.match(self._raw, end)
        if not found or (found.end() == len(self._raw) and not final):
            return None
        if found["who"].lower() in _OTHERS:
            return self._end() or self._drop(found.end())
        return self._drop(found.end() if found["who"].lower() in ("assistant", "model") else end)

    def _end(self) -> bool:
        """The model's turn is over: what follows is another's, made up."""
        self._over = bool(self._shown or self._calls)
        if self._over:
            self._at = len(self._raw)
        return self._over

    def _bare_channel(self, at: int, final: bool) -> bool | None:
        """Thoughts at the very beginning whose channel has lost its tokens: the answer stands
        behind them, or a call."""
        raw = self._raw
        begun = raw[at : at + 20]
        if not final and any(word.startswith(begun) for word in _BARE):
            return None
        if not _BARE_CHANNEL.match(raw, at):
            return False
        if not final:
            return None
        last = raw.rfind(_FINAL, at)
        if last >= 0:
            self.result.thought = True
            return self._drop(last + len(_FINAL))
        if call := _BARE_CALL.search(raw, at):
            region = f"{call['name']} {call['given']}"
            return self._take_calls(region, len(raw), marked=True)
        return False

    def _code(self, at: int, final: bool) -> bool | None:
        """Code within a line, as it is."""
        raw, run = self._raw, _TICKS.match(self._raw, at)
        assert run
        line = raw.find("\n", at)
        end = raw.find(run.group(), run.end(), line if line >= 0 else len(raw))
        end = -1 if end - at >= LONGEST_BLOCK else end
        is_known = line >= 0 or (end >= 0 and run.end() < len(raw))
        if not final and not is_known and len(raw) - at < LONGEST_BLOCK:
            return None
        end = end + len(run.group()) if end >= 0 else run.end()
        self._show(raw[at:end])
        return self._drop(end)

    def _fence(self, at: int, final: bool) -> bool | None:
        """A block of code: a call where that is all it holds, else shown as it is."""
        raw, opening = self._raw, _FENCE.match(self._raw, at)
        if opening is None:  # its first line may yet come
            opens = re.compile("`{3}[^\n]*|`{1,2}").fullmatch(raw, at)
            return None if opens and not final else False
        close = re.compile(rf"^[ \t]*{opening['ticks']}[ \t]*$", re.M).search(raw, opening.end())
        until, end = close.span() if close else (len(raw), len(raw))
        if not final and end == len(raw):
            return None  # the line may go on
        marked = opening["lang"] in ("tool_code", "tool_call")
        inside = raw[opening.end() : until]
        if (self.offered or marked) and self._take_calls(inside, end, marked=marked):
            return True
        self._show(raw[at:end])
        return self._drop(end)

    def _named(self, at: int, final: bool) -> bool | None:
        """A paragraph that begins with the name of an offered function, and its arguments."""
        word = _WORD.match(self._raw, at) if self.offered else None
        if word is None:
            return False
        if word.end() == len(self._raw):
            return False if final else None
        begins = _ARGUMENTS.match(self._raw, word.end())
        is_name = word.group() == "functools" or self.offered.find(word.group())
        if begins is None or not is_name:
            return False
        if not begins["opens"]:
            return False if final else None
        return self._block(at, final)

    def _block(self, at: int, final: bool) -> bool | None:
        """JSON or an expression that begins a line: a call where nothing else stands beside it."""
        if not self.offered:
            return False
        raw, end = self._raw, blocks_end(self._raw, at)
        if (end or len(raw)) - at >= LONGEST_BLOCK:
            return False
        if end is None and not final:
            return None
        end = len(raw) if end is None else end
        behind = len(raw) - len(raw[end:].lstrip(" \t;,"))
        if behind == len(raw) and not final:
            return None
        if raw[behind : behind + 1] not in ("", "\n", "\r", "<", "[", "`"):
            return False
        return self._take_calls(raw[at:end], behind, marked=False)

    def _take_calls(self, region: str, end: int, *, marked: bool) -> bool:
        """The region as calls; in a call's own markup it is never shown."""
        found = calls_in(region, self.offered, marked=marked)
        if not found and not marked:
            return False
        self._calls += [c for n, c in enumerate(found) if c not in [*self._calls, *found[:n]]]
        self.result.unreadable |= not found
        self._line = True
        return self._drop(end)

    def _plain(self, at: int) -> None:
        """Text up to where markup may begin next: white space at a line's beginning alone."""
        is_indent = self._line and self._raw[at].isspace()
        found = (_INDENT if is_indent else _NEXT).search(self._raw, at + 1)
        end = found.start() if found else len(self._raw)
        line = self._raw.find("\n", at, end)
        end = line + 1 if line >= 0 else end
        self._show(self._raw[at:end])
        self._at = end

    def _show(self, text: str) -> None:
        """Show text. White space waits for what follows it: none stands at either end."""
        last = text.rfind("\n")
        self._line = not text[last + 1 :].strip() and (last >= 0 or self._line)
        if self._calls:  # what is said behind a call makes up what came of it
            text = "\n"
        tail = text.rstrip()
        if tail:
            out = (self._space if self._shown else "") + (tail if self._shown else tail.lstrip())
            self._shown.append(out)
            self._fresh.append(out)
            self._space = text[len(tail) :]
        else:
            self._space += text

    def _drop(self, end: int) -> bool:
        self._at = end
        return True


def blocks_end(text: str, at: int) -> int | None:
    """Where the blocks in brackets end that follow each other here; None where one has no end."""
    end = balanced(text, at)
    while end is not None and (more := _NEXT_BLOCK.match(text, end)):
        end = balanced(text, more.end())
    return end


def balanced(text: str, at: int) -> int | None:
    """Where the brackets that open at or behind `at` are closed; None where they are not."""
    depth, quote, place = 0, "", at
    while found := _STRUCTURE.search(text, place):
        sign, place = found.group(), found.end()
        if sign == "\\":
            place += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            is_apostrophe = sign == "'" and text[place - 2 : place - 1].isalnum()
            quote = "" if is_apostrophe else sign
        elif sign in "{[(":
            depth += 1
        else:
            depth -= 1
            if depth <= 0:
                return place
    return None
