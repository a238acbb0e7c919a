"""From a message to calls: its sentences, what each does, which function that means, and what to do
when the kernel sends a call back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ... import language
from ..protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from . import answering, recall, replies
from .choosing import MATTER, MATTER_COVERAGE, asked_for, best, is_specific, names_matter, ranked
from .entities import find_entities
from .filling import Filled, fill
from .matching import Match, index_of, telling
from .reading import Fact, Reading, read_prompt
from .schema import arguments_of
from .speech import Leads, Sentence, is_yes, sentences
from .words import concepts, has, state, words

KERNEL = "kernel"
"""App id of the kernel's own functions: this model needs none of them."""

DESTRUCTIVE = "destructive"
STRONG = 3.0
"""Least score of either half of `X and Y`."""

LIKE_AN_EXAMPLE = 0.7
"""Likeness from which a question is one of a function's examples."""

STATED = 7
"""Words of a remark that tells a thing's state at most."""

FRAGMENT = 5
"""Words of a noun phrase that is read as "show me …" at most."""

CLAUSES = 10
"""Calls of one message at most, and places at which a cut is tried."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """One call with what it still lacks; `sure` when it may have an effect without asking."""

    tool: ToolSpec
    filled: Filled
    sure: bool = True
    polite: bool = False


def classify(request: ModelRequest) -> ModelResponse:
    """The classifier's answer: calls, or a text that answers, asks or declines."""
    reading = read_prompt(request.prompt)
    tag = language.detect(reading.message, request.language)
    tools = tuple(t for t in request.tools if t.app_id != KERNEL)
    if not tools:
        return ModelResponse(text=replies.unknown(tools, tag))
    if not all(r.ok for r in reading.results):  # "it" may mean what failed: nothing older does
        done = [r for r in reversed(reading.results) if r.ok]
        reading.facts = [Fact(r.app_id, r.fn_name, r.data, r.arguments) for r in done]
    return _Message(reading, tools, tag).answer()


class _Message:
    """One message in its conversation."""

    def __init__(self, reading: Reading, tools: tuple[ToolSpec, ...], tag: str) -> None:
        self.reading, self.tools, self.tag = reading, tools, tag
        self.index = index_of(tools)
        self.leads = Leads.of(self.index)
        self.apps = [f.app_id for f in reading.facts] or reading.apps
        self.planned: list[_Planned] = []
        self.earlier: list[tuple[ToolSpec, int]] = []
        self.text = ""

    def answer(self) -> ModelResponse:
        """Calls where there are any, else words."""
        self.plan()
        left = self._left()
        if not self.planned:
            return ModelResponse(text=self.text or replies.unknown(self.tools, self.tag))
        missing = next((p for p in left if p.filled.missing), None)
        if missing:
            if missing.polite and missing.tool.action_type != "read":
                return ModelResponse(text=replies.able(missing.tool, self.tag))
            return ModelResponse(text=replies.ask(missing.filled.missing, self.tag))
        unsure = [p for p in left if not p.sure and p.tool.action_type != "read"]
        if unsure and not self.reading.problems:
            told = ((p.tool, self._named(p)) for p in left)
            return ModelResponse(text=replies.shall_i(told, self.tag))
        if not left or not self._mend(left):
            said = [
                ": ".join(str(p[k]) for k in ("field", "problem") if p.get(k))
                for p in self.reading.problems
            ]
            return ModelResponse(text=replies.gave_up(said, self.tag))
        calls_ = tuple(ToolCall(p.tool.name, p.filled.arguments) for p in left)
        return ModelResponse(tool_calls=calls_, stop_reason="tool_use")

    def _named(self, call: _Planned) -> list[str]:
        """What a call is about, in words the user has read or written."""
        told: list[str] = []
        for argument in arguments_of(call.tool.input_schema):
            value = call.filled.arguments.get(argument.name)
            each = value if isinstance(value, list) else [value]
            if argument.kind == "id":
                told += [recall.label_of(self.reading.facts, argument.name, v) for v in each]
            elif argument.kind in ("text", "email", "party", "url"):
                told += [str(v) for v in each if v]
        return [t for t in told if t]

    def plan(self) -> None:
        """The message itself; where it answers our own question, with what it was asked about."""
        message = self.reading.message
        before, reply = next(iter(self.reading.turns), ("", ""))
        if is_yes(message, self.tag) and replies.is_question_of_ours(reply, "shall_i"):
            self.tag = language.detect(before, self.tag)
            return self._read(before, agreed=True)
        found = sentences(message, self.tag, self.leads)
        bare = all(
            s.act in ("remark", "question") for s in found
        ) and not message.rstrip().endswith("?")
        if bare and replies.is_question_of_ours(reply, "needs"):
            joined = f"{before} {message}"
            self._read(joined)
            if self.planned and not any(p.filled.missing for p in self.planned):
                return None
            self.planned.clear()
            self.earlier.clear()
        return self._read(message)

    def _read(self, message: str, *, agreed: bool = False) -> None:
        found = sentences(message, self.tag, self.leads)
        held = any(s.act in ("prohibition", "supposition") for s in found)
        for sentence in found:
            if agreed and sentence.act == "request":
                sentence = replace(sentence, act="command")
            for clause in self._clauses(sentence):
                self._clause(clause, held=held and not agreed, agreed=agreed)

    def _clause(self, sentence: Sentence, *, held: bool, agreed: bool) -> None:
        if sentence.act in ("command", "request"):
            match = asked_for(sentence, self.index, self._context())
            if match:
                sure = agreed or (
                    sentence.act == "command"
                    and not held
                    and is_specific(sentence, match, self.index)
                )
                self._add(match.tool, sentence, sure=sure)
                return
            if self._fragment(sentence):
                return
        elif sentence.act == "question":
            self._question(sentence)
            return
        elif sentence.act == "remark" and (
            self._again(sentence) or self._state_told(sentence) or self._fragment(sentence)
        ):
            return
        self._say(self._words_for(sentence))

    def _say(self, text: str) -> None:
        self.text = self.text or text

    def _words_for(self, sentence: Sentence) -> str:
        """What is said to a sentence that asks for nothing."""
        spoken = language.of(self.tag)
        if sentence.act == "greeting" or any(
            has(w, self.tag, "help") for w in words(sentence.text, self.tag)[:2]
        ):
            return replies.capabilities(self.tools, self.tag)
        if sentence.act == "thanks":
            return spoken.say("welcome")
        if sentence.act in ("yes", "no"):
            return spoken.say("nothing_waits")
        if any(has(w, self.tag, "no") for w in words(sentence.text, self.tag)[:1]):
            return spoken.say("what_instead")
        if sentence.act in ("prohibition", "supposition"):
            return spoken.say("nothing_done")
        if sentence.act in ("command", "request"):
            return replies.unknown(self.tools, self.tag)
        return replies.noted(self.tools, self.tag)

    def _context(self) -> list[str]:
        return [self.planned[-1].tool.app_id, *self.apps] if self.planned else self.apps

    def _add(self, tool: ToolSpec, sentence: Sentence, *, sure: bool = True) -> None:
        known = self.index.vocabulary[tool.name]
        filled = fill(tool, sentence, self.reading, known, self.earlier)
        if filled.missing and tool.action_type == DESTRUCTIVE and not self._says_more(sentence):
            filled = self._resumed(tool) or filled
        said = words(sentence.text, self.tag)
        polite = sentence.act == "request" and any(has(w, self.tag, "ability") for w in said)
        self.planned.append(_Planned(tool, filled, sure, polite))
        if len(self.planned) > len(self.reading.results):  # results of steps that ran are facts
            self.earlier.append((tool, len(self.planned) - 1))

    def _says_more(self, sentence: Sentence) -> bool:
        """Whether more than its verb stands in the sentence."""
        said = telling(words(sentence.text, self.tag), self.tag)
        return any(
            w.text != (sentence.verb and sentence.verb.text) and not has(w, self.tag, "opener")
            for w in said
        )

    def _resumed(self, tool: ToolSpec) -> Filled | None:
        """The same call as in an earlier message: after a no, a bare verb means what it meant then.
        Only for what the kernel asks about anyway."""
        for message, _ in self.reading.turns:
            for sentence in sentences(message, self.tag, self.leads):
                match = asked_for(sentence, self.index, self.apps)
                if match and match.tool.name == tool.name:
                    known = self.index.vocabulary[tool.name]
                    return fill(tool, sentence, self.reading, known)
        return None

    def _again(self, sentence: Sentence) -> bool:
        """ "The same to bob@example.com", "no, to Bob instead": the last effect with another value."""
        fact = next(iter(self.reading.facts), None)
        tool = next(
            (
                t
                for t in self.tools
                if fact and (t.app_id, t.fn_name) == (fact.app_id, fact.fn_name)
            ),
            None,
        )
        kinds = {e.kind for e in find_entities(sentence.text)}
        if tool is None or tool.action_type == "read" or "email" not in kinds:
            return False
        if not any(a.kind == "email" and a.required for a in arguments_of(tool.input_schema)):
            return False
        self._add(tool, sentence, sure=False)
        return True

    def _state_told(self, sentence: Sentence) -> bool:
        """ "The first one is done": what a function would bring about, said of one thing."""
        said = words(sentence.text, self.tag)
        if len(said) > STATED or any(has(w, self.tag, "others", "question") for w in said):
            return False
        for match in ranked(sentence, self.index, self._context()):
            known = self.index.vocabulary[match.tool.name]
            told = next((w for w in said if state(w.text, self.tag) & known.commands), None)
            if told and match.tool.action_type == "write":
                asked = replace(sentence, verb=told)
                filled = fill(match.tool, asked, self.reading, known, self.earlier)
                if any(
                    a.kind == "id" and a.name in filled.arguments
                    for a in arguments_of(match.tool.input_schema)
                ):
                    self._add(match.tool, asked, sure=False)
                    return True
        return False

    def _fragment(self, sentence: Sentence) -> bool:
        """A noun phrase or something like an example of a read: "emails from Ivan"."""
        reads = [
            m for m in ranked(sentence, self.index, self._context()) if m.tool.action_type == "read"
        ]
        said = words(sentence.text, self.tag)
        spoken = any(has(w, self.tag, "copula", "first_person", "others", "saying") for w in said)
        told = telling(said, self.tag)
        thing = any(c[0] == "#" for w in told[:2] for c in concepts(w.text, self.tag))
        like = bool(reads) and reads[0].likeness >= LIKE_AN_EXAMPLE
        if spoken or not (like or len(told) <= (FRAGMENT if thing else 1)):
            return False
        tool = self._read_for(sentence, reads)
        if tool is not None:
            self._add(tool, sentence)
        return tool is not None

    def _question(self, sentence: Sentence) -> None:
        """Never an effect: a read, or words from what the prompt holds."""
        asked = answering.Asked(sentence)
        fitting = ranked(sentence, self.index, self._context())
        reads = [m for m in fitting if m.tool.action_type == "read"]
        able = any(has(w, self.tag, "ability") for w in asked.said)
        addressed = any(has(w, self.tag, "others") for w in asked.said)
        if not asked.telling and (able or addressed):
            self._say(replies.capabilities(self.tools, self.tag))
        elif reads and reads[0].likeness >= LIKE_AN_EXAMPLE:
            self._add(reads[0].tool, sentence)
        elif text := self._known(asked, fitting, able=able):
            self._say(text)
        elif tool := self._read_for(sentence, reads):
            self._add(tool, sentence)
        else:
            related = any(names_matter(sentence, m, self.index) for m in fitting)
            known = language.of(self.tag).say("not_known")
            self._say(known if related else replies.unknown(self.tools, self.tag))

    def _read_for(self, sentence: Sentence, reads: Sequence[Match]) -> ToolSpec | None:
        """The read that fits: one whose matter is named needs less evidence. Else one of the newest
        app that the words are a value of ("what's left?")."""
        named = [m for m in reads if names_matter(sentence, m, self.index)]
        if match := best(reads) or best(named, MATTER, MATTER_COVERAGE):
            return match.tool
        told = [
            w
            for w in telling(words(sentence.text, self.tag), self.tag)
            if not has(w, self.tag, "question", "opener")
        ]
        pointing = recall.reference(words(sentence.text, self.tag), self.tag) is not None
        for tool in self.tools:
            if tool.action_type == "read" and tool.app_id == next(iter(self.apps), ""):
                arguments = arguments_of(tool.input_schema)
                if pointing and any(a.kind == "id" for a in arguments):
                    return tool
                known = {f for a in arguments for _, said in a.values for f in said}
                if told and all(w.text in known or w.stem in known for w in told):
                    return tool
        return None

    def _known(self, asked: answering.Asked, fitting: Sequence[Match], *, able: bool) -> str:
        """What the prompt itself holds for a question."""
        effect = answering.about_an_effect(asked, self.index, fitting)
        how = any(w.text in language.of(self.tag).words.forms("manner") for w in asked.said)
        if effect and (able or how):
            return replies.able(effect, self.tag)
        if text := answering.from_facts(asked, self.reading.facts):
            return text
        if effect and not asked.wants & {"count", "which"}:
            return answering.done_before(effect, self.reading, asked)
        return answering.from_overview(asked, self.reading.overview)

    def _clauses(self, sentence: Sentence) -> Iterator[Sentence]:
        """The sentence cut at `and then` where both halves ask for something, at a plain `and` only
        where the second is complete by itself."""
        start, text = 0, sentence.text
        for cut in list(_cuts(text, self.tag))[:CLAUSES]:
            halves = text[start : cut.start()], text[cut.end() :]
            if 0 <= sentence.content < cut.start() and not cut["then"]:
                continue
            first, second = (sentences(h, self.tag, self.leads)[:1] for h in halves)
            if first and second and self._both(first[0], second[0], then=bool(cut["then"])):
                yield first[0]
                start = cut.end()
        rest = sentence if not start else next(iter(sentences(text[start:], self.tag, self.leads)))
        yield rest

    def _both(self, first: Sentence, second: Sentence, *, then: bool) -> bool:
        asking = ("command", "request", "question")
        if first.act not in asking or second.act not in asking:
            return False
        least = STRONG if not then else 2.0
        one = asked_for(first, self.index, self.apps, least) or best(
            ranked(first, self.index), least
        )
        if one is None:
            return False
        other = asked_for(second, self.index, [one.tool.app_id], least)
        if other is None:
            return False
        known = self.index.vocabulary[other.tool.name]
        return then or not fill(other.tool, second, self.reading, known).missing

    def _left(self) -> list[_Planned]:
        """What has not run yet, and what failed in a way the kernel wants mended."""
        results = list(self.reading.results)
        left = []
        for call in self.planned:
            ran = next(
                (
                    r
                    for r in results
                    if (r.app_id, r.fn_name) == (call.tool.app_id, call.tool.fn_name)
                ),
                None,
            )
            if ran:
                results.remove(ran)
            if ran is None or (
                not ran.ok and any(_about(p, call.tool) for p in self.reading.problems)
            ):
                left.append(call)
        return left

    def _mend(self, calls: Sequence[_Planned]) -> bool:
        """Refused optional arguments are dropped, numbers moved to their limit. False when
        something cannot be mended.

        A problem of no field is mended where results have come since: then references find their
        values in them.
        """
        return all(_mended(p, calls, bool(self.reading.results)) for p in self.reading.problems)


def _mended(problem: dict[str, Any], calls: Sequence[_Planned], later: bool) -> bool:
    name = str(problem.get("field", "")).partition(".")[0]
    call = next(
        (c for c in calls if _about(problem, c.tool) and (not name or name in c.filled.arguments)),
        None,
    )
    if call is None:
        return False
    argument = next((a for a in arguments_of(call.tool.input_schema) if a.name == name), None)
    if argument is None:
        return later and not name
    values = call.filled.arguments
    limit = re.search(r"-?\d+", str(problem.get("limit")))
    if argument.kind == "number" and limit and values[name] != int(limit[0]):
        values[name] = int(limit[0])
    elif argument.required or argument.kind == "id":
        return False
    else:
        del values[name]
    return True


def _about(problem: dict[str, Any], tool: ToolSpec) -> bool:
    """Whether a problem names this function, or none."""
    return str(problem.get("call", "")) in (
        "",
        tool.name,
        tool.fn_name,
        f"{tool.app_id}.{tool.fn_name}",
    )


def _cuts(text: str, tag: str) -> Iterator[re.Match[str]]:
    quotes = [e for e in find_entities(text) if e.kind == "quote"]
    for m in _joints(tag).finditer(text):
        if not any(q.start < m.start() < q.end for q in quotes):
            yield m


@lru_cache(maxsize=16)
def _joints(tag: str) -> re.Pattern[str]:
    """`and`, `, then`, `and after that`: where a sentence may be cut."""
    spoken = language.of(tag).words
    joined = "|".join(map(re.escape, sorted(spoken.forms("and_")))) or "(?!)"
    then = "|".join(map(re.escape, sorted(spoken.forms("sequence")))) or "(?!)"
    fillers = "|".join(map(re.escape, sorted(spoken.forms("reference"), key=len, reverse=True)))
    return re.compile(
        rf",?\s+(?:(?:{joined})\s+)?(?P<then>(?:{then})(?:\s+(?:{fillers}))?)\s+|,?\s+(?:{joined})\s+",
        re.IGNORECASE,
    )


def meant(message: str, tools: tuple[ToolSpec, ...]) -> ToolSpec | None:
    """The function that a message by itself means, None when it means none."""
    turn = _Message(Reading(message=message), tools, language.detect(message))
    turn.plan()
    return turn.planned[0].tool if turn.planned else None
