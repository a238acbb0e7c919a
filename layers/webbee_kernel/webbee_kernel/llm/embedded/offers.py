"""The answer to what is no whole command: a text with buttons: candidate records, the function's
form, the nearest examples, and a link to set up a real model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from typing import Final, cast

from ... import language
from ...catalogue import SLOT, example_phrase
from ...sdk import ui
from ...sdk.ui import UIAction, UINode
from ...text import disambiguate
from ...types import JSONObject
from ..function_form import form_of, missing_fields, parameters
from ..protocol import NO_TEXT, ModelResponse, ToolCall, ToolSpec
from ..tools import summary_of
from .commands import Commands
from .examples import Command, Pattern, Unclear, language_of, name_pattern, patterns
from .message import Message, is_misspelt, lexicon, word_key
from .prompt_reader import name_of, rows_with
from .questions import MAX_SEARCH, Questions

MAX_EXAMPLES: Final = 3
"""Maximum examples offered."""

FORM_SCORE: Final = 0.6
"""Minimum score, from 0 to 1, to show an example's form."""

READ_SCORE: Final = 0.8
"""Minimum score to call a read example: all its words, and two others for each."""

EXAMPLE_SCORE: Final = 0.4
"""Minimum score to offer an example; for destructive functions FORM_SCORE."""

MAX_CHOICES: Final = 8
"""Maximum records offered as choices."""

MAX_LISTS: Final = 3
"""Maximum apps whose lists are read for a record that a message names."""

_MAX_LABEL: Final = 80
_Example = tuple[ToolSpec, str]


MAX_CALLS: Final = 10
"""Maximum calls of one message."""


def to_calls(commands: Sequence[Command], more: Sequence[ToolSpec] = ()) -> ModelResponse:
    calls = [ToolCall(c.tool.name, c.arguments) for c in commands[:MAX_CALLS]]
    extra = [ToolCall(t.name, {}) for t in more]
    left = len(commands) - len(calls)
    return ModelResponse(tool_calls=(*calls, *extra), stop_reason="tool_use", left=left)


def respelt(commands: Commands) -> Commands:
    """The commands of a message that is one if it begins with a word of the examples in place of
    one that is a letter away from it: "delte the eggs"; else these."""
    message, tag, examples = commands.message, commands.message.tag, commands.examples
    at = message.bounds(tag, ask=True).first
    word, stem = ([*own, ""][at] for own in (message.words, message.stems(tag)))
    near = {f for p in examples if is_misspelt(word, f := p.pieces[0].form)}
    is_known = any(stem in p.literals for p in examples) or word in language.common_words()
    if is_known or len(near) != 1 or commands.readings():
        return commands
    start, end = message.tokens[at].start, message.tokens[at].end
    text = message.text[:start] + near.pop() + message.text[end:]
    other = Commands(replace(commands.reading, message=text), commands.tools)
    return other if other.readings() else commands


class Offers:
    """What is asked and offered behind one message."""

    def __init__(self, commands: Commands) -> None:
        self._before: Mapping[str, str] = {}  # what buttons before all else say, with their labels
        self.commands, self.tools, self.values = commands, commands.tools, commands.values
        self.message, self.tag = commands.message, commands.message.tag

    @cached_property
    def query(self) -> Questions:
        """The message as a question."""
        return Questions(self.commands)

    def say(self, key: str, **values: object) -> str:
        """A sentence in the language of the message."""
        return language.of(self.tag).say(key, **values)

    def clarify(self, readings: Sequence[Command]) -> ModelResponse:
        """Ask for clarification: several equal commands, or one with a missing record or value."""
        command = readings[0]
        if len(readings) > 1 and command.is_sure:
            return self._examples([(c.tool, c.pattern.example) for c in readings], "which_command")
        if command.unclear and command.unclear.rows:
            return self.choose_record(command.unclear)
        if not command.is_whole and (texts := self.values.field_texts(command.pattern)):
            known = parameters(command.tool)
            others = {k: v for k, v in command.arguments.items() if known[k].kind != "text"}
            command = replace(command, arguments=others | texts)
        return self.complete(command)

    def suggest(self, before: Mapping[str, str] | None = None) -> ModelResponse:
        """The answer to a message that is not a command: the form of the nearest function, else
        suggestions; behind buttons that say what is `before`, with their labels."""
        message, first = self.message, first_examples(self.tools)
        is_open = bool(before) or self.values.records.is_after_write
        found = self.by_name
        if not found and (answer := self._small_talk(is_open=is_open)):
            return answer
        self._before = before or {}
        if found:
            is_read = found.tool.action_type == "read" and found.is_complete
            return to_calls([found]) if is_read else self.form(found)
        # of those that are near one of the app whose records are named, that the message begins as
        nearest = sorted(
            self.commands.nearest(),
            key=lambda f: (
                f[0] < FORM_SCORE,
                self.values.is_other_app(f[1].tool.app_id, f[1].tag),
                not self.commands.starts_like(f[1]),
            ),
        )
        if nearest and (answer := self._near_answer(*nearest[0])):
            return answer
        self._before = {**{text: text for text in self._wish}, **self._before}
        examples = [
            (p.tool, p.example)
            for s, p in nearest
            if s >= (FORM_SCORE if p.tool.action_type == "destructive" else EXAMPLE_SCORE)
            if not p.literals.issubset(message.stems(p.tag))  # said, and of no use
        ]
        if self.query.is_question or not (before or examples or self.query.is_order):
            searches = ((c.pattern.example, *c.arguments.values()) for c in self.query.searches())
            offered = (SLOT.sub(word, example) for example, word in searches)
            self._before = {**self._before, **{text: text for text in offered}}
        return self._not_understood([*examples, *first])

    @cached_property
    def _wish(self) -> list[str]:
        """The message as the text of an example that makes what may have a date, if it begins or
        ends in a day and points at nothing: "I need to call the plumber tomorrow"."""
        message, known = self.message, lexicon(self.tag)
        first = message.bounds(self.tag, ask=False).first
        small = (known.reference | known.correction).intersection(message.stems(self.tag)[first:])
        text = message.lines(first, len(message.tokens))
        days = language.dates(text, self.tag, self.commands.reading.now)
        if not all((days, not small, not self.query.is_question)):
            return []
        sides = map(Message.of, (text[: days[0].start], text[days[-1].end :]))
        if all(side.keywords(self.tag) for side in sides):
            return []
        led = (p.example for p in self.commands.examples if p.tag == self.tag and p.makes_dated)
        return [SLOT.sub(lambda _: text, example) for example in led][:1]

    @cached_property
    def by_name(self) -> Command | None:
        """The one function without examples that the message calls by its whole name or
        description, as the page's buttons do: "Fridge: throw away"."""
        said = self.message.text
        texts = {_plain(said), _plain(said.partition(":")[2])} - {""}
        plain = (p for t in self.tools for p in patterns(t, self.tag) or name_pattern(t))
        named = (p.tool for p in plain if not p.example)
        own = [tool for tool in named if not texts.isdisjoint(_called(tool))]
        return self.commands.calls([(own[0].name, {})])[0] if len(own) == 1 else None

    def _small_talk(self, *, is_open: bool) -> ModelResponse | None:
        """The answer to what is no request, to a no where nothing is open, and to what a list or
        the page shows."""
        if not self.tools:
            return self.reply("no_apps")
        if key := self.message.small_talk(self.tag):
            hello = self._examples(first_examples(self.tools), "hello")
            return hello if key == "hello" else ModelResponse(text=self.say(key))
        if self.message.is_yes(self.tag):  # to nothing, or to a question that the kernel knows
            return ModelResponse(stop_reason=NO_TEXT)
        if self.message.is_denial(self.tag) and not is_open:
            return self.reply("nothing_done")
        if found := list_of(self.query.listable_app(), self.tag, self.tools):
            return to_calls([found])
        is_own = self.message.is_about_own_data(self.tag)
        data = _button(self.say("my_data"), UIAction("me"))
        return self.reply("under_your_name", data) if is_own else None

    def _near_answer(self, score: float, pattern: Pattern) -> ModelResponse | None:
        """The nearest read, or the form of the nearest write; None for one that is not near
        enough, and for reads or functions with only ids, which an example serves better."""
        # a function's name and description weigh less, so less is asked of them
        is_near = score >= (READ_SCORE if pattern.example else FORM_SCORE)
        if is_near and (found := self.query.near_read(pattern)):
            return to_calls([found])
        tool = pattern.tool
        kinds = {p.kind for p in parameters(tool).values()} - {"id", "ids", "list"}
        has_form = not pattern.example or (bool(kinds) and tool.action_type != "read")
        is_undo = all((self._before, tool.action_type == "destructive"))  # pressed, not filled in
        is_other = self.values.is_other_app(tool.app_id, pattern.tag)
        is_wish = all((pattern.is_open, self._wish))  # "call the dentist tomorrow"
        if any((score < FORM_SCORE, not has_form, is_undo, is_other, is_wish)):
            return None
        # a name that is all that was said leaves nothing unread
        keys = {word_key(word, "en") for word in self.message.keywords("en", fields=True)}
        is_name = not pattern.example and pattern.literals >= keys
        draft = Command(pattern, self.values.draft(pattern), is_whole=is_name)
        return self.complete(draft)

    def _not_understood(self, examples: Sequence[_Example]) -> ModelResponse:
        """The nearest examples, links to the page's search in conversations and to the user's data,
        and what nothing holds where a question asks for it."""
        words, about = self.message.keywords(self.tag, fields=True), self.query.unknown_words()
        q = " ".join(words[:MAX_SEARCH])[:_MAX_LABEL]
        find = _button(f"{self.say('find_it')}: {q}", UIAction("find", {"q": q}))
        links = [*[find] * bool(q), self._link("my_data", "me")]
        answer = self._examples(examples, "not_understood", links)
        stems = [language.stem(word, self.tag) for word in about]
        is_field = self.query.is_question and 0 < len(about) < len(words)
        is_field = is_field and not self.values.records.has_words(stems, self.tag)
        is_asked = self.query.is_search or self.query.is_question
        is_unfound = self.commands.reading.ended and is_asked
        if not about or not (is_field or is_unfound):
            return answer
        none = self.say("none_holds", what=" ".join(about[:MAX_EXAMPLES]))
        return replace(answer, text=f"{none} {answer.text}")

    # What may be pressed

    def reply(self, key: str, *nodes: UINode, **values: object) -> ModelResponse:
        """A sentence, above buttons and the link to a real model."""
        return ModelResponse(text=self.say(key, **values), offer=self._tree(nodes))

    def _examples(
        self, examples: Sequence[_Example], key: str, links: Sequence[UINode] = ()
    ) -> ModelResponse:
        """A sentence with the nearest examples, one per function, preferably in the user's
        language; a function without examples is described instead."""
        by_tool: dict[str, str] = {}
        for tool, example in examples:
            all_of = (e for e in (example, *tool.examples) if e)
            own = (e for e in all_of if language_of(example_phrase(e)) == self.tag)
            usual = example or tool.description.partition(". ")[0]
            by_tool.setdefault(tool.name, example_phrase(next(own, usual)))
        texts = (text for text in dict.fromkeys((*self._before, *by_tool.values())) if text)
        return self.buttons([*texts][:MAX_EXAMPLES], key, links)

    def buttons(
        self, texts: Sequence[str], key: str, links: Sequence[UINode] = ()
    ) -> ModelResponse:
        """A sentence with buttons that fill the composer or send a message."""
        others = (text for text in texts if text not in self._before)
        rest = [_button(text, UIAction("fill", {"message": text})) for text in others]
        tree = self._tree([*_send_buttons(self._before), *rest], links)
        return ModelResponse(text=self.say(key, examples="; ".join(texts)), offer=tree)

    def choose_record(self, unclear: Unclear) -> ModelResponse:
        """The question which record is meant, of those with some of the words if any has; buttons
        repeat the message with its name in place of the words for it, after their noun, or with its
        id if another one has the name."""
        message, (first, last) = self.message, unclear.span
        names = self.values.names(unclear.span, self.tag)
        near = [row for row in unclear.rows if self._is_near(row, names)]
        fit = near or unclear.rows
        rows = fit[:MAX_CHOICES]
        start, end = message.tokens[first].start, message.tokens[last - 1].end
        is_noun = {*message.stems(self.tag)[first:last]} <= self.values.all_nouns(self.tag)
        noun = f"{message.text[start:end]} " if is_noun else ""
        same = Counter(map(name_of, fit))
        called = [r["id"] if same[name_of(r)] > 1 else f"{noun}“{name_of(r)}”" for r in rows]
        said = (f"{message.text[:start]}{name}{message.text[end:]}" for name in called)
        choices = dict(zip(said, _labels(rows), strict=True))
        question = self.ask_which(choices, len(fit) - len(rows))
        lacking = self._lacking(names, fit)
        none = self.say("none_holds", what="; ".join(lacking)) if lacking else ""
        return replace(question, text=f"{none} {question.text}".strip())

    def _is_near(self, row: JSONObject, names: Sequence[Sequence[str]]) -> bool:
        """Whether a record has one of the words of these names."""
        words = (language.stem(word, self.tag) for own in names for word in own)
        return any(rows_with([row], [word], self.tag) for word in words)

    def _lacking(self, names: Sequence[Sequence[str]], rows: Sequence[JSONObject]) -> list[str]:
        """Those of several names that none of these records has, and one that was searched for in
        vain; the words of any other may be those of several records."""
        found = self.commands.reading.found
        if any(found.values()) or not (found or len(names) > 1):
            return []
        stems = [[language.stem(word, self.tag) for word in own] for own in names]
        pairs = zip(names, stems, strict=True)
        return [" ".join(own) for own, s in pairs if not rows_with(rows, s, self.tag)]

    def ask_which(self, choices: Mapping[str, str], more: int = 0) -> ModelResponse:
        """The question which of these is meant: what each button says, by what it is called."""
        lines = [f"{n}. {label}" for n, label in enumerate(choices.values(), 1)]
        lines += [self.say("and_more", n=more)] if more else []
        return self.reply("which_record", *_send_buttons(choices), records="; ".join(lines))

    def complete(self, command: Command) -> ModelResponse:
        """The form of a command; if its record is unknown the reads that show it, since users
        cannot fill in an id."""
        app_id = command.tool.app_id
        is_unknown = command.unclear or (command.is_unidentified and not command.is_complete)
        if not is_unknown or not (command.unclear or list_of(app_id, self.tag, self.tools)):
            return self.form(command)
        own = [t for t in self.tools if t.app_id == app_id]
        shows = [one for one in first_examples(own, most=MAX_EXAMPLES) if "{" not in one[1]]
        return self._examples(shows, "which_is_not_shown")

    def is_found(self, command: Command) -> bool:
        """Whether it can be called, and its record is identified, or called by words beside what
        its app calls it: no "add … to the cellar", no "the milk is done"."""
        is_named = self.values.has_noun(command.tool.app_id, command.pattern.tag)
        return command.is_found and (is_named or not command.is_by_words)

    def rows_of(self, command: Command) -> Sequence[JSONObject]:
        """The shown records that a command means, or may mean."""
        known = self.values.records.known(command.tool.app_id)
        own = [row for row in known if row["id"] in command.ids]
        return command.unclear.rows if command.unclear else own

    def form(self, command: Command, key: str = "") -> ModelResponse:
        """The function's prefilled form with the name of its record, preceded by buttons for
        alternatives, below the sentence of the `key`, else whether it is whole."""
        tool, rows = command.tool, () if command.unclear else self.rows_of(command)
        names = "; ".join(map("“{}”".format, _labels(rows)))
        what = summary_of(tool, self.tag).partition(". ")[0] + (f": {names}" if names else "")
        form = form_of(tool, self._prefilled(command), self.tag)
        is_english = what[1:2].islower() and tool.description.startswith(what)
        lower = what[:1].lower() + what[1:] if is_english else what
        key = key or ("form_to_fill" if command.is_whole else "form_to_send")
        text = self.say(key, what=lower)
        fields = cast("list[UINode]", form.props["children"])
        errors = [str(error) for field in fields if (error := field.props.get("error"))]
        chips = [_row(_send_buttons(self._before))] if self._before else []
        tree = self._tree([*chips, ui.Text(what), form])
        lacks = missing_fields(fields)
        lacking = [self.say("form_lacks", fields=", ".join(lacks))] * bool(lacks)
        return ModelResponse(text=". ".join([*errors, text, *lacking]), offer=tree)

    def _prefilled(self, command: Command) -> JSONObject:
        """The arguments of a form; where the message says "all", its words name no one record:
        "complete all but the zebra"."""
        kinds, stems = parameters(command.tool), self.values.message.stems(self.tag)
        told = {p.kind for p in kinds.values()}
        if (
            "email" in told
            or told.isdisjoint(("id", "ids"))
            or lexicon(self.tag).every.isdisjoint(stems)
        ):
            return command.arguments
        return {k: v for k, v in command.arguments.items() if kinds[k].kind != "text"}

    def _link(self, key: str, action: str) -> UINode:
        return ui.Link(self.say(key), on_click=UIAction(action))

    def _tree(self, nodes: Sequence[UINode], links: Sequence[UINode] = ()) -> JSONObject:
        """The UI tree of buttons and forms, with a link to set up a real model."""
        chips = [n for n in nodes if n.type == "Button"]
        rows = [n for n in nodes if n.type != "Button"]
        rows += [_row(chips)] if chips else []
        return ui.Stack([*rows, *links, self._link("use_a_model", "model")]).to_dict()


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").casefold().rstrip("?!.… ").split())


def _button(label: str, action: UIAction) -> UINode:
    return ui.Button(label, on_click=action, variant="secondary", size="sm")


def _send_buttons(texts: Mapping[str, str]) -> list[UINode]:
    """A sending button for each message → label."""
    return [_button(label, ui.Send(text)) for text, label in texts.items()]


def _row(chips: list[UINode]) -> UINode:
    return ui.Stack(chips, direction="horizontal", wrap=True)


def _labels(rows: Sequence[JSONObject]) -> list[str]:
    """The names of records, disambiguated if equal."""
    named = [(name_of(row)[:_MAX_LABEL], row) for row in rows]
    return [name + more for (name, _), more in zip(named, disambiguate(named), strict=True)]


def list_of(app_id: str, tag: str, tools: Sequence[ToolSpec]) -> Command | None:
    """A read of an app that needs no arguments, or None."""
    mine = (t for t in tools if t.app_id == app_id and t.action_type == "read")
    plain = (p for t in mine for p in patterns(t, tag) if not p.fixed and not p.has_slots)
    return next((c for p in plain if (c := Command(p, {})).is_sure), None)


def lists_of(found: Sequence[Pattern], tools: Sequence[ToolSpec], most: int = 1) -> list[Command]:
    """The lists of these functions' apps; empty for more apps than `most`, or if one has none."""
    tags = {pattern.tool.app_id: pattern.tag for pattern in found}
    lists = [list_of(app_id, tag, tools) for app_id, tag in tags.items()]
    return [c for c in lists if c] if len(lists) <= most and all(lists) else []


def _called(tool: ToolSpec) -> set[str]:
    """What a function is called: its name and the first sentence of its description."""
    return {_plain(tool.fn_name), _plain(tool.description.partition(". ")[0])}


def first_examples(tools: Sequence[ToolSpec], most: int = 1) -> list[_Example]:
    """The first examples of each app's reads, interleaved by app."""
    by_app: dict[str, list[_Example]] = {}
    for tool in tools:
        if tool.action_type == "read" and tool.examples:
            by_app.setdefault(tool.app_id, []).extend((tool, e) for e in tool.examples[:most])
    rows = zip_longest(*by_app.values())
    return [offered for row in rows for offered in row if offered]
