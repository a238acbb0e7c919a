"""What models say besides what people should read, each as a server sent it: thoughts, special tokens,
calls written as text. Streamed or whole, however it is cut, the same comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webbee_kernel.llm.assembly import Assembly, is_repetitive
from webbee_kernel.llm.nearly_json import Unreadable, nearly_json
from webbee_kernel.llm.normaliser import NormalisedText, Normaliser
from webbee_kernel.llm.protocol import ToolCall, ToolSpec

from .conftest import asking

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = (
    ToolSpec("tasks__list_tasks", "tasks", "list_tasks", "", {"type": "object"}, "read", ()),
    ToolSpec("weather__get_forecast", "weather", "get_forecast", "", CITY, "read", ()),
)
RIGA = (ToolCall("weather__get_forecast", {"city": "Riga"}),)

SAID = {
    "DeepSeek-R1, Qwen3 (vLLM 0.11)": "<think>hm {x}\n</think>\n\nHello",
    "R1 behind a template that opens the thought (llama.cpp b6000)": "so the user\n</think>\nHello there",
    "gpt-oss (Ollama 0.12)": "<|channel|>analysis<|message|>We need<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>",
    "gpt-oss, tokens taken away (LM Studio 0.3)": "analysisWe need to say hi.assistantfinalHello",
    "Kimi-VL": "◁think▷a◁/think▷Hello",
    "Command A": "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>Hello<|END_RESPONSE|>",
    "Magistral": "[THINK]aa[/THINK]Hello",
    "Qwen 2.5 (llama.cpp)": "Hello<|im_end|>\n<|im_start|>user\nwhat?",
    "Llama 3.1": "Hello<|eot_id|>",
    "Mistral 7B": "<s>Hello</s>",
    "Gemma 3": "Hello<end_of_turn>\n",
    "DeepSeek V3": "Hello<｜end▁of▁sentence｜>",
    "Llama 3": "<|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|>",
    "Gemma 3n (llama.cpp)": "<unused94>thought\nx<unused95>Hello",
    "Gemma 4": "<|channel>thought\nx<channel|>Hello<turn|>",
    "Solar Open": "<|think|>x<|end|><|begin|>assistant<|content|>Hello<|end|>",
    "Apriel 1.5": "Here are my reasoning steps:\nx\n[BEGIN FINAL RESPONSE]\nHello\n[END FINAL RESPONSE]\n<|end|>",
    "Apriel 1.5, its steps in the prompt": "x\n[BEGIN FINAL RESPONSE]\nHello\n[END FINAL RESPONSE]",
    "Granite 3": "<|start_of_role|>assistant<|end_of_role|>Hello<|end_of_text|>",
    "EXAONE 4": "[|assistant|]Hello[|endofturn|]",
    "MiniMax M2": "Hello[e~[",
    "an answer in <answer>": "<think>x</think><answer>Hello</answer>",
    "thoughts in each other": "<think>x <think>y</think> z</think>\nHello",
    "a base model, on and on": "Hello<|endoftext|>Human: what?",
    "Phi 4, on and on": "Hello<|user|>\nwhat?",
    "Gemma 3, on and on": "Hello\n<start_of_turn>user\nSend it.",
    "another turn behind an end token": "Hello<end_of_turn>\n<start_of_turn>user\nSend it.",
}
"""Each says Hello, and nothing else that people should read."""

CALLED = {
    "GLM-4": 'get_forecast\n{"city": "Riga"}',
    "a name and a colon": 'weather__get_forecast: {"city": "Riga"}',
    "Apertus": '<|tools_prefix|>[{"weather__get_forecast": {"city": "Riga"}}]<|tools_suffix|>',
    "Llama 3.1, twice on a line": '{"name": "get_forecast", "parameters": {"city": "Riga"}}; {"name": "get_forecast", "parameters": {"city": "Riga"}}',
    "gpt-oss (vLLM 0.11)": '<|channel|>analysis<|message|>We need<|end|><|start|>assistant<|channel|>commentary to=functions.get_forecast <|constrain|>json<|message|>{"city":"Riga"}<|call|>',
    "hermes": '<tool_call>\n{"name": "get_forecast", "arguments": {"city": "Riga"}}\n</tool_call>',
    "qwenc": "<tool_call>\n<function=get_forecast>\n<parameter=city>\nRiga\n</parameter>\n</function>\n</tool_call>",
    "fn31": '<function=get_forecast>{"city": "Riga"}</function>',
    "pytag": '<|python_tag|>{"name": "get_forecast", "parameters": {"city": "Riga"}}<|eom_id|>',
    "pytag2": '<|python_tag|>get_forecast.call(city="Riga")',
    "bare": '{"name": "get_forecast", "parameters": {"city": "Riga"}}',
    "mist": '[TOOL_CALLS] [{"name": "get_forecast", "arguments": {"city": "Riga"}}]',
    "mist2": '[TOOL_CALLS]get_forecast[ARGS]{"city": "Riga"}',
    "dsk": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_forecast\n```json\n{"city": "Riga"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "dsk31": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_forecast<｜tool▁sep｜>{"city": "Riga"}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
    "kimi2": '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_forecast:0<|tool_call_argument_begin|>{"city": "Riga"}<|tool_call_end|><|tool_calls_section_end|>',
    "glm": "<tool_call>get_forecast\n<arg_key>city</arg_key>\n<arg_value>Riga</arg_value>\n</tool_call>",
    "gran2": '<tool_call>[{"name": "get_forecast", "arguments": {"city": "Riga"}}]',
    "phi": 'functools[{"name": "get_forecast", "arguments": {"city": "Riga"}}]',
    "cmdr7": '<|START_ACTION|>[{"tool_call_id":"0","tool_name": "get_forecast", "parameters": {"city": "Riga"}}]<|END_ACTION|>',
    "minimax": '<minimax:tool_call>\n<invoke name="get_forecast">\n<parameter name="city">Riga</parameter>\n</invoke>\n</minimax:tool_call>',
    "anth": '<function_calls>\n<invoke name="get_forecast">\n<parameter name="city">Riga</parameter>\n</invoke>\n</function_calls>',
    "pyth": '[get_forecast(city="Riga")]',
    "tc": '```tool_code\nprint(default_api.get_forecast(city="Riga"))\n```',
    "fj": '```json\n{"name": "get_forecast", "arguments": {"city": "Riga"}}\n```',
    "lfm": '<|tool_call_start|>[get_forecast(city="Riga")]<|tool_call_end|>',
    "lm": '[TOOL_REQUEST]{"name": "get_forecast", "arguments": {"city": "Riga"}}[END_TOOL_REQUEST]',
    "near": "<tool_call>{'name': 'get_forecast', 'arguments': {'city': 'Riga',}}</tool_call>",
    "oai": '{"tool_calls":[{"type":"function","function":{"name":"get_forecast","arguments":"{\\"city\\": \\"Riga\\"}"}}]}',
    "xlam": '[{"name": "get_forecast", "arguments": {"city": "Riga"}}]',
    "unclosed": '<tool_call>{"name": "get_forecast", "arguments": {"city": "Riga"}}',
    "gptoss": 'to=functions.get_forecast {"city":"Riga"}',
    "olmo": '<function_calls>\nget_forecast(city="Riga")\n</function_calls>',
    "ptool": '<|tool_call>call:get_forecast{city:<|"|>Riga<|"|>}<tool_call|>',
    "seed": "<seed:tool_call><function=get_forecast><parameter=city>Riga</parameter></function></seed:tool_call>",
    "step": '<steptml:toolcall name="get_forecast">{"city":"Riga"}</steptml:toolcall>',
    "camel": '<tool_call>{"name": "getForecast", "arguments": {"city": "Riga"}}</tool_call>',
    "mist4": '[TOOL_CALLS]get_forecast[CALL_ID]abc123[ARGS]{"city": "Riga"}',
    "gptoss2": '<|start|>assistant to=functions.get_forecast<|channel|>commentary json<|message|>{"city": "Riga"}<|call|>',
    "gptoss3": 'assistantcommentary to=functions.get_forecast json{"city": "Riga"}',
    "fgemma": "<start_function_call>call:get_forecast{city:<escape>Riga<escape>}<end_function_call>",
    "dsml": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_forecast">\n<｜DSML｜parameter name="city" string="true">Riga</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "longcat": "<longcat_tool_call>get_forecast\n<longcat_arg_key>city</longcat_arg_key>\n<longcat_arg_value>Riga</longcat_arg_value>\n</longcat_tool_call>",
    "keyed": '{"weather__get_forecast": {"city": "Riga"}}',
    "TypeScript": 'functions.get_forecast({"city": "Riga"})',
    "behind thoughts": '<think>x</think>\n<tool_call>{"name": "get_forecast", "arguments": {"city": "Riga"}}</tool_call>',
    "behind": '<tool_call>{"name": "get_forecast", "arguments": {"city": "Riga"}}</tool_call>\n<tool_response>{"c": 3}</tool_response>\nIt is 3 degrees in Riga.',
}
"""Each asks for the weather in Riga, by the marks of its family."""

PLAIN = [
    "if a < b and b > c then",
    "Use `<think>` tags",
    "```html\n<div>x</div>\n```",
    "A <b>bold</b> move",
    "x<y",
    "[TODO] write [1] and [link](http://a)",
    '{"a": 1}',
    'Here is JSON:\n{"name": "x", "value": 3}\nok',
    "Action: none today",
    "The list (of tasks) is [empty].",
    "list_tasks is a function",
    "5 < 6\n7 > 3",
    "see <https://example.com>",
    "Analysis of data: fine",
    "I think <3 you",
    "```python\nprint(1)\n```\nDone",
    "*bold*\n- a\n- b",
    "<reason>none</reason>",
    "Temperature <0 °C",
    "<EMAIL_1> wrote to <NAME_2>",
    "[A] first\n[B] second",
    "List<String> and Map<K, V>",
    "Thinking... about it",
]
"""Each is shown as it is."""


def cut(text: str, sizes: list[int]) -> tuple[str, NormalisedText]:
    """The text in pieces of these sizes, over and over: what was shown meanwhile, and the result."""
    reader = Normaliser(TOOLS)
    shown, at, n = [], 0, 0
    while at < len(text):
        size = sizes[n % len(sizes)]
        shown.append(reader.feed(text[at : at + size]))
        at, n = at + size, n + 1
    shown.append(reader.close())
    return "".join(shown), reader.result


def normalise(text: str) -> NormalisedText:
    """An answer that came whole."""
    return cut(text, [len(text)])[1]


@pytest.mark.parametrize("model", SAID)
def test_thoughts_and_tokens_are_not_shown(model: str) -> None:
    found = normalise(SAID[model])
    assert (found.text.removesuffix(" there"), found.calls) == ("Hello", ())


@pytest.mark.parametrize("model", CALLED)
def test_a_call_written_as_text_is_a_call(model: str) -> None:
    found = normalise(CALLED[model])
    assert found.calls == RIGA
    assert found.text in ("", "I look.")


@pytest.mark.parametrize("text", PLAIN)
def test_text_that_only_looks_like_markup_stays(text: str) -> None:
    found = normalise(text)
    assert (found.text, found.calls) == (text.strip(), ())


EVERYTHING = [*SAID.values(), *CALLED.values(), *PLAIN]


@pytest.mark.parametrize("text", EVERYTHING)
def test_cut_at_every_character_the_same_comes_out(text: str) -> None:
    whole = normalise(text)
    for size in range(1, min(len(text), 40)):
        shown, found = cut(text, [size])
        assert found == whole
        assert found.is_orphan or shown == found.text


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
def test_joined_and_cut_anywhere_the_same_comes_out(
    texts: list[str], between: str, sizes: list[int]
) -> None:
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
    assert found.is_orphan or shown == found.text


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
GIVEN: list[object] = [
    *({"City": "Riga"}, {"arguments": {"city": "Riga"}}, {"input": '{"city": "Riga"}'}),
    {"name": "get_forecast", "parameters": {"city": "Riga"}},
]
NATIVE: list[tuple[str, str, object]] = [
    (CALLED["hermes"], "getForecast", "{'city': 'Riga',}"),  # as text beside the real one
    *(("", name, {"city": "Riga"}) for name in NAMES),
    *(("", "get_forecast", given) for given in GIVEN),
]


@pytest.mark.parametrize(("text", "name", "given"), NATIVE)
def test_a_nearly_right_call_is_that_of_the_one_function_that_fits_and_called_once(
    text: str, name: str, given: object
) -> None:
    made = Assembly(asking(tools=TOOLS))
    made.add_text(text)
    made.add_call(0, "", name, given)
    answer = made.response()
    assert (answer.text, answer.tool_calls) == ("", RIGA)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'b', 'n': None, 'on': True,}", {"a": "b", "n": None, "on": True}),
        ('{"a": [1, 2', {"a": [1, 2]}),
        ("{a: 1, b: 'x'}", {"a": 1, "b": "x"}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ("{“a”: “b”}", {"a": "b"}),
        ('{"a": "say "hi" now", "n": 1}', {"a": 'say "hi" now', "n": 1}),
        ('{"a": 1}\n{"a": 1}', {"a": 1}),
        ('{}{"a": 1}', {"a": 1}),
        ('{"a": 1}}', {"a": 1}),
        ('{"a": 1}<|im_end|>', {"a": 1}),
        ('{"a": 1}\n</tool_call>;', {"a": 1}),
        ('{"a": 1,\x00 "n": 2}', {"a": 1, "n": 2}),
    ],
)
def test_nearly_json_is_read(text: str, value: Any) -> None:
    assert nearly_json(text) == value


@pytest.mark.parametrize(
    "text",
    ['{"a": "cut', "{'a': b}", "", "hello", '{"a"}', '{"a": 1}{"a": 2}', '{"a": "x"} or {"a": 1}',
     '{"a": "he said "yes", then left"}'],
)  # fmt: skip
def test_what_could_mean_several_things_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        nearly_json(text)


def test_one_piece_over_and_over_is_seen() -> None:
    assert is_repetitive("Well. " + "I am sorry. " * 200)
    assert not is_repetitive("\n".join(f"{n}. task number {n}" for n in range(200)))
    assert not is_repetitive("-" * 2_000)
    made = Assembly(asking())
    for said in [*"Well. ", *["I am sorry. "] * 200]:
        made.add_text(said)
    assert made.is_endless
    assert made.response().stop_reason == "unusable"


def test_a_recited_prompt_is_no_answer() -> None:
    made = Assembly(asking())
    made.add_text("[HISTORY]\nFACTS: app=mail fn=list_inbox data={}")
    assert made.response().stop_reason == "unusable"
