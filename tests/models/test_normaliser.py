"""What models say besides what people should read, each as a server sent it: thoughts, special tokens,
calls written as text. Streamed or whole, however it is cut, the same comes out."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webbee_kernel.llm.assembly import Assembly
from webbee_kernel.llm.normaliser import Normaliser
from webbee_kernel.llm.protocol import ToolCall, ToolSpec
from webbee_kernel.llm.text_calls import Unreadable, nearly_json

from .conftest import asking

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = (
    ToolSpec("tasks__list_tasks", "tasks", "list_tasks", "", {"type": "object"}, "read", ()),
    ToolSpec("weather__get_forecast", "weather", "get_forecast", "", CITY, "read", ()),
)
RIGA = (ToolCall("weather__get_forecast", {"city": "Riga"}),)

WRITTEN = json.loads(Path(__file__).with_name("written.json").read_text("utf-8"))
SAID: dict[str, str] = WRITTEN["said"]
"""Each says Hello, and nothing else that people should read."""
CALLED: dict[str, str] = WRITTEN["called"]
"""Each asks for the weather in Riga, by the marks of its family."""
PLAIN: list[str] = WRITTEN["plain"]
"""Each is shown as it is."""


class Found(NamedTuple):
    text: str
    calls: tuple[ToolCall, ...]
    has_unreadable_call: bool
    has_thoughts: bool
    is_orphan: bool


def cut(text: str, sizes: list[int]) -> tuple[str, Found]:
    """The text in pieces of these sizes, over and over: what was shown meanwhile, and the result."""
    reader = Normaliser(TOOLS)
    shown, at, n = [], 0, 0
    while at < len(text):
        size = sizes[n % len(sizes)]
        shown.append(reader.feed(text[at : at + size]))
        at, n = at + size, n + 1
    of = reader.close(), tuple(reader.calls), reader.has_unreadable_call, reader.has_thoughts
    return "".join(shown), Found(*of, reader.is_orphan)


def normalise(text: str) -> Found:
    return cut(text, [len(text)])[1]


EVERYTHING = [*SAID.values(), *CALLED.values(), *PLAIN]


@pytest.mark.parametrize("text", EVERYTHING)
def test_thoughts_are_not_shown_calls_are_called_and_look_alikes_stay_wherever_it_is_cut(
    text: str,
) -> None:
    whole = normalise(text)
    if text in CALLED.values():
        assert whole.calls == RIGA and whole.text in ("", "I look.")
    else:
        told = text.strip() if text in PLAIN else "Hello"
        assert (whole.text.removesuffix(" there"), whole.calls) == (told, ())
    for size in range(1, min(len(text), 40)):
        shown, found = cut(text, [size])
        assert found == whole
        assert found.is_orphan or found.text.startswith(shown)


@example([SAID["MiniMax M2"], "[A] first"], "\n", [1])
@example(["<tool_call " + "x" * 300, ">"], "", [9])
@example(["<e", "[TOOL_CALLS]x>"], "\n", [1])
@example(["x<y", '>>>weather__get_forecast\n{"city": "Riga"}'], "\n", [1])
@example(["<output>\nHello\n</output>", '{"name": "get_forecast"}'], " ", [1])
@given(
    st.lists(st.sampled_from(EVERYTHING), min_size=2, max_size=3),
    st.sampled_from(["\n", "\n\n", " ", ""]),
    st.lists(st.integers(1, 9), min_size=1),
)
def test_joined_and_cut_anywhere(texts: list[str], between: str, sizes: list[int]) -> None:
    text = between.join(texts)
    assert cut(text, sizes)[1] == normalise(text)


@example("`\n:", [1])
@example("<▁|>", [1])
@given(
    st.text(alphabet="<>|[]{}`/'\"\\\n :aTOLC_=()◁▷✿｜▁", max_size=60),
    st.lists(st.integers(1, 5), min_size=1),
)
def test_no_text_of_any_shape_breaks_it(text: str, sizes: list[int]) -> None:
    shown, found = cut(text, sizes)
    assert found == normalise(text)
    assert found.is_orphan or found.text.startswith(shown)


@pytest.mark.parametrize(
    "call",
    [
        '<tool_call>{"name": "get_forecast", "arguments": {"city": VALUE}}</tool_call>',
        '[TOOL_CALLS]get_forecast[ARGS]{"city": VALUE}',
        "<function=get_forecast><parameter=city>TEXT</parameter></function>",
        '<｜tool▁call▁begin｜>get_forecast<｜tool▁sep｜>```json\n{"city": VALUE}\n```<｜tool▁call▁end｜>',
        "<|tool_call_start|>[get_forecast(city=VALUE)]<|tool_call_end|>",
    ],
)
def test_markup_within_arguments_stays_as_it_was_written(call: str) -> None:
    written = "<b>[URGENT]</b> ```py\nx``` </s> (it's)"
    said = call.replace("VALUE", json.dumps(written)).replace("TEXT", written)
    assert [c.arguments for c in normalise(said).calls] == [{"city": written}]


class Counting(Normaliser):
    """Counts the characters that it looks at without going on."""

    waited = 0

    def _step(self, at: int, final: bool) -> bool:
        done = super()._step(at, final)
        Counting.waited += 0 if done else len(self._raw) - at
        return done


@pytest.mark.parametrize(
    "text",
    ["<think>" + "so < we " * 5_000, '<tool_call>{"name": "' + "x" * 40_000, "[" + "[1], " * 8_000,
     "```py\n" + "x = [1]\n" * 5_000, "<|tool_call|>" + "{[ x" * 10_000],
)  # fmt: skip
def test_what_has_no_end_is_not_looked_at_again_with_each_piece(text: str) -> None:
    Counting.waited, reader = 0, Counting(TOOLS)
    for at in range(0, len(text), 4):
        reader.feed(text[at : at + 4])
    assert Counting.waited < 60 * len(text)


def test_a_call_of_a_function_that_is_not_offered_is_told_back_and_never_shown() -> None:
    found = normalise('<tool_call>{"name": "launch", "arguments": {}}</tool_call>')
    assert (found.text, found.calls) == ("", (ToolCall("launch", {}),))
    assert normalise('{"name": "launch", "arguments": {}}').calls == ()


NAMES = [
    *("weather__get_forecast", "get_forecast", "getForecast", "weather.get_forecast"),
    *("functions.get_forecast:0", "WEATHER-GET-FORECAST", "get_forecast<|channel|>commentary"),
    *("mcp__weather__get_forecast", "assistant to=functions.weather__get_forecast"),
]
NATIVE: list[tuple[str, str, object]] = [
    (CALLED["hermes"], "getForecast", "{'city': 'Riga',}"),  # as text beside the real one
    *(("", name, {"city": "Riga"}) for name in NAMES),
    ("", "get_forecast", '"{\\"city\\": \\"Riga\\"}"'),
]


@pytest.mark.parametrize(("text", "name", "given"), NATIVE)
def test_a_nearly_right_call_is_the_one_that_fits(text: str, name: str, given: object) -> None:
    made = Assembly(asking(tools=TOOLS))
    made.add_text(text)
    made.add_call(0, "", name, given)
    answer = made.response({}, {})
    assert (answer.text, answer.tool_calls) == ("", RIGA)


def test_nearly_json_is_read() -> None:
    for text, value in (
        ("{'a': 'b', 'n': None, 'on': True,}", {"a": "b", "n": None, "on": True}),
        ("{a: 1, b: 'x'}", {"a": 1, "b": "x"}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('{"a": 1}<|im_end|>', {"a": 1}),
        ('{"a": 1}\n</tool_call>;', {"a": 1}),
        (
            "{'a': -1.5, 'b': '\\\\d', 'n': [null, ('x',)]}",
            {"a": -1.5, "b": "\\d", "n": [None, ["x"]]},
        ),
    ):
        assert nearly_json(text) == value


@pytest.mark.parametrize(
    "text",
    ['{"a": "cut', '{"a": [1, 2', "{'a': b}", "", "hello", '{"a"}', '{"a": 1}{"a": 2}',
     '{"a": "x"} or {"a": 1}', '{"a": "he said "yes", then left"}', "{'a': f(1)}", "{'a': b'x'}",
     "{**x}", "(" * 5_000],
)  # fmt: skip
def test_what_could_mean_several_things_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        nearly_json(text)


def test_a_recited_prompt_is_no_answer() -> None:
    recited = Assembly(asking())
    recited.add_text("[HISTORY]\nFACTS: app=mail fn=list_inbox data={}")
    assert recited.response({}, {}).stop_reason == "unusable"
