"""Cleans model output of reasoning, special tokens and calls written as text. Used by both
adapters, streamed or whole; the result does not depend on how the stream is split. Pure.

Markup is in the vendors' formats (November 2026): elements (`<think>`, `<tool_call>`,
`<function=…>`), tokens (`<|im_end|>`, `<｜tool▁calls▁begin｜>`, `<|tool_call>`, `[|endofturn|]`,
`◁think▷`) and bracketed words (`[TOOL_CALLS]`); a table has their meanings.

The text is read once from its beginning. Where markup may begin, readers are tried: True means
handled, None that more input is needed, False that it is not of their kind. After None, reading
resumes when the rest has grown by a sixteenth, so that the time stays linear."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from .protocol import ToolCall, ToolSpec
from .text_calls import ToolIndex, calls_in, end_of_blocks

MAX_MARK: Final = 200
"""Maximum characters of a mark; it is on one line."""

Kind = Literal["thought", "call", "channel", "turn", "other", "end", "drop", "text"]
"""`thought` and `call` begin or end a region; `channel` is a gpt-oss header; `turn` is followed by
a role; `other` begins another role's turn; `end` ends this one; `drop` is removed, `text` kept."""

THINKS: Final = r"think|thought|reasoning|reflect|scratch|monolog|analys|\bcot\b|inner_"
_CALLS: Final = r"tool|function|invoke|plugin|action_start|start_action|^/?calls?$"

_KINDS: Final[dict[str, tuple[tuple[str, Kind], ...]]] = {
    "element": (
        (_CALLS, "call"),
        (THINKS, "thought"),
        (r"^unused9[45]$", "thought"),  # MedGemma
        (r"^/s$|^end_of_\w+$|^eo[stdpu]$", "end"),
        (r"^start_of_(?:turn|role)$", "turn"),
        (r"^(?:s|bos|pad|unk|sop|unused\d+|special_\d+|(?:start|begin)_of_\w+)$", "drop"),
        (r"^/?(?:answer|final_answer|response|solution|assistant|output)$", "drop"),
        ("", "text"),
    ),
    "token": (
        (r"^(?:channel|start)$", "channel"),
        (rf"{THINKS}|^/channel$", "thought"),  # Gemma 4
        (r"python_tag|" + _CALLS, "call"),
        (r"^/?(?:user|system|human|developer|observation)$", "other"),
        (r"^(?:im_start|start_header_id|begin|start_of_turn|start_of_role|turn)$", "turn"),
        (r"(?:^|[_/])(?:end|eot|eos|eom|eod|return|stop|call)(?:$|_)|endof|^/turn$", "end"),
        ("", "drop"),
    ),
    "bracket": (
        (r"^/?(?:think|begin_final_response)$", "thought"),
        (r"^/?(?:end_)?tool(?:_\w+)?$", "call"),
        (r"^end_final_response$|^eos$|^e~$", "end"),
        (r"^inst$", "other"),
        (r"^/?(?:inst|bos|args|available_tools|system_prompt|gmask)$", "drop"),
        ("", "text"),
    ),
}
"""Shape of a mark → (pattern of its name, kind); the first match counts."""

_LIKE_TOKENS: Final = dict.fromkeys(("tail", "square", "diamond"), "token")
_MARK: Final = re.compile(
    r"<(?P<element>/?(?:[|｜]\w{1,16}[|｜])?[A-Za-z_][\w:.\-]*)(?:(?:=|[ \t])[^<>\n]*)?/?>"
    r"|<[|｜](?P<token>[^<>|｜\n]{1,64})[|｜]?>|<(?P<tail>[A-Za-z_][\w▁ ]{0,63})[|｜]>"
    r"|\[\|(?P<square>/?\w{1,40})\|\]|◁(?P<diamond>/?\w{1,20})▷"
    r"|\[(?P<bracket>/?[A-Za-z]?[A-Z][A-Z_ ]{1,30}|e~(?=\[))[\]\[]"
)
_PARTIAL: Final = re.compile(
    r"<(?:[/|｜A-Za-z_][^<>\n]{0,198})?"
    r"|\[(?:\|/?\w{0,40}\|?|/?[A-Za-z]?[A-Z_ ]{0,31}|e~)?|◁/?\w{0,20}"
)
_VENDOR: Final = re.compile(r"[|｜]\w{1,16}[|｜]")
_ENDS: Final = re.compile(r"^/|(?:^|_)(?:end|close)(?:_|$)|^begin_final|^unused95$")

THOUGHT_ENDS: Final = re.compile(
    rf"</[\w:.\-]*(?:{THINKS})[\w:.\-]*\s*>|\[/THINK\]|◁/\w+▷|<unused95>|<channel\|>"
    r"|<[|｜](?:/\w*|end\w*|\w+_end|return|call)[|｜]>|(?=<\|(?:start|channel)\|>)",
    re.I,
)
"""The end of reasoning, however it began."""
STOP: Final = re.compile(r"<\|(?:im_end|eot_id|eom_id|end|endoftext|return|call)\|>|<turn\|>|\Z")
"""The end of calls between tokens."""
_CHANNEL: Final = re.compile(
    r"<\|(?:start|channel)\|>\s*(?:assistant)?(?P<head>[^<]{0,200}(?:<\|(?:channel|constrain)\|>"
    r"[^<]{0,200}){0,2})<\|message\|>"
)
"""The header of a gpt-oss message: recipient, channel and format."""
_MAX_HEADER: Final = 400


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark in a text and its end. `is_end`: it closes a region; `end_pattern` matches the end of
    a call that it opens."""

    kind: Kind
    is_end: bool
    end: int
    end_pattern: re.Pattern[str] = STOP


def mark_at(text: str, at: int) -> Mark | None:
    """The mark that begins here, if any does."""
    found = _MARK.match(text, at)
    if found is None or found.end() - at > MAX_MARK:
        return None
    shape, name = str(found.lastgroup), found.group(str(found.lastgroup))
    plain = re.sub("[▁ ]", "_", _VENDOR.sub("", name.strip().lower()))
    if shape == "tail":  # of Gemma 4: <|channel> opens, <channel|> closes
        plain = f"/{plain}"
    kinds = _KINDS[_LIKE_TOKENS.get(shape, shape)]
    kind = next(kind for pattern, kind in kinds if re.search(pattern, plain))
    if found.group() == "<|channel>":
        kind = "thought"
    if kind == "drop" and shape == "element" and re.search(r"[=\s]", found.group()):
        kind = "text"
    end_pattern = STOP
    if shape == "element":
        end_pattern = re.compile(rf"</{re.escape(name)}\s*>", re.I)
    elif shape == "bracket":
        end_pattern = re.compile(rf"\[(?:/|END_){re.escape(name)}\]")
    return Mark(kind, bool(_ENDS.search(plain)), found.end(), end_pattern)


MAX_BLOCK: Final = 40_000
_RETRY_PART: Final = 16
"""Waiting input is read again when it has grown by this fraction."""

_NEXT: Final = re.compile(r"[<`◁\[\n]")
"""Characters that may begin markup."""
_INDENT: Final = re.compile(r"\S|\n")
_WORD: Final = re.compile(r"[A-Za-z_][\w.\-]*")
_ARGUMENTS: Final = re.compile(r"\s{0,3}:?\s{0,3}(?P<opens>[({\[]|\Z)")
"""What may stand between a function's name and its arguments."""
_FENCE: Final = re.compile(r"(?P<ticks>```+)[ \t]*(?P<lang>[\w+.\-]*)[^\n]*\n")
_TICKS: Final = re.compile("`+")
_ROLE: Final = re.compile(r"[ \t]*(?P<who>\w*)")
_OTHER_ROLES: Final = ("user", "system", "tool", "human", "developer")
"""Roles whose turn ends the answer."""

_BARE: Final = ("assistantanalysis", "assistantcommentary", "analysis", "commentary", "to=")
_BARE_CHANNEL: Final = re.compile(r"(?:assistant)?(?:analysis|commentary)(?=[A-Z\s\"'(<]|to=)|to=")
_BARE_CALL: Final = re.compile(
    r"to=(?:functions\.)?(?P<name>[\w.\-]+)\s*(?:code|json)?\s*(?P<given>\{.*)", re.DOTALL
)
_TO: Final = re.compile(r"to=([\w.\-]+)")
_FINAL: Final = "assistantfinal"
"""gpt-oss channels where the server stripped their tokens."""


class Normaliser:
    """A streaming reader: `feed` returns the text that may be shown so far, `close` ends the answer
    and returns all of it.

    `calls` are those written as text. `has_unreadable_call`: call markup could not be parsed;
    `is_orphan`: reasoning was marked only at its end.
    """

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self.tool_index = ToolIndex(tools)
        self.calls: list[ToolCall] = []
        self.has_unreadable_call = self.has_thoughts = self.is_orphan = False
        self._raw, self._at, self._next_read = "", 0, 0
        self._output: list[str] = []
        self._pending: list[str] = []
        self._space = ""
        self._at_line_start = True
        self._is_thinking = self._is_over = False

    def feed(self, piece: str) -> str:
        """Read the next piece; returns text that may be shown."""
        if not self._is_over:
            self._raw += piece.replace("\0", "")
        if len(self._raw) >= self._next_read:
            self._read(final=False)
        fresh, self._pending = "".join(self._pending), []
        return fresh

    def close(self) -> str:
        """The end of the answer; returns its whole text."""
        self._read(final=True)
        return "".join(self._output)

    def _read(self, *, final: bool) -> None:
        while self._at < len(self._raw) and not self._is_over:
            if not self._step(self._at, final):
                self._next_read = len(self._raw) + (len(self._raw) - self._at) // _RETRY_PART
                return

    def _step(self, at: int, final: bool) -> bool:
        """Read at this position; False if more input is needed."""
        if self._is_thinking:
            return self._thought(at, final)
        for read in self._readers(self._raw[at]):
            done = read(at, final)
            if done is not False:
                return done is True
        self._read_text(at)
        return True

    def _readers(self, sign: str) -> Sequence[Callable[[int, bool], bool | None]]:
        """The readers for a character, in the order in which they are tried."""
        if sign == "[" and self._at_line_start:
            return (self._mark, self._block)
        if sign in "<[◁":
            return (self._mark,)
        if sign == "`":
            return (self._fence, self._code) if self._at_line_start else (self._code,)
        if not self._at_line_start:
            return ()
        if sign == "{":
            return (self._block,)
        is_start = not self._output and not self.calls
        return (self._bare_channel, self._named_call) if is_start else (self._named_call,)

    def _mark(self, at: int, final: bool) -> bool | None:
        is_short = len(self._raw) - at < MAX_MARK
        if not final and is_short and _PARTIAL.fullmatch(self._raw, at):
            return None
        mark = mark_at(self._raw, at)
        return self._handle_mark(at, mark, final) if mark else False

    def _handle_mark(self, at: int, mark: Mark, final: bool) -> bool | None:
        match mark.kind:
            case "text":
                self._show(self._raw[at : mark.end])
            case "thought":
                return self._drop_earlier(mark.end) if mark.is_end else self._think(mark.end)
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
        self._is_thinking = self.has_thoughts = True
        return self._drop(start)

    def _thought(self, at: int, final: bool) -> bool:
        """Drop reasoning up to its end mark, or to the end of the answer."""
        found = THOUGHT_ENDS.search(self._raw, at)
        self._is_thinking = not (found or final)
        if found or final:
            return self._drop(found.end() if found else len(self._raw))
        self._at = max(at, len(self._raw) - MAX_MARK)
        return False

    def _drop_earlier(self, end: int) -> bool:
        """Reasoning whose start mark was in the prompt: drop all text before its end."""
        self.is_orphan |= bool(self._output)
        self._output.clear()
        self._pending.clear()
        self.calls.clear()
        self._space = ""
        self._at_line_start = self.has_thoughts = True
        return self._drop(end)

    def _call(self, at: int, mark: Mark, final: bool) -> bool | None:
        """A call in markup, which is never shown; between tokens up to the answer's end."""
        found = mark.end_pattern.search(self._raw, mark.end)
        if not final and (found is None or mark.end_pattern is STOP):
            return None
        until = found.end() if found else len(self._raw)
        end = len(self._raw) if mark.end_pattern is STOP else until
        return self._take_calls(self._raw[at:until], end, is_marked=True)

    def _channel(self, at: int, mark: Mark, final: bool) -> bool | None:
        """A gpt-oss message: reasoning, a call to its recipient, or the answer."""
        raw, head = self._raw, _CHANNEL.match(self._raw, at)
        if head is None or head.end() - at > _MAX_HEADER:
            is_partial = len(raw) - at < _MAX_HEADER and "<|message|>" not in raw[at:]
            return None if is_partial and not final else self._role(mark.end, final)
        channel, end = head["head"].strip(), head.end()
        if to := _TO.search(channel):
            return self._tool_message(to[1], end, final)
        return self._think(end) if channel and "final" not in channel else self._drop(end)

    def _tool_message(self, name: str, start: int, final: bool) -> bool | None:
        stop = STOP.search(self._raw, start)
        if stop is None or not (stop.group() or final):
            return None
        body = self._raw[start : stop.start()].strip() or "{}"
        return self._take_calls(f"{name} {body}", stop.end(), is_marked=True)

    def _role(self, end: int, final: bool) -> bool | None:
        """The role after a turn token; another role's turn ends the answer."""
        found = _ROLE.match(self._raw, end)
        if not found or (found.end() == len(self._raw) and not final):
            return None
        if found["who"].lower() in _OTHER_ROLES:
            return self._end() or self._drop(found.end())
        return self._drop(found.end() if found["who"].lower() in ("assistant", "model") else end)

    def _end(self) -> bool:
        """End the answer: what follows is an invented turn of another role."""
        self._is_over = bool(self._output or self.calls)
        if self._is_over:
            self._at = len(self._raw)
        return self._is_over

    def _bare_channel(self, at: int, final: bool) -> bool | None:
        """Reasoning at the beginning whose channel tokens were stripped, followed by the answer or
        a call."""
        raw = self._raw
        beginning = raw[at : at + 20]
        if not final and any(word.startswith(beginning) for word in _BARE):
            return None
        if not _BARE_CHANNEL.match(raw, at):
            return False
        if not final:
            return None
        last = raw.rfind(_FINAL, at)
        if last >= 0:
            self.has_thoughts = True
            return self._drop(last + len(_FINAL))
        if call := _BARE_CALL.search(raw, at):
            region = f"{call['name']} {call['given']}"
            return self._take_calls(region, len(raw), is_marked=True)
        return False

    def _code(self, at: int, final: bool) -> bool | None:
        """Inline code, unchanged."""
        raw, run = self._raw, _TICKS.match(self._raw, at)
        assert run
        line = raw.find("\n", at)
        end = raw.find(run.group(), run.end(), line if line >= 0 else len(raw))
        is_known = line >= 0 or (end >= 0 and run.end() < len(raw))
        if not final and not is_known:
            return None
        end = end + len(run.group()) if end >= 0 else run.end()
        self._show(raw[at:end])
        return self._drop(end)

    def _fence(self, at: int, final: bool) -> bool | None:
        """A code block: a call if it holds nothing else, otherwise unchanged."""
        raw, opening = self._raw, _FENCE.match(self._raw, at)
        if opening is None:  # its first line may yet come
            opens = re.compile("`{3}[^\n]*|`{1,2}").fullmatch(raw, at)
            return None if opens and not final else False
        close = re.compile(rf"^[ \t]*{opening['ticks']}[ \t]*$", re.M).search(raw, opening.end())
        until, end = close.span() if close else (len(raw), len(raw))
        if not final and end == len(raw):
            return None  # the line may go on
        is_marked = opening["lang"] in ("tool_code", "tool_call")
        inside = raw[opening.end() : until]
        if (self.tool_index or is_marked) and self._take_calls(inside, end, is_marked=is_marked):
            return True
        self._show(raw[at:end])
        return self._drop(end)

    def _named_call(self, at: int, final: bool) -> bool | None:
        """A paragraph that begins with a tool's name and arguments."""
        word = _WORD.match(self._raw, at) if self.tool_index else None
        if word is None:
            return False
        if word.end() == len(self._raw):
            return False if final else None
        begins = _ARGUMENTS.match(self._raw, word.end())
        name = word.group()
        if begins is None or not (name == "functools" or self.tool_index.find(name)):
            return False
        if not begins["opens"]:
            return False if final else None
        return self._block(at, final)

    def _block(self, at: int, final: bool) -> bool | None:
        """JSON or an expression at the start of a line: a call if nothing else follows it."""
        if not self.tool_index:
            return False
        raw, end = self._raw, end_of_blocks(self._raw, at)
        if (end or len(raw)) - at >= MAX_BLOCK:
            return False
        if end is None and not final:
            return None
        end = len(raw) if end is None else end
        behind = len(raw) - len(raw[end:].lstrip(" \t;,"))
        if behind == len(raw) and not final:
            return None
        if raw[behind : behind + 1] not in ("", "\n", "\r", "<", "[", "`"):
            return False
        return self._take_calls(raw[at:end], behind, is_marked=False)

    def _take_calls(self, region: str, end: int, *, is_marked: bool) -> bool:
        """Take the region as calls; in call markup it is never shown."""
        found = calls_in(region, self.tool_index, is_marked=is_marked)
        if not found and not is_marked:
            return False
        self.calls += [c for n, c in enumerate(found) if c not in [*self.calls, *found[:n]]]
        self.has_unreadable_call |= not found
        self._at_line_start = True
        return self._drop(end)

    def _read_text(self, at: int) -> None:
        """Show text up to the next possible markup; indentation is read separately."""
        is_indent = self._at_line_start and self._raw[at].isspace()
        found = (_INDENT if is_indent else _NEXT).search(self._raw, at + 1)
        end = found.start() if found else len(self._raw)
        line = self._raw.find("\n", at, end)
        end = line + 1 if line >= 0 else end
        self._show(self._raw[at:end])
        self._at = end

    def _show(self, text: str) -> None:
        """Show text. White space is held back until text follows, so that the result is trimmed."""
        last = text.rfind("\n")
        self._at_line_start = not text[last + 1 :].strip() and (last >= 0 or self._at_line_start)
        if self.calls:  # what is said behind a call makes up what came of it
            text = "\n"
        tail = text.rstrip()
        if tail:
            out = (self._space if self._output else "") + (tail if self._output else tail.lstrip())
            self._output.append(out)
            self._pending.append(out)
            self._space = text[len(tail) :]
        else:
            self._space += text

    def _drop(self, end: int) -> bool:
        self._at = end
        return True
