"""The markup of models' answers as patterns: how thoughts, calls, special tokens, fences and turns
begin and end in the vendors' own formats. Pure."""

from __future__ import annotations

import re
from typing import Final

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
STRUCTURE: Final = re.compile(r"[\"'{}\[\]()\\]")


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
