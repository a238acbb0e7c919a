"""What fails, how often it is tried, and what the user and the operator are told."""

import logging
from dataclasses import replace
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError, NoRegionError

from tests.stand_ins.servers import Answer, ChatServer, error
from webbee_kernel.background import LoopThread
from webbee_kernel.errors import ModelUnavailable, SettingsError
from webbee_kernel.llm.bedrock import BedrockModel
from webbee_kernel.llm.failures import failure_of
from webbee_kernel.llm.openai_compatible import ModelKey, OpenAICompatibleModel
from webbee_kernel.llm.options import ModelOptions
from webbee_kernel.llm.protocol import Growing

from .conftest import LIST, MODEL_ID, Wire, asking


def failure(wire: Wire, **request: object) -> str:
    with pytest.raises(ModelUnavailable) as caught:
        wire.ask(asking(prompt="TOP SECRET", **request))
    assert "TOP SECRET" not in str(caught.value)
    assert caught.value.status == 503
    return str(caught.value)


@pytest.mark.parametrize("kind", ["throttled", "broken", "dropped"])
def test_what_may_pass_is_tried_once_more(wire: Wire, kind: str) -> None:
    passing = Answer(drop=True) if kind == "dropped" else wire.fails(kind)
    wire.server.play(passing, Answer("ok"))
    assert (wire.ask().text, len(wire.server.requests)) == ("ok", 2)
    wire.server.play(passing, passing)
    assert "did not answer" in failure(wire) or kind != "dropped"


@pytest.mark.parametrize(("retry_after", "timeout_s"), [(5, 20.0), (2, 2.5)])
def test_a_long_pause_is_not_waited_for(wire: Wire, retry_after: float, timeout_s: float) -> None:
    wire.server.play(replace(wire.fails("throttled"), retry_after=retry_after), Answer("late"))
    assert "try again in a minute" in failure(wire, timeout_s=timeout_s)
    assert len(wire.server.requests) == 1


def test_a_slow_answer_is_given_up_and_without_time_left_nobody_is_asked(wire: Wire) -> None:
    assert "time was used up" in failure(wire, timeout_s=0.0)
    assert wire.server.requests == []
    wire.server.play(Answer("late", delay_s=30))
    told = failure(wire, timeout_s=1.5)
    assert "did not answer within 1.5 s" in told
    assert "WEBBEE_TURN_SECONDS" in told, "the setting that would give it more time"
    assert len(wire.server.requests) == 1


def test_what_an_operator_has_to_mend_is_named_and_asked_for_once(wire: Wire) -> None:
    own = "BedrockModelArns" if wire.kind == "bedrock" else "WEBBEE_MODEL_KEY"
    there = "WEBBEE_MODEL (on your own machine: MODEL= or --model)"
    for how, named in (("denied", own), ("no model", there)):
        wire.server.play(wire.fails(how))
        assert named in failure(wire)
    assert len(wire.server.requests) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Input is too long for requested model: TOP SECRET", "too long"),
        ("This model doesn't support tool use. TOP SECRET", "tools"),
        ("something else: TOP SECRET", "did not accept the request"),
    ],
)
def test_a_request_that_is_not_accepted_says_why_in_our_words(
    wire: Wire, words: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "webbee")
    wire.server.play(wire.invalid(words))
    assert told in failure(wire)
    assert len(wire.server.requests) == 1
    assert "TOP SECRET" not in caplog.text


INVALID = "ValidationException"
ON_DEMAND = "Invocation with on-demand throughput isn't supported."


@pytest.mark.parametrize(
    ("kind", "answer", "told"),
    [
        ("bedrock", error("ModelNotReadyException"), "not ready"),
        ("bedrock", error("ServiceUnavailableException"), "failed"),
        ("bedrock", error("ModelTimeoutException"), "too long"),
        ("bedrock", error(INVALID, "The provided model identifier is invalid."), "WEBBEE_MODEL"),
        ("bedrock", error(INVALID, ON_DEMAND), "inference profile"),
        ("bedrock", Answer(status=403, code="UnrecognizedClientException"), "credentials"),
        ("openai", Answer(status=307, message="elsewhere"), "base URL"),
        ("openai", Answer(status=404, raw=b"404 page not found"), "/v1"),
        ("openai", Answer(raw=b"x" * (4 * 1024 * 1024 + 1)), "larger than 4 MB"),
    ],
)
def test_an_error_of_one_service_says_what_to_do(
    request: pytest.FixtureRequest, kind: str, answer: Answer, told: str
) -> None:
    wire: Wire = request.getfixturevalue(kind)
    wire.server.play(answer, answer)
    assert told in failure(wire)


def test_an_error_has_the_cause_it_tells() -> None:
    for cause, status, code, words in (
        ("window", 413, "", "<html>Request Entity Too Large</html>"),
        ("window", 422, "", "`inputs` tokens + `max_new_tokens` must be <= 4096"),
        ("window", 200, "400", "Range of input length should be [1, 6000]"),
        ("window", 500, "", "the request exceeds the available context size"),
        ("refused", 400, "content_filter", "The response was filtered"),
        ("refused", 403, "", "flagged by moderation"),
        ("no_tools", 404, "", "No endpoints found that support tool use."),
        ("no_model", 200, "400", "m is not a valid model ID"),
        ("no_model", 404, "", "The API deployment does not exist."),
        ("credit", 400, "", "Your credit balance is too low"),
        ("credit", 402, "", "Payment required"),
        ("credit", 429, "insufficient_quota", "check billing"),
        ("rate_limit", 429, "insufficient_quota", "the rate of your billing plan"),
        ("rate_limit", 529, "overloaded_error", ""),
        ("key", 401, "", ""),
        ("key", 403, "blocked", "Country not supported"),
        ("loading", 503, "", "the model is currently loading"),
        ("loading", 429, "ModelNotReadyException", ""),
        ("server_error", 503, "", "<html><h1>503 Service Unavailable</h1></html>"),
        ("server_error", 424, "ModelErrorException", ""),
        ("no_completion", 405, "", "Method Not Allowed"),
        ("parameter", 422, "", "no"),
    ):
        assert failure_of(status, code, words).cause == cause


# ---- what models refuse


@pytest.mark.parametrize("keeps", [False, True], ids=["none at all", "none among the tools"])
def test_a_model_is_asked_again_without_cache_points_it_refuses(bedrock: Wire, keeps: bool) -> None:
    refused = (
        error(INVALID, "#/toolConfig/tools/2: extraneous key [cachePoint] is not permitted")
        if keeps
        else error("AccessDeniedException", "Unsupported model, or it allows no prompt caching.")
    )
    bedrock.server.play(refused, Answer("ok"), Answer("ok"))
    growing = replace(asking(), growing=Growing(1, 1))
    assert [bedrock.ask(growing).text for _ in range(2)] == ["ok", "ok"]
    sent = [r.body for r in bedrock.server.requests]
    assert ["cachePoint" in str(b["toolConfig"]) for b in sent] == [True, False, False]
    assert ["cachePoint" in str(b["system"]) for b in sent] == [True, keeps, keeps]
    assert ["cachePoint" in str(b) for b in sent] == [True, keeps, keeps]


KEYWORD = "toolConfig.tools.0.toolSpec.inputSchema.json is invalid: unknown keyword"
OPTIONS = ModelOptions(effort="low", cache="1h", temperature=0.6, stop=("<|end|>",))
REFUSED = [
    ("", "`temperature` is deprecated for this model.", "temperature"),
    ("", "Unsupported value: 'temperature' does not support 0.", "temperature"),
    ("", "Unknown name \"default\" at 'tools[0].function_declarations[0]'", "default': 5"),
    ("", KEYWORD, "default': 5"),
    ("openai", "Unsupported parameter: 'reasoning_effort'", "reasoning_effort"),
    ("openai", "Unknown parameter: 'prompt_cache_retention'", "prompt_cache_retention"),
    ("openai", "Unsupported parameter: 'stop' is not supported with this model.", "stop"),
    ("bedrock", "This model does not support outputConfig.effort", "outputConfig"),
    ("bedrock", "cachePoint.ttl is not supported by this model", "ttl"),
    ("bedrock", "The model returned: stopSequences is not supported", "stopSequences"),
]


@pytest.mark.parametrize(("kind", "words", "gone"), REFUSED)
def test_what_a_model_refuses_is_left_out(wire: Wire, kind: str, words: str, gone: str) -> None:
    if kind not in ("", wire.kind):
        return
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": 5}}}
    request = asking(tools=(replace(LIST, input_schema=schema),))
    wire.server.play(wire.invalid(words), Answer("ok"), Answer("ok"))
    asks = replace(wire, model=wire.another(OPTIONS))
    assert [asks.ask(request).text for _ in range(2)] == ["ok", "ok"]
    assert [f"'{gone}" in str(r.body) for r in wire.server.requests] == [True, False, False]


@pytest.mark.parametrize("words", ["This model doesn't support the system field.",
                                   "messages[0].role does not support 'system' with this model"])  # fmt: skip
def test_a_model_without_a_system_part_reads_it_in_the_message(wire: Wire, words: str) -> None:
    wire.server.play(wire.invalid(words), Answer("ok"))
    assert wire.ask().text == "ok"
    first, second = (r.body for r in wire.server.requests)
    assert "Decide." in str(second["messages"][0]) and "Decide." in str(first)
    assert "system" not in second and second["messages"][0]["role"] == "user"


@pytest.mark.parametrize(
    "words",
    [
        "The maximum tokens you requested exceeds the model limit of 2048. Try again.",
        "max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens",
        "max_tokens is too large: 4096. This model supports at most 2048 completion tokens.",
        "You requested 9000 tokens (4904 in the messages, 4096 in the completion). Please reduce.",
        "input length and `max_tokens` exceed context limit: 6000 + 4096 > 8192",
    ],
)
def test_a_model_that_refuses_so_many_tokens_is_asked_for_fewer(wire: Wire, words: str) -> None:
    wire.server.play(wire.invalid(words), Answer("ok"), Answer("ok"))
    long, short = asking(max_tokens=4096), asking(max_tokens=300)
    assert [wire.ask(request).text for request in (long, short)] == ["ok", "ok"]
    bodies = [r.body for r in wire.server.requests]
    granted = [b.get("max_tokens") or b["inferenceConfig"]["maxTokens"] for b in bodies]
    assert granted == [4096, 1024, 300]


# ---- the key


def key_of(*stored: str | Exception) -> ModelKey:
    """A key of which the parameter store holds these, one after the other."""
    answers = [s if isinstance(s, Exception) else {"Parameter": {"Value": s}} for s in stored]
    client = Mock(**{"get_parameter.side_effect": answers})
    return ModelKey(parameter="/models/key", client_factory=lambda service: client)


def test_a_key_is_sent_and_never_shown(loop: LoopThread, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ChatServer(key="sk-TOPSECRET") as server:
        keys = map(ModelKey, ("sk-TOPSECRET", "sk-OTHERSECRET"))
        right, wrong = (OpenAICompatibleModel(server.url, "m", key) for key in keys)
        server.play(Answer("ok"))
        assert loop.run(right.complete(asking())).text == "ok"
        with pytest.raises(ModelUnavailable, match="WEBBEE_MODEL_KEY") as caught:
            loop.run(wrong.complete(asking()))
    assert "sk-" not in f"{caplog.text}{caught.value}{right!r}{vars(right)}{right.name}"


@pytest.mark.parametrize("newer", ["sk-2", "sk-1"], ids=["replaced", "not replaced"])
def test_a_refused_key_is_read_once_more_and_replaced(loop: LoopThread, newer: str) -> None:
    with ChatServer(key="sk-2") as server:
        model = OpenAICompatibleModel(server.url, "m", key_of("sk-1", newer))
        server.play(Answer("ok"))
        if newer == "sk-2":
            assert loop.run(model.complete(asking())).text == "ok"
        else:
            with pytest.raises(ModelUnavailable, match="WEBBEE_MODEL_KEY"):
                loop.run(model.complete(asking()))
        assert len(server.requests) == 1 + (newer == "sk-2")


def test_i_secrets_never_logged_a_key_comes_from_its_parameter_once(loop: LoopThread) -> None:
    missing = {"Error": {"Code": "ParameterNotFound", "Message": "sk-SECRET"}}
    key = key_of(ClientError(missing, "GetParameter"), "sk-1\n")
    named = "WEBBEE_MODEL_KEY_SECRET names: it does not exist"
    with pytest.raises(ModelUnavailable, match=named) as caught:
        loop.run(key.get())
    assert "sk-SECRET" not in str(caught.value)
    assert [loop.run(key.get()), loop.run(key.get())] == ["sk-1", "sk-1"]
    assert "sk-1" not in repr(key)


def test_a_key_or_base_url_that_no_request_can_have_is_refused(loop: LoopThread) -> None:
    with pytest.raises(ModelUnavailable, match="no header"):
        loop.run(ModelKey("ключ").get())
    for host in ("user:pass@host/v1", "", "host:port/v1", "[bad/v1"):
        with pytest.raises(SettingsError, match="WEBBEE_MODEL"):
            OpenAICompatibleModel(f"http://{host}", "m")


def test_clients_are_kept_by_timeouts_and_a_missing_region_is_said(loop: LoopThread) -> None:
    factory = Mock(side_effect=RuntimeError("a defect stays a defect"))
    for seconds in (0.5, 4.0, 4.9, 17.0, 900.0):
        with pytest.raises(RuntimeError):
            model = BedrockModel(MODEL_ID, client_factory=factory)
            loop.run(model.complete(asking(timeout_s=seconds)))
    asked = [call.kwargs for call in factory.call_args_list]
    assert [told["read_timeout"] for told in asked] == [2, 5, 5, 20, 180]
    assert {told["attempts"] for told in asked} == {1}
    model = BedrockModel(MODEL_ID, client_factory=Mock(side_effect=NoRegionError))
    with pytest.raises(ModelUnavailable, match="AWS_DEFAULT_REGION"):
        loop.run(model.complete(asking()))
