"""The text of an answer while it is read: what is shown, dropped, a thought or a call. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .markup import NEXT
from .protocol import ToolCall, ToolSpec
from .text_calls import Offered, calls_in


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
class AnswerText:
    """An answer as far as it came, and how far it is read. Readers of markup move on in it with one
    of the methods below, which return True; None says that more has to come first."""

    tools: Sequence[ToolSpec] = ()
    result: Normalised = field(default_factory=Normalised)
    offered: Offered = field(init=False)
    _raw: str = ""
    _at: int = 0
    _shown: list[str] = field(default_factory=list)
    _space: str = ""
    _fresh: list[str] = field(default_factory=list)
    _calls: list[ToolCall] = field(default_factory=list)
    _line: bool = True
    _over: bool = False

    def __post_init__(self) -> None:
        self.offered = Offered(self.tools)

    def _plain(self, at: int) -> None:
        """Text up to where markup may begin next."""
        found = NEXT.search(self._raw, at + 1)
        end = found.start() if found else len(self._raw)
        line = self._raw.find("\n", at, end)
        if line >= 0:
            end = line + 1
        self._show(self._raw[at:end])
        self._at = end

    def _show(self, text: str) -> None:
        """Show text. White space waits for what follows it: none stands at either end."""
        if not text:
            return
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
        last = text.rfind("\n")
        self._line = not text[last + 1 :].strip() and (last >= 0 or self._line)

    def _drop(self, end: int) -> bool:
        self._at = end
        return True

    def _end(self) -> bool:
        """The model's turn is over: what follows is another's, made up."""
        self._over = bool(self._shown or self._calls)
        if self._over:
            self._at = len(self._raw)
        return self._over

    def _take_calls(self, region: str, end: int, *, marked: bool) -> bool:
        """The region as calls; in a call's own markup it is never shown."""
        found = calls_in(region, self.offered, marked=marked)
        if not found and not marked:
            return False
        for call in found:
            if call not in self._calls:
                self._calls.append(call)
        self.result.unreadable |= not found
        self._line = True
        return self._drop(end)

    def _orphan(self, end: int) -> bool:
        """Thoughts whose beginning was in the prompt: all before their end was one."""
        self.result.orphan |= bool(self._shown)
        self._shown.clear()
        self._fresh.clear()
        self._calls.clear()
        self._space = ""
        self._line = True
        self.result.thought = True
        return self._drop(end)

    def _thought(self, start: int, close: re.Pattern[str], final: bool) -> bool | None:
        found = close.search(self._raw, start)
        if found is None and not final:
            return None
        self.result.thought = True
        return self._drop(found.end() if found else len(self._raw))
