"""What a process that runs extension code never holds: the model's key, other apps' secrets, other
tenants' configuration. The handlers themselves, in the environment that the template gives them."""

import asyncio
import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.aws import CREDENTIALS, aws_server, client, lambda_api
from local.stack import local_stack
from local.template import create_tables, environment, load_template
from tests.attacks import policy
from tests.attacks.policy import Wish
from tests.attacks.test_tenants_apart import ALICE, Environment, invoked
from tests.template.conftest import transformed
from webbee_kernel.aws import clients
from webbee_kernel.bootstrap import bootstrap, make_dispatch
from webbee_kernel.config import KEYS, Settings
from webbee_kernel.llm.options import BrokerService
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.types import CallOutcome, CallRequest, user_dict

_ = transformed  # the fixture

EXTENSIONS = Path(__file__).parent / "searching"


def canary(name: str) -> str:
    return f"CANARY-{name}-{zlib.crc32(name.encode()):08x}"


MODEL_KEY, WEBHOOK_KEY = canary("model_key"), canary("webhook_key")
OWN, BANKS = canary("own_secret"), canary("bank_secret")
PLACE, SHOP = canary("own_place"), canary("own_shop")
BANKS_PLACE, OTHERS_SHOP = canary("bank_place"), canary("umbrella_shop")
CONFIG = {
    "searcher": {"place": PLACE},
    "bank": {"place": BANKS_PLACE},
    "tenants": {
        "acme": {"searcher": {"shop": SHOP}},
        "umbrella": {"searcher": {"shop": OTHERS_SHOP}},
    },
}
DEPLOYMENT = {
    "WEBBEE_CONFIG": json.dumps(CONFIG),
    "IMPERAL_APPSECRET_BANK": BANKS,
    "IMPERAL_APPSECRET_SEARCHER": OWN,
    "WEBBEE_MODEL_KEY": MODEL_KEY,
    "WEBBEE_WEBHOOK_KEY": WEBHOOK_KEY,
}
"""What the operator has set; the process that runs extensions must not get it."""


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    with aws_server() as url:
        env = {**CREDENTIALS, "AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "eu-central-1"}
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        clients.forget_clients()
        yield {**env, **create_tables(client(url, "dynamodb"), load_template())}
    clients.forget_clients()


def cell_environment(account: dict[str, str], tenancy: str) -> dict[str, str]:
    """The variables that the template gives the function, with this account's values."""
    variables = environment(load_template(), "ToolDispatchFunction")
    assert not variables.keys() & {*KEYS, "WEBBEE_CONFIG", "WEBBEE_MODEL_KEY_SECRET"}
    assert not [v for v in variables if v.startswith("IMPERAL_APPSECRET_")]
    given = {**account, "WEBBEE_EXTENSIONS_DIR": str(EXTENSIONS), "WEBBEE_TENANCY": tenancy}
    given |= {k: v for k, v in DEPLOYMENT.items() if k in variables}
    return {k: v for k, v in given.items() if k in variables or k.startswith("AWS_")}


def call(account: dict[str, str], url: str, app: str, name: str) -> CallOutcome:
    """A call as `chat_turn` makes it, with the whole deployment's settings."""
    env = {**account, **DEPLOYMENT, "WEBBEE_DISPATCH": "cell"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL_LAMBDA", url)
        clients.forget_clients()
        dispatch = make_dispatch(bootstrap(Settings.from_env(env, "chat_turn")))
        request = CallRequest("function", user_dict(ALICE), app, name)
        return asyncio.run(dispatch.call(replace(request, deadline_s=90)))


class Function:
    """`cell` for lambda_api."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def invoke(self, event: Any) -> Any:
        return json.loads(self._environment.invoke(json.dumps(event))["Payload"].read())


@pytest.mark.parametrize("tenancy", ["environment", "process"])
def test_a_search_of_the_process_finds_its_own_apps_settings_and_no_others(
    account: dict[str, str], tenancy: str
) -> None:
    with (
        invoked(Environment(cell_environment(account, tenancy))) as process,
        lambda_api({"cell": Function(process)}) as url,
    ):
        outcome = call(account, url, "searcher", "search")
        assert outcome.ok, outcome
        found = {where: set(what) for where, what in outcome.data.items()}
        own = {OWN, PLACE, SHOP}
        assert found["own"] == own  # what it may have arrives
        assert found["memory"] >= own  # and the search would find more, were there any
        assert set().union(*found.values()) == own
        assert not found["environ"] | found["os.environ"] | found["files"]
        bank = call(account, url, "bank", "open")
        assert bank.data == {"key": BANKS, "place": BANKS_PLACE}


def test_make_run_keeps_keys_and_secrets_out_of_the_process_of_extensions() -> None:
    with local_stack(extensions_dir=EXTENSIONS, env=DEPLOYMENT, apart=True):
        dispatch = make_dispatch(bootstrap())
        request = CallRequest("function", user_dict(ALICE), "searcher", "search")
        outcome = asyncio.run(dispatch.call(replace(request, deadline_s=90)))
        found = {where: set(what) for where, what in outcome.data.items()}
        assert set().union(*found.values()) == {OWN, PLACE, SHOP}
        asked = asyncio.run(dispatch.call(replace(request, name="ask", deadline_s=90)))
        assert asked.ok and asked.data["text"]  # the embedded model's, behind the broker


def test_the_data_role_reads_neither_model_key_nor_extensions_settings(transformed: Any) -> None:
    session = {"tags": {"tenant": "acme", "secrets": "acme"}, "policy": ""}
    for name in ("parameter${ModelKeySecret}", "parameter${ExtensionSettings}"):
        for role in (session, None):
            assert not policy.granted(transformed, role, Wish("ssm:GetParameter", name))
    for action in ("bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"):
        assert not policy.granted(transformed, session, Wish(action, "BedrockModelArns"))
    asks = Wish("lambda:InvokeFunction", "ModelBrokerFunctionAliaslive")
    assert policy.granted(transformed, session, asks)


def test_ctx_ai_is_answered_by_the_broker_which_bounds_requests(account: dict[str, str]) -> None:
    asked: list[ModelRequest] = []

    def answer(request: ModelRequest) -> ModelResponse:
        asked.append(request)
        return ModelResponse(text="Hello yourself.")

    broker = BrokerService(Settings.from_env({}, "model_broker"), model=FunctionModel(answer))

    class Broker:
        def invoke(self, event: Any) -> Any:
            return asyncio.run(broker.handle(event))

    served: dict[str, Any] = {"broker": Broker()}
    with lambda_api(served) as url:
        env = cell_environment(account, "environment")
        env |= {"AWS_ENDPOINT_URL_LAMBDA": url, "WEBBEE_MODEL_BROKER": "broker"}
        with invoked(Environment(env)) as process:
            served["cell"] = Function(process)
            outcome = call(account, url, "searcher", "ask")
    assert outcome.ok and outcome.data["text"] == "Hello yourself."
    assert [(r.role, r.prompt) for r in asked] == [("ai", "hello")]
    forged = {"prompt": "x" * 200_000, "max_tokens": 10**9, "role": "classifier", "tools": ["a"]}
    asyncio.run(broker.handle(forged))
    last = asked[-1]
    assert (last.role, len(last.prompt), last.max_tokens, last.tools) == ("ai", 100_000, 4096, ())
