"""What a model says, as people should read it: without thoughts, special tokens and calls that were
written as text. Both adapters use it, streamed or whole; however a stream is cut, the result is the
same. Pure.

The text is read once from its beginning. At each place where markup may begin one of the readers
below says what stands there: so many characters that are shown, dropped, a thought or a call, or
that more has to come before it can be told (`None`). Code between backticks is shown as it is.

Families (the vendors' own formats, November 2026): elements (`<think>`, `<tool_call>`,
`<function=…>`), tokens (`<|im_end|>`, `<｜tool▁calls▁begin｜>`, `<|tool_call>`), capital words in
brackets (`[TOOL_CALLS]`, `[THINK]`), channels (`<|channel|>analysis<|message|>`), fences, lines
(`Action:`), and JSON or an expression that is a paragraph of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from .protocol import ToolCall, ToolSpec
from .text_calls import Offered, calls_in

LONGEST_TAG: Final = 200
LONGEST_BLOCK: Final = 40_000
LEAST_HEAD: Final = 12
"""Characters behind a token that say what it opens."""

_THINKS: Final = re.compile(
    r"think|thought|reasoning|reflect|scratch|monolog|analys|\bcot\b|deliberat|inner_|ponder", re.I
)
_CALLS: Final = re.compile(
    r"tool|function|invoke|plugin|action_start|start_action|python_tag", re.I
)
_ENDS: Final = re.compile(
    r"(?:^|[_▁/])(?:end|eot|eos|eom|eod|eop|eou|return|stop)(?:$|[_▁])|^im_end$|endoftext|^end",
    re.I,
)
_TURN: Final = re.compile(
    r"^(?:im_start|start_header_id|start|begin|start_of_turn|start_of_role)$", re.I
)
_TAG: Final = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z_][\w:.\-]*)(?P<rest>(?:=|\s)[^<>]*)?\s*/?>"
)
_TOKEN: Final = re.compile(r"<[|｜](?P<name>[^<>|｜\n]{1,64})[|｜]?>|<(?P<tail>[\w▁ ]{1,64})[|｜]>")
_OTHERS: Final = re.compile(r"(?:user|system|human|developer|observation)", re.I)
_VENDOR: Final = re.compile(r"(?P<begin></?)[|｜]\w{1,16}[|｜](?=[A-Za-z_])")
_OLD: Final = re.compile(r"<</?SYS>>|<0x[0-9A-Fa-f]{2}>")
_WORD_TOKENS: Final = re.compile(
    r"/?(?:s|bos|eos|pad|unk|mask|sep|cls|sop|eop|eod|eot|eou|unused\d+|extra_id_\d+|reserved\w*|"
    r"\w+_token|(?:start|begin|end)_of_\w+)",
    re.I,
)
_WRAPS: Final = re.compile(r"answer|final|final_answer|response|reply|solution|assistant", re.I)
_BRACKET: Final = re.compile(r"\[(?P<close>/?)(?P<name>[A-Za-z]?[A-Z][A-Z_]{1,30})\]")
_BRACKET_TOKENS: Final = frozenset(
    {"INST", "SYS", "BOS", "EOS", "PAD", "UNK", "SEP", "CLS", "MASK", "gMASK", "sMASK", "ARGS",
     "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "IMG"}
)  # fmt: skip
_ROLE: Final = re.compile(
    r"[ \t]*(?:assistant|model|bot|ai)?[ \t]*(?:<\|(?:end_header_id|end_of_role)\|>)?", re.I
)
_CHANNEL: Final = re.compile(
    r"<\|channel\|>\s*(?P<name>\w+)(?P<to>[^<]*(?:<\|constrain\|>[^<]*)?)<\|message\|>"
)
_STRIPPED: Final = re.compile(
    r"(?:assistant)?(?:analysis|commentary)(?=[A-Z\s\"'(]|to=)|assistantfinal"
)
_FENCE: Final = re.compile(r"(?P<ticks>```+|~~~+)[ \t]*(?P<lang>[\w+.\-]*)[^\n]*\n")
_FINAL: Final = re.compile(r"\[(?P<edge>BEGIN|END) FINAL RESPONSE\]")
_SPOKEN: Final = (
    ("Here is my thought process:", "Here is my response:", True),
    ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", True),
    ("Thinking...\n", "...done thinking.", False),
    ("**Thinking...**\n", "...done thinking.", False),
)
"""How thoughts in plain words begin and end, and whether they are ones without their end."""

_BEGINS: Final = re.compile(r"\**(?:Action|Thought|Final(?: \w*)?|✿FUNCTION✿)[ \t*]*")
_REACT: Final = re.compile(r"[*]*(?:Action|Thought|Final Answer|✿FUNCTION✿)[ \t*]*:|functools\[")


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
    """Takes an answer in pieces; `feed` returns what may be shown of it by now, `close` the rest
    and then all of it as `result`."""

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
        self._raw += piece
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

    # ---- the way through the text

    def _read(self, *, final: bool) -> None:
        while self._at < len(self._raw) and not self._over:
            before = self._at
            if not self._step(final):
                break
            if (
                self._at > 8_192 and self._at > len(self._raw) // 2
            ):  # what was read need not be kept
                self._raw, self._at = self._raw[self._at :], 0
                before = -1
            assert self._at != before or self._over, "a step moves on"

    def _step(self, final: bool) -> bool:
        """Read what stands here; False where more has to come first."""
        raw, at = self._raw, self._at
        sign = raw[at]
        readers: list[Callable[[int, bool], bool | None]] = []
        if self._line and sign not in " \t\n\r":
            readers.append(self._paragraph)
        if sign == "<":
            readers.append(self._angle)
        elif sign == "[":
            readers.append(self._bracket)
        elif sign == "◁":
            readers.append(self._diamond)
        elif sign == "`":
            readers.append(self._code)
        for read in readers:
            done = read(at, final)
            if done is None:
                return False
            if done:
                return True
        self._plain(at)
        return True

    def _plain(self, at: int) -> None:
        """Text up to where markup may begin next."""
        found = _NEXT.search(self._raw, at + 1)
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

    # ---- elements and tokens

    def _angle(self, at: int, final: bool) -> bool | None:
        raw = self._raw
        nearby = raw[at : at + LONGEST_TAG]
        is_byte = "<0x".startswith(nearby[:3])
        if len(nearby) > 1 and not (nearby[1].isalpha() or nearby[1] in "/|｜_<" or is_byte):
            return False
        closing = nearby.find(">")
        if closing < 0:
            waits = len(nearby) < LONGEST_TAG and "\n" not in nearby and not final
            if waits:
                return None
            begun = re.fullmatch(r"<(?P<sign>[/|｜]?)(?P<name>[\w▁:=.\-]*)[|｜]?", nearby)
            broken = begun and (
                begun["sign"] or _CALLS.search(begun["name"]) or _THINKS.search(begun["name"])
            )
            return self._drop(len(raw)) if final and broken else False
        if old := _OLD.match(raw, at):
            return self._drop(old.end())
        if is_byte:
            return False
        if vendor := _VENDOR.match(raw, at):
            return self._vendor_element(at, vendor, final)
        if token := _TOKEN.match(raw, at):
            return self._token(at, token, final)
        tag = _TAG.match(raw, at)
        return self._element(at, tag, final) if tag else False

    def _element(self, at: int, tag: re.Match[str], final: bool) -> bool | None:
        name, raw = tag["name"], self._raw
        local = name.rpartition(":")[2]
        if _THINKS.search(name) and not _CALLS.search(name):
            if tag["close"]:
                return self._orphan(tag.end())
            return self._thought(tag.end(), re.compile(rf"</{re.escape(name)}\s*>", re.I), final)
        if _CALLS.search(name) or (self.offered and self.offered.find(local) and not tag["close"]):
            if tag["close"]:
                return self._drop(tag.end())
            if raw[tag.end() - 2] == "/":
                return self._take_calls(tag.group(), tag.end(), marked=True)
            return self._call_element(at, name, tag.end(), final)
        if _WORD_TOKENS.fullmatch(name) and not tag["rest"]:
            if name.startswith("unused") and re.compile(r"\s*thought\b").match(raw, tag.end()):
                return self._thought(tag.end(), re.compile(r"<unused\d+>"), final)
            if name.startswith("unused") and not final and len(raw) - tag.end() < LEAST_HEAD:
                return None
            ends = _ENDS.search(name) or (tag["close"] and name == "s")
            if ends and self._end():
                return True
            return self._role(tag.end(), name, final)
        if _WRAPS.fullmatch(name) and not tag["rest"]:
            return self._drop(tag.end())
        self._show(raw[at : tag.end()])
        return self._drop(tag.end())

    def _vendor_element(self, at: int, vendor: re.Match[str], final: bool) -> bool | None:
        """An element with its vendor's token before its name, as DeepSeek's `<｜DSML｜invoke>`."""
        raw = self._raw
        name = re.compile(r"[\w.\-]+").match(raw, vendor.end())
        assert name
        end = raw.index(">", at) + 1
        if vendor["begin"] == "</" or not _CALLS.search(name.group()):
            return self._drop(end)
        close = raw.find(f"</{raw[at + 1 : name.end()]}>", end)
        if close < 0 and not final:
            return None
        stop = raw.index(">", close) + 1 if close >= 0 else len(raw)
        return self._take_calls(_VENDOR.sub(r"\g<begin>", raw[at:stop]), stop, marked=True)

    def _call_element(self, at: int, name: str, end: int, final: bool) -> bool | None:
        """A call's element with all it holds, or to the end of the answer."""
        close = re.compile(rf"</{re.escape(name)}\s*>", re.I).search(self._raw, end)
        if close is None and not final:
            return None
        stop = close.end() if close else len(self._raw)
        return self._take_calls(self._raw[at:stop], stop, marked=True)

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

    def _token(self, at: int, token: re.Match[str], final: bool) -> bool | None:
        name = (token["name"] or token["tail"]).strip("/ ")
        if name == "channel":
            if token.group() in ("<|channel>", "<channel|>"):
                return self._gemma_channel(token, final)
            return self._channel(at, final)
        if _OTHERS.fullmatch(name):
            return self._end() or self._drop(token.end())
        if _THINKS.search(name):
            if re.search(r"end|/|close|suffix", token.group(), re.I):
                return self._orphan(token.end())
            close = re.compile(
                r"<[|｜][^<>]*?(?:end|/|close|suffix)[^<>]*?(?:think|thought|reason|inner)?[^<>]*?[|｜]>"
                r"|</?[|｜]?(?:think|thought)\w*[|｜]>",
                re.I,
            )
            return self._thought(token.end(), close, final)
        if _CALLS.search(name):
            return self._call_tokens(at, final)
        if _TURN.match(name):
            return self._role(token.end(), name, final)
        heads = "header" in name or "role" in name
        if _ENDS.search(name) and not heads and self._end():
            return True
        return self._drop(token.end())

    def _call_tokens(self, at: int, final: bool) -> bool | None:
        """Calls between tokens stand at the end of an answer."""
        if not final:
            return None
        region = self._raw[at:]
        stop = re.search(r"<\|(?:im_end|eot_id|eom_id|end|endoftext|return)\|>", region)
        return self._take_calls(
            region[: stop.start()] if stop else region, len(self._raw), marked=True
        )

    def _role(self, end: int, name: str, final: bool) -> bool | None:
        """Behind the token that begins a turn stands whose it is; another's ends the answer."""
        if not _TURN.match(name) and not name.lower().startswith(("start", "begin")):
            return self._drop(end)
        rest = self._raw[end : end + 40]
        if not final and len(rest) < 40 and re.fullmatch(r"[ \t]*\w*(?:<\|[^<>]*)?", rest):
            return None
        whose = re.match(r"\s*(\w+)", rest)
        if whose and whose[1].lower() in ("user", "system", "tool", "human", "developer"):
            return self._end() or self._drop(end + whose.end())
        found = _ROLE.match(self._raw, end)
        return self._drop(found.end() if found else end)

    def _gemma_channel(self, token: re.Match[str], final: bool) -> bool | None:
        """`<|channel>thought … <channel|>`; of another channel the name alone goes."""
        if token.group() == "<channel|>":
            return self._drop(token.end())
        head = re.compile(r"\s*(?P<name>[A-Za-z_]+)(?=[^A-Za-z_])").match(self._raw, token.end())
        if head is None:
            return None if not final else self._drop(token.end())
        if _THINKS.search(head["name"]):
            return self._thought(head.end(), re.compile(r"<channel\|>"), final)
        return self._drop(head.end())

    def _channel(self, at: int, final: bool) -> bool | None:
        head = _CHANNEL.match(self._raw, at)
        if head is None:
            if not final and "<|message|>" not in self._raw[at:] and len(self._raw) - at < 400:
                return None
            found = _TOKEN.match(self._raw, at)
            return self._drop(found.end() if found else at + 1)
        to = re.search(r"to=([\w.\-]+)", head["to"])
        if head["name"] == "final" and not to:
            return self._drop(head.end())
        stop = re.compile(r"<\|(?:end|call|return|start|channel|im_end)\|>").search(
            self._raw, head.end()
        )
        if stop is None and not final:
            return None
        body = self._raw[head.end() : stop.start() if stop else len(self._raw)]
        after = len(self._raw) if not stop else stop.end()
        if stop and stop.group() in ("<|start|>", "<|channel|>"):
            after = stop.start()
        if to:
            return self._take_calls(f"{to[1]} {body.strip() or '{}'}", after, marked=True)
        self.result.thought = True
        return self._drop(after)

    # ---- brackets, diamonds, code

    def _bracket(self, at: int, final: bool) -> bool | None:
        raw = self._raw
        nearby = raw[at + 1 : at + 34]
        closing = nearby.find("]")
        if closing < 0:
            if not final and len(nearby) < 33 and re.fullmatch(r"/?[A-Za-z]?[A-Z_ ]*", nearby):
                return None
            return False
        if edge := _FINAL.match(raw, at):
            if edge["edge"] == "BEGIN":
                return self._orphan(edge.end()) if self._shown else self._drop(edge.end())
            return self._end() or self._drop(edge.end())
        found = _BRACKET.match(raw, at)
        if not found:
            return False
        name = found["name"]
        if name in ("THINK", "THOUGHT", "REASONING"):
            if found["close"]:
                return self._orphan(found.end())
            return self._thought(found.end(), re.compile(rf"\[/{name}\]"), final)
        if name.startswith(("TOOL_", "FUNCTION_", "END_TOOL")) or name in ("TOOL", "FUNCTION"):
            return self._call_bracket(at, name, final)
        return self._drop(found.end()) if name in _BRACKET_TOKENS else False

    def _call_bracket(self, at: int, name: str, final: bool) -> bool | None:
        close = re.compile(rf"\[(?:/|END_){name}\]").search(self._raw, at)
        if close is None and not final:
            return None
        end = close.end() if close else len(self._raw)
        return self._take_calls(self._raw[at:end], end, marked=True)

    def _diamond(self, at: int, final: bool) -> bool | None:
        found = re.compile(r"◁(?P<close>/?)(?P<name>\w{1,20})▷").match(self._raw, at)
        if not found:
            waits = "▷" not in self._raw[at : at + 24] and len(self._raw) - at < 24
            return None if waits and not final else False
        if _THINKS.search(found["name"]):
            if found["close"]:
                return self._orphan(found.end())
            return self._thought(found.end(), re.compile(rf"◁/{found['name']}▷"), final)
        return self._drop(found.end())

    def _code(self, at: int, final: bool) -> bool | None:
        """Code within a line, as it is; a fence is a paragraph."""
        raw = self._raw
        run = re.compile(r"`+").match(raw, at)
        assert run
        ticks = run.group()
        if run.end() == len(raw) and not final:
            return None
        line = raw.find("\n", at)
        end = raw.find(ticks, run.end(), line if line >= 0 else len(raw))
        if end < 0:
            if line < 0 and not final and len(raw) - at < LONGEST_BLOCK:
                return None
            self._show(ticks)
            return self._drop(run.end())
        self._show(raw[at : end + len(ticks)])
        return self._drop(end + len(ticks))

    # ---- paragraphs that may be calls

    def _paragraph(self, at: int, final: bool) -> bool | None:
        raw = self._raw
        sign = raw[at]
        if sign in "`~":
            return self._fence(at, final)
        if sign in "{[":
            if sign == "[" and (bracket := self._bracket(at, final)) is not False:
                return bracket
            return self._block(at, final) if self.offered else False
        if not (sign.isalpha() or sign in "_✿*"):
            return False
        word = re.compile(r"\**[\w.✿\-]*").match(raw, at)
        assert word
        open_end = not final and len(raw) - at < 80
        if open_end and (word.end() == len(raw) or _BEGINS.fullmatch(raw, at)):
            return None
        if not self._shown and (spoken := self._aloud(at, final)) is not False:
            return spoken
        if raw.startswith("to=", at):  # a call's recipient, left of a channel's header
            return self._take_calls(raw[at:], len(raw), marked=False) if final else None
        if _REACT.match(raw, at):
            return self._react(at, final)
        if self.offered and raw[word.end() : word.end() + 1] in ("(", "{", "["):
            if self.offered.find(word.group().strip()):
                return self._block(at, final)
        return False

    def _aloud(self, at: int, final: bool) -> bool | None:
        """Thoughts in plain words at the very beginning: Granite's, and channels whose tokens a
        server took away."""
        raw = self._raw
        for begins, ends, alone in _SPOKEN:
            rest = raw[at : at + len(begins)]
            if rest != begins[: len(rest)]:
                continue
            end = raw.find(ends, at)
            if end < 0 and not final:
                return None
            if end >= 0 or (alone and rest == begins):
                self.result.thought = True
                return self._drop(end + len(ends) if end >= 0 else len(raw))
        if not _STRIPPED.match(raw, at):
            return False
        if not final:
            return None
        last = raw.rfind("assistantfinal", at)
        if last >= 0:
            self.result.thought = True
            return self._drop(last + len("assistantfinal"))
        if call := re.search(
            r"to=(?:functions\.)?([\w.\-]+)\s*(?:code|json)?\s*(\{.*)", raw[at:], re.S
        ):
            return self._take_calls(f"{call[1]} {call[2]}", len(raw), marked=True)
        return False

    def _react(self, at: int, final: bool) -> bool | None:
        """`Thought:` is one where an action or the answer follows; an action stands at the end."""
        if not final:
            return None
        raw = self._raw
        rest = raw[at:]
        answer = re.search(r"^[ \t*]*Final Answer[ \t*]*:\s*", rest, re.M)
        action = re.search(r"^[ \t*]*Action[ \t*]*:|✿FUNCTION✿|^functools\[", rest, re.M)
        if action and (not answer or action.start() < answer.start()):
            found = calls_in(rest[action.start() :], self.offered, marked=False)
            if found:
                self._calls += [c for c in found if c not in self._calls]
                self.result.thought |= action.start() > 0
                return self._drop(len(raw))
        if answer:
            self.result.thought |= answer.start() > 0
            return self._drop(at + answer.end())
        return False

    def _fence(self, at: int, final: bool) -> bool | None:
        """A block of code: a call where that is all it holds, else shown as it is."""
        raw = self._raw
        opening = _FENCE.match(raw, at)
        if not opening:
            if raw[at : at + 3] not in ("```", "~~~"):
                short = len(raw) - at < 3 and not final
                return None if short and len(set(raw[at:])) == 1 else False
            if "\n" not in raw[at:] and not final:
                return None
            if "\n" in raw[at:] or final:
                return False
        assert opening
        close = re.compile(rf"^[ \t]*{opening['ticks']}[ \t]*$", re.M).search(raw, opening.end())
        if close is None and not final:
            return None
        if close and close.end() == len(raw) and not final:
            return None  # the line may go on
        end = close.end() if close else len(raw)
        inside = raw[opening.end() : close.start() if close else end]
        marked = bool(_CALLS.search(opening["lang"]))
        if (self.offered or marked) and self._take_calls(inside, end, marked=marked):
            return True
        self._show(raw[at:end])
        return self._drop(end)

    def _block(self, at: int, final: bool) -> bool | None:
        """JSON or an expression that begins a line: a call where nothing else stands beside it."""
        raw = self._raw
        end = _balanced(raw, at)
        if end is None:
            if not final and len(raw) - at < LONGEST_BLOCK:
                return None
            return self._take_calls(raw[at:], len(raw), marked=False) if final else False
        rest = re.compile(r"[ \t;,]*").match(raw, end)
        assert rest
        if rest.end() == len(raw) and not final:
            return None
        if rest.end() < len(raw) and raw[rest.end()] not in "\n\r<[`":
            return False
        return self._take_calls(raw[at:end], rest.end(), marked=False)


_NEXT: Final = re.compile(r"[<`◁\[\n]")
_STRUCTURE: Final = re.compile(r"[\"'{}\[\]()\\]")


def _balanced(text: str, at: int) -> int | None:
    """Where the brackets that open at or behind `at` are closed; None where they are not."""
    depth, quote, place = 0, "", at
    while found := _STRUCTURE.search(text, place):
        sign, place = found.group(), found.end()
        if sign == "\\":
            place += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign == '"' or (sign == "'" and not text[found.start() - 1 : found.start()].isalnum()):
            quote = sign
        elif sign in "{[(":
            depth += 1
        elif sign in "}])":
            depth -= 1
            if depth <= 0:
                return place
    return None


def normalise(text: str, tools: Sequence[ToolSpec] = ()) -> Normalised:
    """An answer that came whole."""
    reader = Normaliser(tools)
    reader.feed(text)
    reader.close()
    return reader.result
