"""The text of an answer while it is read: what is shown, dropped, a thought or a call; and the
markup in it as patterns: how thoughts, calls, special tokens, fences and turns begin and end in the
vendors' own formats. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from .protocol import ToolCall, ToolSpec
from .text_calls import Offered, calls_in

LONGEST_TAG: Final = 200
LONGEST_BLOCK: Final = 40_000
LONGEST_HEAD: Final = 400
"""Characters of a channel's header."""
LEAST_HEAD: Final = 12
"""Characters behind a token that say what it opens."""

THINKS: Final = re.compile(
    r"think|thought|reasoning|reflect|scratch|monolog|analys|\bcot\b|deliberat|inner_|ponder", re.I
)
CALLS: Final = re.compile(
    r"tool|function|invoke|plugin|action_start|start_action|python_tag|^calls?$", re.I
)
ENDS: Final = re.compile(
    r"(?:^|[_▁/])(?:end|eot|eos|eom|eod|eop|eou|return|stop)(?:$|[_▁])|^im_end$|endoftext|^end",
    re.I,
)
TURN: Final = re.compile(
    r"^(?:im_start|start_header_id|start|begin|start_of_turn|start_of_role|from)$", re.I
)
TAG: Final = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z_][\w:.\-]*)(?P<rest>(?:=|\s)[^<>]*)?\s*/?>"
)
THOUGHT_TOKEN_ENDS: Final = re.compile(
    r"<[|｜][^<>]*?(?:end|/|close|suffix)[^<>]*?(?:think|thought|reason|inner)?[^<>]*?[|｜]>"
    r"|</?[|｜]?(?:think|thought)\w*[|｜]>",
    re.I,
)
TOKEN: Final = re.compile(
    r"<[|｜](?P<name>[^<>|｜\n]{1,64})[|｜]?>|<(?P<tail>[\w▁ ]{1,64})[|｜]>"
    r"|\[\|(?P<square>/?\w{1,40})\|\]"
)
OTHERS: Final = re.compile(r"(?:user|system|human|developer|observation)", re.I)
VENDOR: Final = re.compile(r"(?P<begin></?)[|｜]\w{1,16}[|｜](?=[A-Za-z_])")
OLD: Final = re.compile(r"<</?SYS>>|<0x[0-9A-Fa-f]{2}>")
WORD_TOKENS: Final = re.compile(
    r"/?(?:s|bos|eos|pad|unk|mask|sep|cls|sop|eop|eod|eot|eou|unused\d+|extra_id_\d+|reserved\w*|"
    r"special_\d+|\w+_token|(?:start|begin|end)_of_\w+)",
    re.I,
)
WRAPS: Final = re.compile(
    r"answer|final|final_answer|response|reply|solution|assistant|output", re.I
)
BRACKET: Final = re.compile(r"\[(?P<close>/?)(?P<name>[A-Za-z]?[A-Z][A-Z_]{1,30})\]")
BRACKET_TOKENS: Final = frozenset(
    {"INST", "SYS", "BOS", "EOS", "PAD", "UNK", "SEP", "CLS", "MASK", "gMASK", "sMASK", "ARGS",
     "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "IMG"}
)  # fmt: skip
ROLE: Final = re.compile(
    r"[ \t]*(?:assistant|model|bot|ai)?[ \t]*(?:<\|(?:end_header_id|end_of_role)\|>)?", re.I
)
CHANNEL: Final = re.compile(
    r"(?:<\|channel\|>)?\s*(?P<name>\w+)(?P<to>[^<]*(?:<\|constrain\|>[^<]*)?)<\|message\|>"
)
CHANNEL_ENDS: Final = re.compile(r"<\|(?:end|call|return|start|channel|im_end)\|>")
STRIPPED: Final = re.compile(
    r"(?:assistant)?(?P<channel>analysis|commentary)(?=[A-Z\s\"'(<]|to=)|assistantfinal"
)
ARGUMENTS: Final = re.compile(r"\s{0,3}:?\s{0,3}(?=[({\[])")
"""What may stand between a function's name and its arguments."""
FENCE: Final = re.compile(r"(?P<ticks>```+|~~~+)[ \t]*(?P<lang>[\w+.\-]*)[^\n]*\n")
FINAL: Final = re.compile(r"\[(?P<edge>BEGIN|END) FINAL RESPONSE\]")
SPOKEN: Final = (
    ("Here is my thought process:", "Here is my response:", True),
    ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", True),
    ("Thinking...\n", "...done thinking.", False),
    ("**Thinking...**\n", "...done thinking.", False),
)
"""How thoughts in plain words begin and end, and whether they are ones without their end."""

BEGINS: Final = re.compile(r"\**(?:Action|Thought|Final(?: \w*)?|✿FUNCTION✿)[ \t*]*")
REACT: Final = re.compile(r"[*]*(?:Action|Thought|Final Answer|✿FUNCTION✿)[ \t*]*:|functools\[")

NEXT: Final = re.compile(r"[<`◁\[\n]")
_INDENT: Final = re.compile(r"\S|\n")
STRUCTURE: Final = re.compile(r"[\"'{}\[\]()\\]")


def is_thought(tag: re.Match[str]) -> bool:
    """Whether an element of another name says that it holds thoughts: `<details type="reasoning">`,
    as front ends fold them."""
    rest = re.search(r"""\b(?:type|class)=["']?([\w-]+)""", tag["rest"] or "")
    return bool(rest and THINKS.search(rest[1]))


def _is_apostrophe(text: str, at: int) -> bool:
    return text[at] == "'" and text[at - 1 : at].isalnum()


def balanced(text: str, at: int) -> int | None:
    """Where the brackets that open at or behind `at` are closed; None where they are not."""
    depth, quote, place = 0, "", at
    while found := STRUCTURE.search(text, place):
        sign, place = found.group(), found.end()
        if sign == "\\":
            place += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = "" if _is_apostrophe(text, found.start()) else sign
        elif sign in "{[(":
            depth += 1
        elif sign in "}])":
            depth -= 1
            if depth <= 0:
                return place
    return None


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
    """An answer as far as it came, and how far it is read: `feed` returns what may be shown of it
    by now, `close` the rest and then all of it as `result`.

    Readers of markup move on in it with one of the methods below, which return True; None says that
    more has to come first.
    """

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

    def feed(self, piece: str) -> str:
        """The next piece; what may be shown of the answer now."""
        if self._over:
            return ""
        self._raw += piece.replace("\0", "")
        self._read(final=False)
        return self._taken()

    def close(self) -> str:
        """The answer has ended: what is left to show."""
        if not self._over:
            self._read(final=True)
        rest = self._taken()
        self.result.text = "".join(self._shown)
        self.result.calls = tuple(self._calls)
        return rest

    def _taken(self) -> str:
        fresh, self._fresh = "".join(self._fresh), []
        return fresh

    def _read(self, *, final: bool) -> None:
        while self._at < len(self._raw) and not self._over and self._step(final):
            if self._at > 8_192 and self._at > len(self._raw) // 2:  # what was read need not stay
                self._raw, self._at = self._raw[self._at :], 0

    def _step(self, final: bool) -> bool:
        """Read what stands here; False where more has to come first."""
        raise NotImplementedError

    def _plain(self, at: int) -> None:
        """Text up to where markup may begin next: white space at a line's beginning alone."""
        found = (_INDENT if self._line and self._raw[at].isspace() else NEXT).search(
            self._raw, at + 1
        )
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
