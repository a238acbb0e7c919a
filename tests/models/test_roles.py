"""Which model serves which role, and what is measured."""

import json
import logging
import re
from dataclasses import replace

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto.core.botocore_stubber import BotocoreStubber

from local.aws import local_aws
from local.template import TEMPLATE_PATH, load_template
from tests.stand_ins.servers import Answer
from webbee_kernel.background import LoopThread
from webbee_kernel.bootstrap import make_model
from webbee_kernel.config import GROUPS, Settings
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.openai_compatible import close
from webbee_kernel.llm.options import RoleModels
from webbee_kernel.llm.protocol import ModelResponse, Usage
from webbee_kernel.llm.scripted import FunctionModel, ScriptedModel
from webbee_kernel.observability import collect_metrics

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
    written: list[str] = []
    with collect_metrics("chat_turn", "Webbee/test", dict, write=written.append):
        loop.run(models.complete(asking(prompt="TOP SECRET")))
        with pytest.raises(ModelUnavailable):
            loop.run(models.complete(asking(role="narrator")))
    answered, failed = map(json.loads, written)
    found = [answered[k] for k in ("role", "model", "InputTokens", "CachedTokens", "OutputTokens")]
    assert found == ["classifier", "function", [120], [100], [7]]
    [directive] = answered["_aws"]["CloudWatchMetrics"]
    metrics = {"ModelLatency", "InputTokens", "CachedTokens", "OutputTokens"}
    assert {m["Name"] for m in directive["Metrics"]} == metrics
    assert set(directive["Dimensions"][0]) <= set(answered)
    assert (failed["role"], failed["ModelErrors"]) == ("narrator", [1])
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]
    assert "TOP SECRET" not in "".join(written) + caplog.text


def test_one_client_serves_one_event_loop(openai: Wire) -> None:
    other = LoopThread("another")
    openai.server.play(*map(Answer, ("one", "two", "three", "four")))
    assert openai.ask().text == "one"
    assert other.run(openai.model.complete(asking())).text == "two"
    assert openai.ask().text == "three"
    other.run(close())
    assert other.run(openai.model.complete(asking())).text == "four"


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


def test_a_request_past_the_script_fails_and_shows_the_prompt(loop: LoopThread) -> None:
    told = r"(?s)request 1 \(classifier\) is past the script's 0 steps.*покажи"
    with pytest.raises(AssertionError, match=told):
        loop.run(ScriptedModel([]).complete(asking()))


@pytest.mark.parametrize(
    ("fails", "told"),
    [(None, "1 of 1 scripted steps were not used"), (ZeroDivisionError("its own"), "its own")],
)
def test_unused_steps_fail_a_block_that_did_not_fail(fails: Exception | None, told: str) -> None:
    with pytest.raises(type(fails or AssertionError()), match=told):  # noqa: SIM117
        with ScriptedModel([ModelResponse(text="never")]):
            if fails:
                raise fails
