"""Markup in model output, in the vendors' formats (November 2026): elements (`<think>`,
`<tool_call>`, `<function=…>`), tokens (`<|im_end|>`, `<｜tool▁calls▁begin｜>`, `<|tool_call>`,
`[|endofturn|]`, `◁think▷`) and bracketed words (`[TOOL_CALLS]`), with a table of their meanings.
Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

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
    kind = _kind(_LIKE_TOKENS.get(shape, shape), plain)
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


def _kind(shape: str, name: str) -> Kind:
    return next(kind for pattern, kind in _KINDS[shape] if re.search(pattern, name))


def is_partial_mark(text: str, at: int) -> bool:
    """Whether the rest of the text is an incomplete mark."""
    return len(text) - at < MAX_MARK and bool(_PARTIAL.fullmatch(text, at))


def header_at(text: str, at: int) -> re.Match[str] | None:
    """The header of a channel that begins here, if any does."""
    found = _CHANNEL.match(text, at)
    return found if found and found.end() - at <= _MAX_HEADER else None


def is_partial_header(text: str, at: int) -> bool:
    """Whether the rest of the text is an incomplete channel header."""
    return len(text) - at < _MAX_HEADER and "<|message|>" not in text[at:]
