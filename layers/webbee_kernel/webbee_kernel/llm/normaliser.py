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
from collections.abc import Callable
from dataclasses import dataclass

from .answer_text import (
    CALLS,
    ENDS,
    LEAST_HEAD,
    LONGEST_TAG,
    OLD,
    OTHERS,
    ROLE,
    TAG,
    THINKS,
    THOUGHT_TOKEN_ENDS,
    TOKEN,
    TURN,
    VENDOR,
    WORD_TOKENS,
    WRAPS,
)
from .paragraphs import ParagraphReader


@dataclass(slots=True)
class Normaliser(ParagraphReader):
    """Takes an answer in pieces; `feed` returns what may be shown of it by now, `close` the rest
    and then all of it as `result`."""

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
            readers.insert(0, self._square)
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

    # ---- elements and tokens

    def _angle(self, at: int, final: bool) -> bool | None:
        raw = self._raw
        nearby = raw[at : at + LONGEST_TAG]
        is_byte = "<0x".startswith(nearby[:3])
        if not is_byte and not _begins(nearby[1:2]):
            return False
        if ">" not in nearby.partition("\n")[0]:  # a tag stands on one line
            return self._unclosed(nearby, final)
        if old := OLD.match(raw, at):
            return self._drop(old.end())
        if is_byte:
            return False
        if vendor := VENDOR.match(raw, at):
            return self._vendor_element(at, vendor, final)
        if token := TOKEN.match(raw, at):
            return self._token(at, token, final)
        tag = TAG.match(raw, at)
        return self._element(at, tag, final) if tag else False

    def _unclosed(self, nearby: str, final: bool) -> bool | None:
        """A tag without its end: one that may still come, one cut off, or plain text."""
        if len(nearby) < LONGEST_TAG and "\n" not in nearby and not final:
            return None
        begun = re.fullmatch(r"<(?P<sign>[/|｜]?)(?P<name>[\w▁:=.\-]*)[|｜]?", nearby)
        if not final or begun is None:
            return False
        is_markup = begun["sign"] or CALLS.search(begun["name"]) or THINKS.search(begun["name"])
        return self._drop(len(self._raw)) if is_markup else False

    def _element(self, at: int, tag: re.Match[str], final: bool) -> bool | None:
        name = tag["name"]
        if (THINKS.search(name) and not CALLS.search(name)) or _is_thought(tag):
            if tag["close"]:
                return self._orphan(tag.end())
            return self._thought(tag.end(), re.compile(rf"</{re.escape(name)}\s*>", re.I), final)
        if self._is_call(tag):
            return self._call_element(tag, final)
        if WORD_TOKENS.fullmatch(name) and not tag["rest"]:
            return self._word_token(tag, final)
        if not WRAPS.fullmatch(name) or tag["rest"]:
            self._show(self._raw[at : tag.end()])
        return self._drop(tag.end())

    def _is_call(self, tag: re.Match[str]) -> bool:
        """Whether an element is a call's: by its name, or as it is named as an offered function."""
        if CALLS.search(tag["name"]):
            return True
        local = tag["name"].rpartition(":")[2]
        return bool(self.offered and self.offered.find(local) and not tag["close"])

    def _word_token(self, tag: re.Match[str], final: bool) -> bool | None:
        """A special token in an element's form: `</s>`, `<end_of_turn>`, `<unused94>`."""
        name, raw = tag["name"], self._raw
        if name.startswith("unused"):
            if re.compile(r"\s*thought\b").match(raw, tag.end()):
                return self._thought(tag.end(), re.compile(r"<unused\d+>"), final)
            if not final and len(raw) - tag.end() < LEAST_HEAD:
                return None
        ends = ENDS.search(name) or (tag["close"] and name == "s")
        if ends and self._end():
            return True
        return self._role(tag.end(), name, final)

    def _vendor_element(self, at: int, vendor: re.Match[str], final: bool) -> bool | None:
        """An element with its vendor's token before its name, as DeepSeek's `<｜DSML｜invoke>`."""
        raw = self._raw
        name = re.compile(r"[\w.\-]+").match(raw, vendor.end())
        assert name
        end = raw.index(">", at) + 1
        if vendor["begin"] == "</" or not CALLS.search(name.group()):
            return self._drop(end)
        close = raw.find(f"</{raw[at + 1 : name.end()]}>", end)
        if close < 0 and not final:
            return None
        stop = raw.index(">", close) + 1 if close >= 0 else len(raw)
        return self._take_calls(VENDOR.sub(r"\g<begin>", raw[at:stop]), stop, marked=True)

    def _call_element(self, tag: re.Match[str], final: bool) -> bool | None:
        """A call's element with all it holds, or to the end of the answer."""
        raw, end = self._raw, tag.end()
        if tag["close"]:
            return self._drop(end)
        if raw[end - 2] == "/":
            return self._take_calls(tag.group(), end, marked=True)
        close = re.compile(rf"</{re.escape(tag['name'])}\s*>", re.I).search(raw, end)
        if close is None and not final:
            return None
        stop = close.end() if close else len(raw)
        return self._take_calls(raw[tag.start() : stop], stop, marked=True)

    def _token(self, at: int, token: re.Match[str], final: bool) -> bool | None:
        name = (token["name"] or token["tail"] or token["square"]).strip("/ ")
        if name == "recipient":
            return self._recipient(at, token, final)
        if name == "channel":
            return self._channel_token(at, token, final)
        if OTHERS.fullmatch(name):
            return self._end() or self._drop(token.end())
        if THINKS.search(name):
            return self._thought_token(token, final)
        if CALLS.search(name):
            return self._call_tokens(at, final)
        if TURN.match(name):
            return self._role(token.end(), name, final)
        return self._ends_with(name) or self._drop(token.end())

    def _recipient(self, at: int, token: re.Match[str], final: bool) -> bool | None:
        """Whom the answer goes to: the user, or a function."""
        to = re.compile(r"\s*(?P<name>[\w.\-]+)(?=[^\w.\-])").match(self._raw, token.end())
        if to is None:
            return None if not final else self._drop(len(self._raw))
        is_call = bool(self.offered.find(to["name"]))
        return self._call_tokens(at, final) if is_call else self._drop(to.end())

    def _square(self, at: int, final: bool) -> bool | None:
        """A token in square brackets: `[|endofturn|]`."""
        if token := TOKEN.match(self._raw, at):
            return self._token(at, token, final)
        waits = len(self._raw) - at < 44 and re.fullmatch(r"\[\|/?\w*\|?", self._raw[at:])
        return None if waits and not final else False

    def _thought_token(self, token: re.Match[str], final: bool) -> bool | None:
        """A token before a thought, or behind one."""
        if re.search(r"end|/|close|suffix", token.group(), re.I):
            return self._orphan(token.end())
        return self._thought(token.end(), THOUGHT_TOKEN_ENDS, final)

    def _ends_with(self, name: str) -> bool:
        """Whether a token of this name ends the turn; the end of a header does not."""
        is_end = ENDS.search(name) and "header" not in name and "role" not in name
        return bool(is_end) and self._end()

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
        if not TURN.match(name) and not name.lower().startswith(("start", "begin")):
            return self._drop(end)
        rest = self._raw[end : end + 40]
        if not final and len(rest) < 40 and re.fullmatch(r"[ \t]*\w*(?:<\|[^<>]*)?", rest):
            return None
        whose = re.match(r"\s*(\w+)", rest)
        if whose and whose[1].lower() in ("user", "system", "tool", "human", "developer"):
            return self._end() or self._drop(end + whose.end())
        found = ROLE.match(self._raw, end)
        return self._drop(found.end() if found else end)


def _is_thought(tag: re.Match[str]) -> bool:
    """Whether an element of another name says that it holds thoughts: `<details type="reasoning">`,
    as front ends fold them."""
    rest = re.search(r"""\b(?:type|class)=["']?([\w-]+)""", tag["rest"] or "")
    return bool(rest and THINKS.search(rest[1]))


def _begins(sign: str) -> bool:
    """Whether markup may go on like this behind its angle bracket; empty where nothing came yet."""
    return sign.isalpha() or sign in "/|｜_<"
