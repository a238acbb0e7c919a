"""What the offline model says itself, in the language of the message; the sentences are
`language`'s."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ... import language
from ...base.apart import told_apart
from ...values.plain import JSONObject
from ..protocol import ToolSpec
from .schema import Argument
from .words import concepts, idle, words

_SENTENCE = re.compile(r"(?<!e\.g)(?<!i\.e)\.(?:\s|$)")
_CUT = re.compile(r"[:;,.«“\"(]")  # where what a function does is over
_EXAMPLES = 3  # shown together
_SHOWN = 60  # characters of a value in a question
_KINDS = {"id": "id", "email": "to", "date": "due"}  # what arguments of a kind may be called


def ask(tool: ToolSpec, missing: Iterable[Argument], tag: str) -> str:
    """What has to be said for the call to be possible; where the language has no word for it, as an
    example of the function's says it."""
    wanted = dict.fromkeys(filter(None, (_label(argument, tag) for argument in missing)))
    needs = language.of(tag).say("needs", what=", ".join(wanted) or "\u2026")
    return needs if wanted else _with_examples([tool] if _is_in(tool, tag) else [], tag, needs)


def _label(argument: Argument, tag: str) -> str:
    """The language's word for an argument, by its name or its kind, else what its author says of it
    where that is in the language."""
    spoken = language.of(tag)
    told = _SENTENCE.split(argument.description, 1)[0] or argument.name.replace("_", " ")
    own = told if tag in ("en", language.detect(told)) else ""
    kind = "" if own and argument.kind != "id" else _KINDS.get(argument.kind, "")
    known = (k for k in (f"label_{argument.name}", f"label_{kind}") if spoken.has(k))
    return spoken.say(key) if (key := next(known, "")) else own


CLOSED = ("shall_i", "noted", "what_instead", "nothing_there", "nothing_about")
OURS = ("needs", "which_one", "one_of_these", *CLOSED)
"""Our own questions, to which a message may be the answer; to some only yes or no."""


def question_of_ours(reply: str) -> str:
    """Which question of ours a remembered reply is; empty where it is none."""
    return next((k for k in OURS if is_question_of_ours(reply, k)), "")


def is_question_of_ours(reply: str, key: str) -> bool:
    """Whether a remembered reply is our sentence `key`, in any language."""
    blank = dict.fromkeys(("what", "examples", "does", "there"), "\0")
    begins = (language.of(t).say(key, **blank).partition("\0")[0] for t in language.tags())
    return any(reply.startswith(b) for b in begins)


def unknown(tools: Sequence[ToolSpec], tag: str) -> str:
    """Nothing matched: that, and what there is."""
    spoken = language.of(tag)
    if not tools:
        return spoken.say("cannot_help_alone")
    return spoken.say("cannot_help", apps=_apps(tools))


def capabilities(tools: Sequence[ToolSpec], tag: str) -> str:
    """The answer to a greeting and to "what can you do": the apps, and what can be said to them."""
    spoken = language.of(tag)
    if not tools:
        return spoken.say("greets_alone")
    return _with_examples(tools, tag, spoken.say("greets", apps=_apps(tools)))


def one_of_these(choices: Sequence[str], tag: str) -> str:
    """The question which of these is meant; empty where there is none."""
    told = ", ".join(choices)
    return language.of(tag).say("one_of_these", examples=told) if told else ""


def examples_of(tools: Sequence[ToolSpec], tag: str) -> list[str]:
    """An example of each function that has one."""
    return [quoted(e, tag) for t in tools if (e := _example(t, tag))]


def which_one(tool: ToolSpec, titled: Sequence[tuple[str, JSONObject]], tag: str) -> str:
    """The question which of these things, `(title, fields)`, a call is about; where there are none,
    that."""
    spoken = language.of(tag)
    does = spelled(tool, (), tag) if tag == "en" or _own_words(tool, tag) else tool.app_id
    if not titled:
        return spoken.say("nothing_there", what=does)
    own = zip(titled, told_apart(titled), strict=True)
    told = ", ".join(quoted(_short(title), tag) + more for (title, _), more in own)
    return spoken.say("which_one", what=told, does=does)


def nothing_about(words: Sequence[str], titles: Sequence[str], tag: str) -> str:
    """That nothing was found, and the question what of `titles` to look into instead."""
    spoken = language.of(tag)
    sought = ", ".join(quoted(w, tag) for w in words)
    if not titles:
        return spoken.say("nothing_like_it", what=sought)
    told = ", ".join(quoted(_short(t), tag) for t in titles)
    return spoken.say("nothing_about", what=sought, there=told)


def noted(tools: Sequence[ToolSpec], tag: str) -> str:
    """The answer to a remark."""
    examples = _examples(tools, tag, 1)
    return language.of(tag).say("noted", examples=examples) if examples else unknown(tools, tag)


def able(tool: ToolSpec, tag: str) -> str:
    """The answer to "can you …" and "how do I …": what the function does, how it is asked for."""
    return _with_examples(
        (tool,), tag, language.of(tag).say("able", what=tool.description.rstrip("."))
    )


def shall_i(calls: Sequence[str], tag: str) -> str:
    """Whether these calls are meant, as `spelled` tells them."""
    return language.of(tag).say("shall_i", what="; ".join(calls))


def spelled(tool: ToolSpec, about: Sequence[str], tag: str) -> str:
    """What a call would do, and what it is about."""
    named = ", ".join(quoted(_short(a), tag) for a in about)
    does = quoted(_does(tool, tag), tag)
    return f"{does} – {named} ({tool.app_id})" if named else f"{does} ({tool.app_id})"


def _does(tool: ToolSpec, tag: str) -> str:
    """What a function does as a person says it: its description's beginning; in another language
    in words of that, where there are any."""
    told = _CUT.split(tool.description)[0].strip() or tool.fn_name.replace("_", " ")
    own = "" if tag == "en" else _own_words(tool, tag)
    return own or told[:1].lower() + told[1:]


def _own_words(tool: ToolSpec, tag: str) -> str:
    """The shortest example in this language, without what it is about, else the language's verb for
    what the function does; empty where there is neither."""
    asked = [_CUT.split(e)[0].strip() for e in tool.examples if language.detect(e) == tag]
    act = language.of("en").words.effects.get(language.stem(tool.fn_name.split("_")[0], "en"), "")
    verb, spoken = f"ask_{act}", language.of(tag)
    told = tool.action_type != "read" and spoken.has(verb) and spoken.say(verb, what="\u2026")
    return min(filter(None, asked), key=len, default="") or (told or "").strip(
        "\u00bf? \u00a0\u202f"
    )


def gave_up(problems: Iterable[str], tag: str) -> str:
    """The arguments were refused and cannot be mended here."""
    listed = "; ".join(dict.fromkeys(p.rstrip(".") for p in problems if p))
    spoken = language.of(tag)
    return spoken.say("could_not", why=listed) if listed else spoken.say("could_not_at_all")


def said_as(text: str, tag: str) -> str:
    """The telling words of a question, as it said them: they label the answer."""
    return " ".join(
        text[w.start : w.end]
        for w in words(text, tag)
        if not idle(w.text, tag) and w.text not in _asking(tag) and not _is_shown(w.text, tag)
    )


def _is_shown(word: str, tag: str) -> bool:
    return "=show" in concepts(word, tag)


def _asking(tag: str) -> frozenset[str]:
    spoken = language.of(tag).words
    return spoken.forms("question") | frozenset(spoken.meanings("asks"))


def _examples(tools: Sequence[ToolSpec], tag: str, most: int = _EXAMPLES) -> str:
    """One example of each app, in this language where there is one, reads first: what harms nobody
    is tried first."""
    order = sorted(tools, key=lambda t: (t.action_type != "read", not _is_in(t, tag)))
    chosen: dict[str, str] = {}
    for tool in order:
        if tool.app_id not in chosen and (example := _example(tool, tag)):
            chosen[tool.app_id] = example
    return ", ".join(quoted(e, tag) for e in list(chosen.values())[:most])


def _with_examples(tools: Sequence[ToolSpec], tag: str, text: str) -> str:
    """The text with examples behind it, where there are some."""
    examples = _examples(tools, tag)
    return f"{text} {language.of(tag).say('for_example', examples=examples)}" if examples else text


def _example(tool: ToolSpec, tag: str) -> str:
    return min(tool.examples, key=lambda e: language.detect(e) != tag, default="")


def _is_in(tool: ToolSpec, tag: str) -> bool:
    return any(language.detect(e) == tag for e in tool.examples)


def quoted(text: str, tag: str) -> str:
    """The text in the language's quotation marks."""
    return f"«{text}»" if language.of(tag).script == "cyrillic" else f"“{text}”"


def _apps(tools: Sequence[ToolSpec]) -> str:
    return ", ".join(dict.fromkeys(t.app_id for t in tools))


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
