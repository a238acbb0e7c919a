"""A prompt goes into its model's window: by relevance first, then examples, then the oldest facts;
and the inspector says what was left out."""

import json
from typing import Any

import pytest

from tests.stand_ins.servers import Answer
from webbee_kernel.api import inspector
from webbee_kernel.config import Settings
from webbee_kernel.errors import SettingsError
from webbee_kernel.llm.options import builtin, options_of
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.types import HistoryItem
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.tool_retrieval import shorter

from .conftest import Wire

THINGS = """orders invoices tickets parcels customers rooms tables recipes songs books plants
    drivers lamps chairs""".split()


def shop(fat: int = 0) -> Extension:
    """Fifty-six functions, each with examples, which return as much as is asked."""
    ext = Extension("shop", description="A shop")
    chat = ChatExtension(ext)
    for thing in THINGS:
        for verb in ("list", "find", "count", "describe"):
            about = f"{verb.title()} the {thing} of the shop, with all that is known of each."
            examples = [f"{verb} my {thing}", f"what {thing} are there?"]

            @chat.function(f"{thing}_{verb}", about, examples=examples)
            async def run(ctx: Context, name: str = "", city: str = "") -> ActionResult:
                rows = [{"id": f"o-{n}", "title": f"Order {n}"} for n in range(fat)]
                return ActionResult.success({"rows": rows, "count": 3}, "There are 3.")

    return ext


def settings(window: int, **more: Any) -> dict[str, str]:
    return {"WEBBEE_MODEL_SETTINGS": json.dumps({"classifier": {"window": window, **more}})}


def size(service: Wire, n: int = -1) -> int:
    """About how many tokens a request had: four characters each."""
    return len(json.dumps(service.server.requests[n].body, ensure_ascii=False)) // 4


def tools(service: Wire, n: int = -1) -> str:
    body = service.server.requests[n].body
    return json.dumps(body.get("tools") or body["toolConfig"]["tools"])


def test_where_functions_do_not_suffice_examples_and_the_oldest_facts_go(service: Wire) -> None:
    kernel = TestKernel([shop(fat=200)], model=service.model, env=settings(6000))
    for _ in range(4):
        service.server.play(Answer(calls=(("shop__orders_list", {}),)), Answer("There are orders."))
        kernel.chat("list my orders")
    service.server.play(Answer("You are welcome."))
    kernel.chat("thank you")
    prompt = json.dumps(service.server.requests[-1].body)
    assert size(service) < 6000
    assert prompt.count("FACTS: app=shop") < 4
    assert prompt.count("list my orders") >= 4  # the turns themselves stay
    assert "E.g." not in tools(service)
    report = inspector.explain(kernel.run(kernel.kernel.view(kernel.ask("thanks"))))
    assert report["left_out"]["functions"] > 0 and report["left_out"]["examples"]
    assert report["left_out"]["facts"] == 4 - prompt.count("FACTS: app=shop")


def test_results_of_a_round_leave_room_for_the_next_question(service: Wire) -> None:
    kernel = TestKernel([shop(fat=400)], model=service.model, env=settings(6000))
    both = (("shop__orders_list", {}), ("kernel__continue", {}))
    service.server.play(
        Answer(calls=both), Answer(calls=(("shop__books_list", {}),)), Answer("There are 3 orders.")
    )
    kernel.chat("list my orders, then my books")
    assert size(service, 1) < 6000


def test_the_oldest_facts_go_before_any_turn() -> None:
    items = tuple(HistoryItem(str(n), "ok", (), "m", "r", ("FACTS",)) for n in range(2))
    for left in ([("0", 0), ("1", 1)], [("0", 0), ("1", 0)], [("1", 0)]):
        items = shorter(items)
        assert [(i.at, len(i.facts)) for i in items] == left


# ---- settings


def test_a_role_wins_over_a_model_and_that_over_all_and_over_what_is_known() -> None:
    of_o3 = {"temperature": 0.5, "effort": "high", "output_tokens": 900}
    told = json.dumps({"openai:o3-mini": of_o3, "narrator": {"output_tokens": 700}})
    env = {"WEBBEE_MODEL": "openai:http://127.0.0.1:9/v1#o3-mini", "WEBBEE_MODEL_EFFORT": "low"}
    env |= {"WEBBEE_MODEL_STOP": '["END"]', "WEBBEE_MODEL_SETTINGS": told}
    found = Settings.from_env(env)
    classifier, narrator = (options_of(found, role) for role in ("classifier", "narrator"))
    assert (classifier.output_tokens, narrator.output_tokens) == (900, 700)
    assert (classifier.effort, classifier.temperature, classifier.stop) == ("high", 0.5, ("END",))
    assert "temperature" in classifier.refuses and classifier.thinks_aloud is False  # as is known


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ('{"narrator": {"window": 12}}', "greater than or equal to 2048"),
        ('{"narrator": {"tokens": 12}}', "Extra inputs"),
        ('{"reader": {"window": 4096}}', "a model's name"),
        ("{", "Invalid JSON"),
    ],
)
def test_settings_that_say_nothing_useful_are_refused_in_one_sentence(told: str, says: str) -> None:
    group = json.dumps({"ModelSettings": told})
    with pytest.raises(SettingsError, match=says) as caught:
        Settings.from_env({"WEBBEE_MODEL_OPTIONS": group})
    assert "ModelSettings" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "thinks_aloud"),
    [
        ("openai:http://127.0.0.1:11434/v1#deepseek-r1:8b", True),
        ("openai:http://127.0.0.1:11434/v1#llama3.1", False),
        ("openai:https://api.openai.com/v1#gpt-4.1", False),
        ("bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0", False),
        ("bedrock:us.deepseek.r1-v1:0", True),
        ("openai:http://127.0.0.1:11434/v1#somebodys-own", None),
    ],
)
def test_what_is_known_of_a_model_goes_by_its_name(name: str, thinks_aloud: bool | None) -> None:
    assert builtin(name).thinks_aloud is thinks_aloud
