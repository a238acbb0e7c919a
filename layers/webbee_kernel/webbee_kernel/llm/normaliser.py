"""What a model says, as people should read it: without thoughts, special tokens and calls that were
written as text. Both adapters use it, streamed or whole; however a stream is cut, the result is the
same. Pure.

The text is read once from its beginning. At each place where markup may begin one of the readers
below says what stands there: so many characters that are shown, dropped, a thought or a call, or
that more has to come before it can be told (`None`); False says that nothing of its kind does.

Families (the vendors' own formats, November 2026): elements (`<think>`, `<tool_call>`,
`<function=…>`), tokens (`<|im_end|>`, `<｜tool▁calls▁begin｜>`, `<|tool_call>`), capital words in
brackets (`[TOOL_CALLS]`, `[THINK]`), channels (`<|channel|>analysis<|message|>`), fences, lines
(`Action:`), and JSON or an expression that is a paragraph of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from . import answer_text as markup
from .answer_text import AnswerText, balanced
from .text_calls import calls_in

_NEXT_BLOCK: Final = re.compile(r"[ \t;,]*(?=[{\[])")
_ANYWHERE: Final = {
    "<": ("_angle",),
    "[": ("_square", "_bracket"),
    "◁": ("_diamond",),
    "`": ("_code",),
}
"""The readers of what may begin with a sign, in their order."""
_AT_LINE: Final = {
    **_ANYWHERE,
    "[": ("_square", "_bracket", "_block"),
    "{": ("_block",),
    "`": ("_fence", "_code"),
    "~": ("_fence",),
}
"""The same at the beginning of a line."""
_OTHERS: Final = ("user", "system", "tool", "human", "developer")
"""Whose turn ends the answer."""


@dataclass(slots=True)
class Normaliser(AnswerText):
    """Reads what begins at a sign."""

    def _step(self, final: bool) -> bool:
        """Read what stands here; False where more has to come first."""
        sign = self._raw[self._at]
        names = (_AT_LINE if self._line else _ANYWHERE).get(sign, ())
        if self._line and (sign.isalpha() or sign in "_✿*>"):
            names = ("_worded",)
        for name in names:
            done = getattr(self, name)(self._at, final)
            if done is not False:
                return done is True
        self._plain(self._at)
        return True

    # ---- regions

    def _until(self, close: re.Pattern[str], start: int, final: bool) -> int | None:
        """Where a region ends: with its closing mark, or with the answer; None before that."""
        found = close.search(self._raw, start)
        return found.end() if found else len(self._raw) if final else None

    def _thought(self, start: int, close: re.Pattern[str], final: bool) -> bool | None:
        end = self._until(close, start, final)
        self.result.thought |= end is not None
        return None if end is None else self._drop(end)

    def _call_region(self, at: int, start: int, close: re.Pattern[str], final: bool) -> bool | None:
        """A call in markup of its own, which is never shown."""
        end = self._until(close, start, final)
        if end is None:
            return None
        region = markup.VENDOR.sub(r"\g<begin>", self._raw[at:end])
        return self._take_calls(region, end, marked=True)

    # ---- elements and tokens

    def _angle(self, at: int, final: bool) -> bool | None:
        raw = self._raw
        nearby = raw[at : at + markup.LONGEST_TAG]
        begins = nearby[1:2].isalpha() or nearby[1:2] in "/|｜_<" or "<0x".startswith(nearby[:3])
        if not begins:
            return False
        if ">" not in nearby.partition("\n")[0]:  # a tag stands on one line
            return self._unclosed(nearby, final)
        if old := markup.OLD.match(raw, at):
            return self._drop(old.end())
        if vendor := markup.VENDOR.match(raw, at):
            return self._vendor_element(at, vendor, final)
        if token := markup.TOKEN.match(raw, at):
            return self._token(at, token, final)
        tag = markup.TAG.match(raw, at)
        return self._element(at, tag, final) if tag else False

    def _unclosed(self, nearby: str, final: bool) -> bool | None:
        """A tag without its end: one that may still come, one cut off, or plain text."""
        if not final:
            return None if len(nearby) < markup.LONGEST_TAG and "\n" not in nearby else False
        begun = re.fullmatch(r"<(?P<sign>[/|｜]?)(?P<name>[\w▁:=.\-]*)[|｜]?", nearby)
        is_markup = begun and (
            begun["sign"]
            or markup.CALLS.search(begun["name"])
            or markup.THINKS.search(begun["name"])
        )
        return self._drop(len(self._raw)) if is_markup else False

    def _element(self, at: int, tag: re.Match[str], final: bool) -> bool | None:
        name, end = tag["name"], tag.end()
        close = re.compile(rf"</{re.escape(name)}\s*>", re.I)
        is_call = bool(markup.CALLS.search(name))
        if (markup.THINKS.search(name) and not is_call) or markup.is_thought(tag):
            return self._orphan(end) if tag["close"] else self._thought(end, close, final)
        # an element may be named as an offered function, too
        if is_call or (not tag["close"] and self.offered.find(name.rpartition(":")[2])):
            alone = tag["close"] or tag.group().endswith("/>")
            return self._call_mark(tag) if alone else self._call_region(at, end, close, final)
        if markup.WORD_TOKENS.fullmatch(name) and not tag["rest"]:
            return self._word_token(tag, final)
        if not markup.WRAPS.fullmatch(name) or tag["rest"]:
            self._show(tag.group())
        return self._drop(end)

    def _call_mark(self, tag: re.Match[str]) -> bool:
        """The end of a call's element, or one that holds nothing."""
        if tag["close"]:
            return self._drop(tag.end())
        return self._take_calls(tag.group(), tag.end(), marked=True)

    def _word_token(self, tag: re.Match[str], final: bool) -> bool | None:
        """A special token in an element's form: `</s>`, `<end_of_turn>`, `<unused94>`."""
        name, raw = tag["name"], self._raw
        if name.startswith("unused"):
            if re.compile(r"\s*thought\b").match(raw, tag.end()):
                return self._thought(tag.end(), re.compile(r"<unused\d+>"), final)
            if not final and len(raw) - tag.end() < markup.LEAST_HEAD:
                return None
        ends = markup.ENDS.search(name) or (tag["close"] and name == "s")
        return True if ends and self._end() else self._role(tag.end(), name, final)

    def _vendor_element(self, at: int, vendor: re.Match[str], final: bool) -> bool | None:
        """An element with its vendor's token before its name, as DeepSeek's `<｜DSML｜invoke>`."""
        raw = self._raw
        name = re.compile(r"[\w.\-]+").match(raw, vendor.end())
        assert name
        end = raw.index(">", at) + 1
        if vendor["begin"] == "</" or not markup.CALLS.search(name.group()):
            return self._drop(end)
        close = re.compile(re.escape(f"</{raw[at + 1 : name.end()]}>"))
        return self._call_region(at, end, close, final)

    def _token(self, at: int, token: re.Match[str], final: bool) -> bool | None:
        name, end = (token["name"] or token["tail"] or token["square"]).strip("/ "), token.end()
        if name in ("recipient", "channel"):
            read = self._recipient if name == "recipient" else self._channel_token
            return read(at, token, final)
        if markup.OTHERS.fullmatch(name):
            return self._end() or self._drop(end)
        if markup.THINKS.search(name):
            return self._thought_token(token, final)
        if markup.CALLS.search(name):
            return self._call_tokens(at, final)
        if markup.TURN.match(name):
            return self._role(end, name, final)
        # the end of a header ends no turn
        ends = markup.ENDS.search(name) and not re.search("header|role", name)
        return True if ends and self._end() else self._drop(end)

    def _thought_token(self, token: re.Match[str], final: bool) -> bool | None:
        """A token before a thought, or behind one."""
        if re.search(r"end|/|close|suffix", token.group(), re.I):
            return self._orphan(token.end())
        return self._thought(token.end(), markup.THOUGHT_TOKEN_ENDS, final)

    def _recipient(self, at: int, token: re.Match[str], final: bool) -> bool | None:
        """Whom the answer goes to: the user, or a function."""
        to = re.compile(r"\s*(?P<name>[\w.\-]+)(?=[^\w.\-])").match(self._raw, token.end())
        if to is None:
            return self._drop(len(self._raw)) if final else None
        is_call = bool(self.offered.find(to["name"]))
        return self._call_tokens(at, final) if is_call else self._drop(to.end())

    def _call_tokens(self, at: int, final: bool) -> bool | None:
        """Calls between tokens stand at the end of an answer."""
        if not final:
            return None
        stop = re.compile(r"<\|(?:im_end|eot_id|eom_id|end|endoftext|return)\|>")
        found = stop.search(self._raw, at)
        region = self._raw[at : found.start() if found else None]
        return self._take_calls(region, len(self._raw), marked=True)

    def _role(self, end: int, name: str, final: bool) -> bool | None:
        """Behind the token that begins a turn stands whose it is; another's ends the answer."""
        if not markup.TURN.match(name) and not name.lower().startswith(("start", "begin")):
            return self._drop(end)
        rest = self._raw[end : end + 40]
        if not final and len(rest) < 40 and re.fullmatch(r"[ \t]*\w*(?:<\|[^<>]*)?", rest):
            return None
        whose = re.match(r"\s*(\w+)", rest)
        if whose and whose[1].lower() in _OTHERS:
            return self._end() or self._drop(end + whose.end())
        found = markup.ROLE.match(self._raw, end)
        return self._drop(found.end() if found else end)

    # ---- brackets, diamonds, code

    def _square(self, at: int, final: bool) -> bool | None:
        """A token in square brackets: `[|endofturn|]`."""
        if token := markup.TOKEN.match(self._raw, at):
            return self._token(at, token, final)
        waits = len(self._raw) - at < 44 and re.fullmatch(r"\[\|/?\w*\|?", self._raw[at:])
        return None if waits and not final else False

    def _bracket(self, at: int, final: bool) -> bool | None:
        raw = self._raw
        nearby = raw[at + 1 : at + 34]
        if nearby.startswith("e~["):  # a token that has no other bracket
            return self._end() or self._drop(at + 4)
        if "]" not in nearby:
            may_be = len(nearby) < 33 and re.fullmatch(r"/?[A-Za-z]?[A-Z_ ]*|e~?", nearby)
            return None if may_be and not final else False
        if edge := markup.FINAL.match(raw, at):
            return self._final_response(edge)
        found = markup.BRACKET.match(raw, at)
        return self._word_bracket(at, found, final) if found else False

    def _final_response(self, edge: re.Match[str]) -> bool:
        if edge["edge"] == "END" and self._end():
            return True
        is_behind = edge["edge"] == "BEGIN" and self._shown
        return self._orphan(edge.end()) if is_behind else self._drop(edge.end())

    def _word_bracket(self, at: int, found: re.Match[str], final: bool) -> bool | None:
        """A capital word in brackets: `[THINK]`, `[TOOL_CALLS]`, `[/INST]`."""
        name, end = found["name"], found.end()
        if name == "INST" and not found["close"]:
            return self._instruction(end, final)
        if name in ("THINK", "THOUGHT", "REASONING"):
            close = re.compile(rf"\[/{name}\]")
            return self._orphan(end) if found["close"] else self._thought(end, close, final)
        if name.startswith(("TOOL_", "FUNCTION_", "END_TOOL")) or name in ("TOOL", "FUNCTION"):
            return self._call_region(at, at, re.compile(rf"\[(?:/|END_){name}\]"), final)
        return self._drop(end) if name in markup.BRACKET_TOKENS else False

    def _instruction(self, start: int, final: bool) -> bool | None:
        """`[INST] … [/INST]` is the user's where an answer follows it."""
        if self._end():
            return True
        close = self._raw.find("[/INST]", start)
        if close >= 0 and self._raw[close + 7 :].strip():
            return self._drop(close + 7)
        return self._drop(start) if final else None

    def _diamond(self, at: int, final: bool) -> bool | None:
        found = re.compile(r"◁(?P<close>/?)(?P<name>\w{1,20})▷").match(self._raw, at)
        if not found:
            waits = "▷" not in self._raw[at : at + 24] and len(self._raw) - at < 24
            return None if waits and not final else False
        if not markup.THINKS.search(found["name"]):
            return self._drop(found.end())
        close = re.compile(rf"◁/{found['name']}▷")
        is_end = found["close"]
        return self._orphan(found.end()) if is_end else self._thought(found.end(), close, final)

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
            if not (final or (line >= 0 and is_followed)) and len(raw) - at < markup.LONGEST_BLOCK:
                return None
            self._show(ticks * is_followed)  # of a fence round nothing
            return self._drop(run.end())
        self._show(raw[at : end + len(ticks)])
        return self._drop(end + len(ticks))

    # ---- paragraphs that may be calls

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
        if markup.REACT.match(raw, at):
            return self._react(at) if final else None
        begins = self.offered and markup.ARGUMENTS.match(raw, word.end())
        is_call = begins and self.offered.find(word["name"].strip())
        return self._block(word.start("name"), final) if is_call else False

    def _may_go_on(self, word: re.Match[str], at: int) -> bool:
        """Whether what stands behind a word has to come before it can be told what it begins."""
        left = len(self._raw) - word.end()
        is_name = 0 < left < 8 and bool(self.offered.find(word["name"]))
        return not left or is_name or bool(markup.BEGINS.fullmatch(self._raw, at))

    def _aloud(self, at: int, final: bool) -> bool | None:
        """Thoughts in plain words at the very beginning: Granite's, and channels whose tokens a
        server took away."""
        raw = self._raw
        for begins, ends, alone in markup.SPOKEN:
            if (done := self._spoken(at, begins, ends, alone, final)) is not False:
                return done
        stripped = markup.STRIPPED.match(raw, at)
        if not stripped:
            return False
        if stripped["channel"] and markup.CHANNEL.match(raw, stripped.start("channel")):
            return self._channel(stripped.start("channel"), final)
        return self._stripped(at) if final else None

    def _spoken(self, at: int, begins: str, ends: str, alone: bool, final: bool) -> bool | None:
        """Thoughts between two sentences, or behind the first where it stands `alone`."""
        rest = self._raw[at : at + len(begins)]
        if not begins.startswith(rest):
            return False
        end = self._raw.find(ends, at)
        if end < 0 and not (final and alone and rest == begins):
            return False if final else None
        self.result.thought = True
        return self._drop(end + len(ends) if end >= 0 else len(self._raw))

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

    def _react(self, at: int) -> bool:
        """`Thought:` is one where an action or the answer follows; an action stands at the end."""
        raw = self._raw
        rest = raw[at:]
        answer = re.search(r"^[ \t*]*Final Answer[ \t*]*:\s*", rest, re.M)
        action = re.search(r"^[ \t*]*Action[ \t*]*:|✿FUNCTION✿|^functools\[", rest, re.M)
        if action and (not answer or action.start() < answer.start()):
            if found := calls_in(rest[action.start() :], self.offered, marked=False):
                self._calls += [c for c in found if c not in self._calls]
                self.result.thought |= action.start() > 0
                return self._drop(len(raw))
        if not answer:
            return False
        self.result.thought |= answer.start() > 0
        return self._drop(at + answer.end())

    def _fence(self, at: int, final: bool) -> bool | None:
        """A block of code: a call where that is all it holds, else shown as it is."""
        raw = self._raw
        opening = markup.FENCE.match(raw, at)
        if opening is None:  # its first line may yet come
            opens = re.compile(r"(?:`{3}|~{3})[^\n]*|`{1,2}|~{1,2}").fullmatch(raw, at)
            return None if opens and not final else False
        close = re.compile(rf"^[ \t]*{opening['ticks']}[ \t]*$", re.M).search(raw, opening.end())
        until, end = close.span() if close else (len(raw), len(raw))
        if not final and end == len(raw):
            return None  # the line may go on
        marked = bool(markup.CALLS.search(opening["lang"]))
        inside = raw[opening.end() : until]
        if (self.offered or marked) and self._take_calls(inside, end, marked=marked):
            return True
        self._show(raw[at:end])
        return self._drop(end)

    def _block(self, at: int, final: bool) -> bool | None:
        """JSON or an expression that begins a line: a call where nothing else stands beside it."""
        if not self.offered:
            return False
        raw, end = self._raw, self._blocks_end(at)
        if end is None:
            if final:
                return self._take_calls(raw[at:], len(raw), marked=False)
            return None if len(raw) - at < markup.LONGEST_BLOCK else False
        behind = len(raw) - len(raw[end:].lstrip(" \t;,"))
        if behind == len(raw) and not final:
            return None
        if behind < len(raw) and raw[behind] not in "\n\r<[`":
            return False
        return self._take_calls(raw[at:end], behind, marked=False)

    def _blocks_end(self, at: int) -> int | None:
        """Where a block ends, and those that follow it on its line; None where one has no end."""
        end = balanced(self._raw, at)
        while end is not None and (more := _NEXT_BLOCK.match(self._raw, end)):
            end = balanced(self._raw, more.end())
        return end

    # ---- channels

    def _channel_token(self, at: int, token: re.Match[str], final: bool) -> bool | None:
        """A channel: of Gemma `<|channel>thought … <channel|>`, of another name that alone goes."""
        if token.group() not in ("<|channel>", "<channel|>"):
            return self._channel(at, final)
        if token.group() == "<channel|>":
            return self._drop(token.end())
        head = re.compile(r"\s*(?P<name>[A-Za-z_]+)(?=[^A-Za-z_])").match(self._raw, token.end())
        if head is None:
            return self._drop(token.end()) if final else None
        if markup.THINKS.search(head["name"]):
            return self._thought(head.end(), re.compile(r"<channel\|>"), final)
        return self._drop(head.end())

    def _channel(self, at: int, final: bool) -> bool | None:
        raw = self._raw
        head = markup.CHANNEL.match(raw, at)
        if head is None:
            return self._broken_channel(at, final)
        to = re.search(r"to=([\w.\-]+)", head["to"])
        if head["name"] == "final" and not to:
            return self._drop(head.end())
        stop = markup.CHANNEL_ENDS.search(raw, head.end())
        if stop is None and not final:
            return None
        end, after = stop.span() if stop else (len(raw), len(raw))
        if raw[end:after] in ("<|start|>", "<|channel|>"):
            after = end
        if to:
            body = raw[head.end() : end].strip() or "{}"
            return self._take_calls(f"{to[1]} {body}", after, marked=True)
        self.result.thought = True
        return self._drop(after)

    def _broken_channel(self, at: int, final: bool) -> bool | None:
        """A channel whose header has not come, or is none."""
        is_short = len(self._raw) - at < markup.LONGEST_HEAD
        if not final and is_short and "<|message|>" not in self._raw[at:]:
            return None
        found = markup.TOKEN.match(self._raw, at)
        return self._drop(found.end() if found else at + 1)
