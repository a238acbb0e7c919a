"""Model options and known models; the models by role, with a log line and CloudWatch metrics per
request; the factory; and both ends of `ctx.ai`, which asks a function of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..aws.clients import failure_kind
from ..clock import Clock
from ..config import ModelOptions, Settings
from ..errors import DispatchUnanswered, KernelError, ModelUnavailable
from ..observability import count_request, measure_all, span
from ..text import cut
from ..types import JSON, JSONObject
from .protocol import Hear, Model, ModelRequest, ModelResponse, ModelRole, Usage, streamed

if TYPE_CHECKING:
    from ..aws.invoke import LambdaFunction

_KNOWN: Final = Path(__file__).with_name("known_models.json")
_log = logging.getLogger("webbee.model")


PLAIN = ModelOptions()
"""The default options."""


def options_of(settings: Settings, role: ModelRole) -> ModelOptions:
    """The options of a role's model, from the settings for the role, for the model, for all models
    and the known models, in this order."""
    name = settings.model_of(role)
    given = settings.model_settings
    kind, short = _without_server(name)
    model = given.get(name) or given.get(f"{kind}:{short}") or PLAIN
    of_all = {
        option: getattr(settings, f"model_{option}")
        for option in ModelOptions.model_fields
        if f"model_{option}" in settings.model_fields_set
    }
    everywhere = PLAIN.model_copy(update=of_all)
    return given.get(role, PLAIN).over(model).over(everywhere).over(builtin(name))


def _without_server(name: str) -> tuple[str, str]:
    """The kind of a model and its name, as in logs and prices: without its server."""
    kind, _, rest = name.partition(":")
    return kind, rest.partition("#")[2] or rest


def builtin(name: str) -> ModelOptions:
    """The options of a known model, from `known_models.json`."""
    kind, short = _without_server(name)
    model = short.rpartition("/")[2].lower()
    for patterns, options in _known_models() if model else ():  # nobody serves the offline one
        if any(fnmatchcase(f"{kind}:{model}", p) or fnmatchcase(model, p) for p in patterns):
            return options
    return PLAIN


@cache
def _known_models() -> list[tuple[Sequence[str], ModelOptions]]:
    models = json.loads(_KNOWN.read_text("utf-8"))["models"]
    return [(one["names"], ModelOptions.model_validate(one["settings"])) for one in models]


class RoleModels:
    """Routes each request to its role's model and measures it."""

    def __init__(self, models: Mapping[ModelRole, Model]) -> None:
        self._models = dict(models)
        names = [f"{role}={model.name}" for role, model in self._models.items()]
        one, *others = {model.name for model in self._models.values()}
        self.name = ", ".join(names) if others else one

    async def complete(self, request: ModelRequest) -> ModelResponse:
        return await self._request(request, None)

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """As `complete`, streamed where that model can."""
        return await self._request(request, hear)

    async def _request(self, request: ModelRequest, hear: Hear | None) -> ModelResponse:
        model = self._models[request.role]
        started = time.perf_counter()
        try:
            response = await trace_answer(model.name, request, streamed(model, request, hear))
        except ModelUnavailable:
            _measure(request.role, model.name, started, None)
            raise
        _measure(request.role, model.name, started, response)
        return response


def _measure(role: ModelRole, model: str, started: float, answer: ModelResponse | None) -> None:
    """One log line, and metrics by role and model."""
    usage = answer.usage if answer else Usage()
    spent = {"InputTokens": usage.input_tokens, "CachedTokens": usage.cached_tokens,
             "OutputTokens": usage.output_tokens}  # fmt: skip
    values = {"ModelLatency": int((time.perf_counter() - started) * 1000)}
    measure_all(values | (spent if answer else {"ModelErrors": 1}), (role, model))
    _log.log(
        logging.INFO if answer else logging.WARNING,
        "role=%s model=%s stop=%s ms=%d in=%d cached=%d out=%d | model %s",
        role,
        model,
        answer.stop_reason if answer else "-",
        values["ModelLatency"],
        *spent.values(),
        "answered" if answer else "unavailable",
    )


MAX_TRACE: Final = 8_000
"""Characters of the system text and of the answer in a trace; of the prompt three times as many."""


async def trace_answer(
    model: str, request: ModelRequest, answer: Awaitable[ModelResponse]
) -> ModelResponse:
    """The answer; request, answer and tokens are added to the trace if one is recorded."""
    with span("model", request.role) as record:
        response = await answer
        if record is not None:
            calls = [f"{call.name}({call.arguments})" for call in response.tool_calls]
            record.update(
                model=model,
                input_tokens=response.usage.input_tokens,
                cached_tokens=response.usage.cached_tokens,
                output_tokens=response.usage.output_tokens,
                stop_reason=response.stop_reason,
                system=cut(request.system, MAX_TRACE),
                prompt=cut(request.prompt, 3 * MAX_TRACE),
                answer=cut("\n".join([*calls, response.text]).strip(), MAX_TRACE),
            )
    return response


def create_model(name: str, settings: Settings, options: ModelOptions = PLAIN) -> Model:
    """Create a model from `offline`, `bedrock:<id>` or `openai:<base-url>#<model>`."""
    kind, _, rest = name.partition(":")
    if kind == "offline":
        from .embedded import EmbeddedModel

        return EmbeddedModel()
    if kind == "bedrock":
        from .bedrock import BedrockModel

        return BedrockModel(rest, options=options)
    from .openai_compatible import ModelKey, OpenAICompatibleModel

    base_url, _, model = rest.partition("#")
    key = ModelKey(settings.model_key.get_secret_value(), parameter=settings.model_key_secret)
    return OpenAICompatibleModel(base_url, model, key, options)


def make_model(settings: Settings) -> Model:
    """The models that `WEBBEE_MODEL` and the roles' variables name; equal ones are shared."""
    roles: tuple[ModelRole, ...] = ("classifier", "narrator", "ai")
    if all(settings.model_of(role) == "offline" for role in roles):
        return create_model("offline", settings, PLAIN)
    by_role = {role: (settings.model_of(role), options_of(settings, role)) for role in roles}
    models = {key: create_model(key[0], settings, key[1]) for key in set(by_role.values())}
    return RoleModels({role: models[key] for role, key in by_role.items()})


MAX_PROMPT: Final = 100_000
"""Characters of a prompt of `ctx.ai`, and of its system text."""
MAX_TOKENS: Final = 4_096
"""Tokens that it may answer."""
GRACE_S: Final = 5.0
"""Seconds beyond a request's limit for the function to report the timeout."""


class BrokerModel:
    """The model of `ctx.ai` in tool_dispatch: it invokes another function, which alone holds the
    operator's key. This process needs only the permission to invoke it."""

    def __init__(self, function: LambdaFunction) -> None:
        self._function = function
        self.name = ""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The model's text. Raises ModelUnavailable if model or function does not answer."""
        payload = {
            "system": request.system,
            "prompt": request.prompt,
            "max_tokens": request.max_tokens,
            "language": request.language,
        }
        try:
            async with asyncio.timeout(request.timeout_s + GRACE_S):
                answer = await self._function.invoke(payload)
        except Exception as error:
            name = type(error).__name__
            if isinstance(error, DispatchUnanswered | TimeoutError) or failure_kind(error):
                raise ModelUnavailable(f"The model could not be asked ({name}).") from error
            raise
        if problem := answer.get("unavailable"):
            raise ModelUnavailable(str(problem["message"]))
        self.name = str(answer["model"])
        return ModelResponse(
            str(answer["text"]), usage=Usage(*answer["usage"]), stop_reason=str(answer["stop"])
        )


class BrokerService:
    """The function `model_broker`, which calls of `tool_dispatch` may invoke: it alone has the
    operator's key, as no process that runs extension code does, and no tables, users or tools."""

    def __init__(
        self, settings: Settings, clock: Clock | None = None, *, model: Model | None = None
    ) -> None:
        self._model = model or make_model(settings)

    async def handle(self, event: Mapping[str, JSON]) -> JSONObject:
        """`{"text", "model", "usage", "stop"}` for `{"system", "prompt", "max_tokens",
        "language"}`; `{"unavailable"}` where no model answers. The caller is extension code: all
        sizes are limited here."""
        request = ModelRequest(
            role="ai",
            system=str(event.get("system", ""))[:MAX_PROMPT],
            prompt=str(event["prompt"])[:MAX_PROMPT],
            max_tokens=max(1, min(int(event.get("max_tokens", 1024)), MAX_TOKENS)),
            language=str(event.get("language", "en"))[:35],
        )
        try:
            response = await self._model.complete(request)
        except KernelError as error:
            count_request(failed=True)
            return {"unavailable": error.body()["error"]}
        count_request(failed=False)
        used = response.usage
        return {
            "text": response.text,
            "model": self._model.name,
            "usage": [used.input_tokens, used.output_tokens, used.cached_tokens],
            "stop": response.stop_reason,
        }
