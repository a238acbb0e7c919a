"""What begins at brackets, backticks and paragraphs: calls as JSON or expressions, fences, thoughts
in plain words. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .answer_text import (
    ARGUMENTS,
    BEGINS,
    BRACKET,
    BRACKET_TOKENS,
    CALLS,
    CHANNEL,
    CHANNEL_ENDS,
    FENCE,
    FINAL,
    LONGEST_BLOCK,
    LONGEST_HEAD,
    REACT,
    SPOKEN,
    STRIPPED,
    THINKS,
    TOKEN,
    AnswerText,
    balanced,
)
from .text_calls import calls_in

_NEXT_BLOCK: Final = re.compile(r"[ \t;,]*(?=[{\[])")


@dataclass(slots=True)
class ParagraphReader(AnswerText):
    """Reads what is no element or token; False says that nothing of it stands here."""

    # ---- brackets, diamonds, code

    def _bracket(self, at: int, final: bool) -> bool | None:
        raw = self._raw
        nearby = raw[at + 1 : at + 34]
        if nearby.startswith("e~["):  # a token that has no other bracket
            return self._end() or self._drop(at + 4)
        if "]" not in nearby:
            may_be = len(nearby) < 33 and re.fullmatch(r"/?[A-Za-z]?[A-Z_ ]*|e~?", nearby)
            return None if may_be and not final else False
        if edge := FINAL.match(raw, at):
            if edge["edge"] == "BEGIN":
                return self._orphan(edge.end()) if self._shown else self._drop(edge.end())
            return self._end() or self._drop(edge.end())
        found = BRACKET.match(raw, at)
        return self._word_bracket(at, found, final) if found else False

    def _word_bracket(self, at: int, found: re.Match[str], final: bool) -> bool | None:
        """A capital word in brackets: `[THINK]`, `[TOOL_CALLS]`, `[/INST]`."""
        name = found["name"]
        if name == "INST" and not found["close"]:
            return self._instruction(found.end(), final)
        if name in ("THINK", "THOUGHT", "REASONING"):
            if found["close"]:
                return self._orphan(found.end())
            return self._thought(found.end(), re.compile(rf"\[/{name}\]"), final)
        if name.startswith(("TOOL_", "FUNCTION_", "END_TOOL")) or name in ("TOOL", "FUNCTION"):
            return self._call_bracket(at, name, final)
        return self._drop(found.end()) if name in BRACKET_TOKENS else False

    def _instruction(self, start: int, final: bool) -> bool | None:
        """`[INST] … [/INST]` is the user's where an answer follows it."""
        if self._end():
            return True
        close = self._raw.find("[/INST]", start)
        if close >= 0 and self._raw[close + 7 :].strip():
            return self._drop(close + 7)
        return self._drop(start) if final else None

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
        if THINKS.search(found["name"]):
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
            is_followed = bool(raw[run.end() :].strip())
            if not (final or (line >= 0 and is_followed)) and len(raw) - at < LONGEST_BLOCK:
                return None
            self._show(ticks * is_followed)  # of a fence round nothing
            return self._drop(run.end())
        self._show(raw[at : end + len(ticks)])
        return self._drop(end + len(ticks))

    # ---- paragraphs that may be calls

    def _paragraph(self, at: int, final: bool) -> bool | None:
        sign = self._raw[at]
        if sign in "`~":
            return self._fence(at, final)
        if sign == "[" and (bracket := self._bracket(at, final)) is not False:
            return bracket
        if sign in "{[":
            return self._block(at, final) if self.offered else False
        return self._worded(at, final) if sign.isalpha() or sign in "_✿*>" else False

    def _worded(self, at: int, final: bool) -> bool | None:
        """A paragraph that begins with a word: thoughts aloud, `Action:`, an expression."""
        raw = self._raw
        word = re.compile(r"(?:>{0,3}|\**)(?P<name>[\w.✿\-]*)").match(raw, at)
        assert word
        if not final and len(raw) - at < 80 and self._may_go_on(word, at):
            return None
        if not self._shown and (spoken := self._aloud(at, final)) is not False:
            return spoken
        if raw.startswith("to=", at):  # a call's recipient, left of a channel's header
            return self._take_calls(raw[at:], len(raw), marked=False) if final else None
        if REACT.match(raw, at):
            return self._react(at, final)
        return self._block(word.start("name"), final) if self._names_a_function(word) else False

    def _may_go_on(self, word: re.Match[str], at: int) -> bool:
        """Whether what stands behind a word has to come before it can be told what it begins."""
        left = len(self._raw) - word.end()
        is_name = 0 < left < 8 and bool(self.offered.find(word["name"]))
        return not left or is_name or bool(BEGINS.fullmatch(self._raw, at))

    def _names_a_function(self, word: re.Match[str]) -> bool:
        """Whether a word is an offered function's name with its arguments behind it."""
        begins = ARGUMENTS.match(self._raw, word.end())
        return bool(begins and self.offered and self.offered.find(word["name"].strip()))

    def _aloud(self, at: int, final: bool) -> bool | None:
        """Thoughts in plain words at the very beginning: Granite's, and channels whose tokens a
        server took away."""
        for spoken in SPOKEN:
            if (done := self._spoken(at, *spoken, final=final)) is not False:
                return done
        stripped = STRIPPED.match(self._raw, at)
        if not stripped:
            return False
        if stripped["channel"] and CHANNEL.match(self._raw, stripped.start("channel")):
            return self._channel(stripped.start("channel"), final)
        return self._stripped(at) if final else None

    def _spoken(self, at: int, begins: str, ends: str, alone: bool, *, final: bool) -> bool | None:
        """Thoughts between two sentences, or behind the first where it stands `alone`."""
        raw = self._raw
        rest = raw[at : at + len(begins)]
        if not begins.startswith(rest):
            return False
        end = raw.find(ends, at)
        if end < 0 and not final:
            return None
        if end < 0 and not (alone and rest == begins):
            return False
        self.result.thought = True
        return self._drop(end + len(ends) if end >= 0 else len(raw))

    def _stripped(self, at: int) -> bool:
        """A channel without its tokens: the answer behind the thoughts, or a call."""
        raw = self._raw
        last = raw.rfind("assistantfinal", at)
        if last >= 0:
            self.result.thought = True
            return self._drop(last + len("assistantfinal"))
        call = re.search(r"to=(?:functions\.)?([\w.\-]+)\s*(?:code|json)?\s*(\{.*)", raw[at:], re.S)
        if call is None:
            return False
        return self._take_calls(f"{call[1]} {call[2]}", len(raw), marked=True)

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
        opening = FENCE.match(raw, at)
        if opening is None:
            return None if not final and self._may_open(at) else False
        close = re.compile(rf"^[ \t]*{opening['ticks']}[ \t]*$", re.M).search(raw, opening.end())
        until, end = close.span() if close else (len(raw), len(raw))
        if not final and end == len(raw):
            return None  # the line may go on
        marked = bool(CALLS.search(opening["lang"]))
        inside = raw[opening.end() : until]
        if (self.offered or marked) and self._take_calls(inside, end, marked=marked):
            return True
        self._show(raw[at:end])
        return self._drop(end)

    def _may_open(self, at: int) -> bool:
        """Whether what stands here may yet become a fence's first line."""
        rest = self._raw[at:]
        if rest.startswith(("```", "~~~")):
            return "\n" not in rest
        return len(rest) < 3 and len(set(rest)) == 1

    def _block(self, at: int, final: bool) -> bool | None:
        """JSON or an expression that begins a line: a call where nothing else stands beside it."""
        raw = self._raw
        end = self._blocks_end(at)
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

    def _blocks_end(self, at: int) -> int | None:
        """Where a block ends, and those that follow it on its line; None where one has no end."""
        end = balanced(self._raw, at)
        while end is not None and (more := _NEXT_BLOCK.match(self._raw, end)):
            end = balanced(self._raw, more.end())
        return end

    # ---- channels

    def _channel_token(self, at: int, token: re.Match[str], final: bool) -> bool | None:
        is_gemma = token.group() in ("<|channel>", "<channel|>")
        return self._gemma_channel(token, final) if is_gemma else self._channel(at, final)

    def _gemma_channel(self, token: re.Match[str], final: bool) -> bool | None:
        """`<|channel>thought … <channel|>`; of another channel the name alone goes."""
        if token.group() == "<channel|>":
            return self._drop(token.end())
        head = re.compile(r"\s*(?P<name>[A-Za-z_]+)(?=[^A-Za-z_])").match(self._raw, token.end())
        if head is None:
            return None if not final else self._drop(token.end())
        if THINKS.search(head["name"]):
            return self._thought(head.end(), re.compile(r"<channel\|>"), final)
        return self._drop(head.end())

    def _channel(self, at: int, final: bool) -> bool | None:
        head = CHANNEL.match(self._raw, at)
        if head is None:
            return self._broken_channel(at, final)
        to = re.search(r"to=([\w.\-]+)", head["to"])
        if head["name"] == "final" and not to:
            return self._drop(head.end())
        stop = CHANNEL_ENDS.search(self._raw, head.end())
        if stop is None and not final:
            return None
        end, after = stop.span() if stop else (len(self._raw), len(self._raw))
        if self._raw[end:after] in ("<|start|>", "<|channel|>"):
            after = end
        if to:
            body = self._raw[head.end() : end].strip() or "{}"
            return self._take_calls(f"{to[1]} {body}", after, marked=True)
        self.result.thought = True
        return self._drop(after)

    def _broken_channel(self, at: int, final: bool) -> bool | None:
        """A channel whose header has not come, or is none."""
        is_short = len(self._raw) - at < LONGEST_HEAD
        if not final and is_short and "<|message|>" not in self._raw[at:]:
            return None
        found = TOKEN.match(self._raw, at)
        return self._drop(found.end() if found else at + 1)
