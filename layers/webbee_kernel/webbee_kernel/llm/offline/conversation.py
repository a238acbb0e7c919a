"""One message in its conversation: what is planned for it so far, and what is said."""

from __future__ import annotations

from dataclasses import dataclass

from ... import language
from ..protocol import ToolSpec
from . import recall, replies
from .acts import Leads
from .choosing import asked_for, names_matter, nearest
from .filling import Filled, fill
from .matching import index_of, telling
from .reading import Reading
from .schema import arguments_of, takes
from .speech import Sentence, sentences
from .words import has, words

DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True)
class Planned:
    """One call with what it still lacks; `sure` when it may have an effect without asking,
    `polite` when it was asked for by "can you …"."""

    tool: ToolSpec
    filled: Filled
    sure: bool = True
    polite: bool = False


class Conversation:
    """A message with what came before it. `agreed`: the user has said yes to our question about
    it."""

    def __init__(self, reading: Reading, tools: tuple[ToolSpec, ...], tag: str) -> None:
        self.reading, self.tools, self.tag = reading, tools, tag
        self.index = index_of(tools)
        self.leads = Leads.of(self.index)
        self.apps = [f.app_id for f in reading.facts] or reading.apps
        self.planned: list[Planned] = []
        self.earlier: list[tuple[ToolSpec, int]] = []
        self.text = ""
        self.agreed = False
        self.looks = False

    def context(self) -> list[str]:
        """The apps that are spoken of, the newest first."""
        return [self.planned[-1].tool.app_id, *self.apps] if self.planned else self.apps

    def add(self, tool: ToolSpec, sentence: Sentence, *, sure: bool = True) -> None:
        """Plan a call of this function."""
        known = self.index.vocabulary[tool.name]
        filled = fill(tool, sentence, self.reading, known, self.earlier)
        if filled.missing and tool.action_type == DESTRUCTIVE and not self._says_more(sentence):
            filled = self._resumed(tool) or filled
        said = words(sentence.text, self.tag)
        polite = sentence.act == "request" and any(has(w, self.tag, "ability") for w in said)
        self.planned.append(Planned(tool, filled, sure or self.agreed, polite))
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

    def named(self, call: Planned) -> list[str]:
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

    def say(self, text: str) -> None:
        """The answer in words; the first stays."""
        self.text = self.text or text

    def _begins(self, sentence: Sentence, role: str, most: int) -> bool:
        return any(has(w, self.tag, role) for w in words(sentence.text, self.tag)[:most])

    def words_for(self, sentence: Sentence) -> str:
        """What is said to a sentence that asks for nothing."""
        spoken = language.of(self.tag)
        if sentence.act == "greeting" or self._begins(sentence, "help", 2):
            return replies.capabilities(self.tools, self.tag)
        if sentence.act == "thanks":
            return spoken.say("welcome")
        if sentence.act in ("yes", "no"):
            return spoken.say("nothing_waits")
        if self._begins(sentence, "no", 1):
            return spoken.say("what_instead")
        if sentence.act in ("prohibition", "supposition"):
            return spoken.say("nothing_done")
        if sentence.act in ("command", "request"):
            return self.which(sentence) or replies.unknown(self.tools, self.tag)
        return replies.noted(self.tools, self.tag)

    def which(self, sentence: Sentence) -> str:
        """The question which of the nearest functions is meant."""
        near = [
            m.tool
            for m in nearest(sentence, self.index, self.context())
            if m.tool.action_type != "read" or names_matter(sentence, m, self.index)
        ]
        return replies.one_of_these(near, self.tag) or self.with_this(sentence)

    def with_this(self, sentence: Sentence) -> str:
        """The question what to do with the things that were shown last, where a sentence points at
        one of them."""
        if recall.reference(words(sentence.text, self.tag), self.tag) is None:
            return ""
        newest = next((f.app_id for f in self.reading.facts), "")
        mine = [t for t in self.tools if t.app_id == newest and takes(t.input_schema, "id")]
        return replies.one_of_these(mine, self.tag, len(mine))

    def app_of_thing(self, sentence: Sentence) -> str:
        """The app of the one remembered thing whose title stands in the sentence."""
        said = {w.stem for w in words(sentence.text, self.tag)}
        found = {f.app_id for f in self.reading.facts if recall.titled([f], "id", said, self.tag)}
        return next(iter(found)) if len(found) == 1 else ""
