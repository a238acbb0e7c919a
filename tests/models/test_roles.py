"""Which model serves which role, what is measured, and how a prompt goes into its model's window: by relevance
first, then examples, then the oldest facts; and the inspector says what was left out."""

import asyncio
import json
import logging
import re
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto.core.botocore_stubber import BotocoreStubber

from local.aws import local_aws
from local.template import TEMPLATE_PATH, load_template
from tests.stand_ins.servers import Answer
from webbee_kernel.api import inspector
from webbee_kernel.background import LoopThread
from webbee_kernel.bootstrap import make_model
from webbee_kernel.config import GROUPS, Settings
from webbee_kernel.errors import ModelUnavailable, SettingsError
from webbee_kernel.llm.openai_compatible import OpenAICompatibleModel
from webbee_kernel.llm.options import RoleModels, builtin, options_of
from webbee_kernel.llm.protocol import ModelResponse, Usage, streamed
from webbee_kernel.llm.scripted import FunctionModel, ScriptedModel
from webbee_kernel.observability import collect_metrics
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.types import HistoryItem
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.tool_retrieval import shorter

from .conftest import MODEL_ID, Wire, asking

NARRATED = "classifier=offline, narrator=bedrock:b, ai=offline"


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({}, "offline"),
        ({"WEBBEE_MODEL": f"bedrock:{MODEL_ID}"}, f"bedrock:{MODEL_ID}"),
        ({"WEBBEE_MODEL": "openai:http://127.0.0.1:11434/v1#llama3:8b"}, "openai:llama3:8b"),
        ({"WEBBEE_MODEL_NARRATOR": "bedrock:b"}, NARRATED),
    ],
)
def test_settings_name_the_models_and_show_no_key(env: dict[str, str], name: str) -> None:
    settings = Settings.from_env({"WEBBEE_MODEL_KEY": "sk-SECRET", **env})
    assert make_model(settings).name == name
    shown = f"{settings!r}{settings}{settings.model_dump()}{settings.model_dump_json()}"
    assert "sk-SECRET" not in shown


def test_the_settings_reach_the_services(openai: Wire) -> None:
    told = {"EFFORT": "high", "CACHE": "24h", "TEMPERATURE": "0.3", "KEY": "sk-1"}
    env = {f"WEBBEE_MODEL_{name}": value for name, value in told.items()}
    env |= {"WEBBEE_MODEL": f"openai:{openai.server.url}#m", "WEBBEE_MODEL_TOOL_CHOICE": "auto"}
    env |= {"WEBBEE_MODEL_STOP": '["END"]'}
    openai.server.play(Answer("ok"))
    replace(openai, model=make_model(Settings.from_env(env))).ask(asking())
    sent = {"reasoning_effort": "high", "prompt_cache_retention": "24h", "temperature": 0.3}
    sent |= {"stop": ["END"], "tool_choice": "auto"}
    [received] = openai.server.requests
    assert received.body.items() >= sent.items()
    assert received.headers["authorization"] == "Bearer sk-1"


def test_what_a_request_cost_is_a_metric_without_content(
    loop: LoopThread, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "webbee.model")
    answers = FunctionModel(lambda _: ModelResponse("yes", usage=Usage(120, 7, 100)))
    fails = ScriptedModel([ModelUnavailable("no")])
    models = RoleModels({"classifier": answers, "narrator": fails})
    with redirect_stdout(StringIO()) as written, collect_metrics("chat_turn", "Webbee/test"):
        loop.run(models.complete(asking(prompt="TOP SECRET")))
        with pytest.raises(ModelUnavailable):
            loop.run(models.complete(asking(role="narrator")))
    answered, failed = map(json.loads, written.getvalue().splitlines())
    found = [answered[k] for k in ("role", "model", "InputTokens", "CachedTokens", "OutputTokens")]
    assert found == ["classifier", "function", [120], [100], [7]]
    [directive] = answered["_aws"]["CloudWatchMetrics"]
    metrics = {"ModelLatency", "InputTokens", "CachedTokens", "OutputTokens"}
    assert {m["Name"] for m in directive["Metrics"]} == metrics
    assert set(directive["Dimensions"][0]) <= set(answered)
    assert (failed["role"], failed["ModelErrors"]) == ("narrator", [1])
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]
    assert "TOP SECRET" not in "".join(written) + caplog.text


def test_whole_and_streamed_answers_share_one_connection(openai: Wire) -> None:
    for is_streamed in (False, True, True, False):
        assert replace(openai, streams=is_streamed).ask().text == "Very well."
    assert len({r.connection for r in openai.server.service.requests[-4:]}) == 1


@pytest.mark.parametrize("delay_s", [0.0, 0.5], ids=["heard", "silent"])
def test_a_stopped_stream_ends_at_the_server(openai: Wire, delay_s: float) -> None:
    service, heard = openai.server.service, list[str]()
    assert openai.ask().text  # a model that has not shown how it thinks is heard at the end only
    openai.server.reset()
    openai.server.play(Answer("word " * 2_000, delay_s=delay_s, pace_s=0.05))

    async def stop() -> None:
        service.closed.clear()
        task = asyncio.create_task(streamed(openai.model, asking(), heard.append))
        while not (openai.server.requests if delay_s else heard):  # noqa: ASYNC110 -- a thread
            await asyncio.sleep(0.01)
        task.cancel()

    openai.loop.run(stop())
    assert service.closed.wait(10)


def test_a_server_is_asked_through_the_proxy_of_the_environment(
    openai: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = openai.server.service.url.partition("//")[2]
    monkeypatch.setenv("http_proxy", f"http://me:word@{at}")
    with pytest.raises(ModelUnavailable):  # the stand-in knows no such server
        openai.loop.run(OpenAICompatibleModel("http://a.invalid/v1", "m").complete(asking()))
    received = openai.server.requests[-1]
    assert received.path == "http://a.invalid/v1/chat/completions"
    assert received.headers["proxy-authorization"] == "Basic bWU6d29yZA=="


def test_only_a_bedrock_model_lets_requests_leave_the_machine() -> None:
    def real(service: str) -> bool:
        url = f"https://{service}.eu-central-1.amazonaws.com/model/m/converse"
        try:
            asked = AWSPreparedRequest("POST", url, HTTPHeaders(), b"", False)
            return BotocoreStubber().process_request(asked) is None
        except NotImplementedError:  # moto took it
            return False

    with local_aws(bedrock=True):
        assert real("bedrock-runtime") is True
        assert real("dynamodb") is False
        assert real("bedrock-agent") is False
    with local_aws():
        assert not real("bedrock-runtime")


def test_the_page_names_settings_and_parameters_that_exist() -> None:
    page = (TEMPLATE_PATH.parent / "docs/models.md").read_text("utf-8")
    known = {field.alias for field in Settings.model_fields.values()} | GROUPS.keys()
    named = set(re.findall(r"(?:WEBBEE|IMPERAL)_[A-Z_]+[A-Z]", page))
    assert named <= known
    assert {name for name in known if name and name.startswith("WEBBEE_MODEL")} <= named
    parameters = {*load_template()["Parameters"], *GROUPS["WEBBEE_MODEL_OPTIONS"]}
    assert {name for name in parameters if "Model" in name} <= set(re.findall(r"[A-Z]\w+", page))


# ---- scripted models


def test_a_request_past_the_script_and_unused_steps_fail(loop: LoopThread) -> None:
    told = r"(?s)request 1 \(classifier\) is past the script's 0 steps.*покажи"
    with pytest.raises(AssertionError, match=told):
        loop.run(ScriptedModel([]).complete(asking()))
    told = "1 of 1 scripted steps were not used"
    with pytest.raises(AssertionError, match=told), ScriptedModel([ModelResponse("never")]):
        pass
    with pytest.raises(ZeroDivisionError, match="its own"), ScriptedModel([ModelResponse("never")]):
        raise ZeroDivisionError("its own")


THINGS = """orders invoices tickets parcels customers rooms tables recipes songs books plants
    drivers lamps chairs""".split()


def shop(fat: int) -> Extension:
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


SMALL = {"WEBBEE_MODEL_SETTINGS": '{"classifier": {"window": 6000}}'}


def size(service: Wire, n: int = -1) -> int:
    """About how many tokens a request had: four characters each."""
    return len(json.dumps(service.server.requests[n].body, ensure_ascii=False)) // 4


def test_where_functions_do_not_suffice_the_oldest_facts_go(service: Wire) -> None:
    kernel = TestKernel([shop(fat=200)], model=service.model, env=SMALL)
    for _ in range(4):
        service.server.play(Answer(calls=(("shop__orders_list", {}),)), Answer("There are orders."))
        kernel.chat("list my orders")
    service.server.play(Answer("You are welcome."))
    kernel.chat("thank you")
    body = service.server.requests[-1].body
    prompt = json.dumps(body)
    assert size(service) < 6000
    assert prompt.count("FACTS: app=shop") < 4
    assert prompt.count("list my orders") >= 4  # the turns themselves stay
    report = inspector.explain(kernel.run(kernel.kernel.view(kernel.ask("thanks"))))
    assert report["left_out"]["functions"] > 0
    assert report["left_out"]["facts"] == 4 - prompt.count("FACTS: app=shop")


def test_results_leave_room_and_the_oldest_facts_go_before_any_turn(service: Wire) -> None:
    kernel = TestKernel([shop(fat=400)], model=service.model, env=SMALL)
    both = (("shop__orders_list", {}), ("kernel__continue", {}))
    service.server.play(
        Answer(calls=both), Answer(calls=(("shop__books_list", {}),)), Answer("There are 3 orders.")
    )
    kernel.chat("list my orders, then my books")
    assert size(service, 1) < 6000
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


def test_what_is_known_of_a_model_goes_by_its_name() -> None:
    for name, thinks_aloud in (
        ("openai:http://127.0.0.1:11434/v1#deepseek-r1:8b", True),
        ("openai:http://127.0.0.1:11434/v1#llama3.1", False),
        ("openai:https://api.openai.com/v1#gpt-4.1", False),
        ("bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0", False),
        ("bedrock:us.deepseek.r1-v1:0", True),
        ("openai:http://127.0.0.1:11434/v1#somebodys-own", None),
    ):
        assert builtin(name).thinks_aloud is thinks_aloud
