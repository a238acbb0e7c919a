"""Model options: what a model is asked for beyond the request itself, and what is known of it; one
model per role, and what each request cost, as a log line and as CloudWatch metrics."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ..aws.clients import failure_kind
from ..config import ModelSettings, Settings
from ..errors import DispatchUnanswered, ModelUnavailable
from ..observability import measure_model, span
from ..text import cut
from .protocol import Hear, Model, ModelRequest, ModelResponse, ModelRole, Usage, streamed

if TYPE_CHECKING:
    from ..aws.invoke import Invoked

_KNOWN: Final = Path(__file__).with_name("known_models.json")
_log = logging.getLogger("webbee.model")


class ModelOptions(NamedTuple):
    """`effort` is how long a reasoning model thinks, in the service's own word; `cache` how long a
    prompt's stable part is kept (`1h` at Bedrock, `24h` at OpenAI), the service's own time where
    empty; `stop`
    are words that end an answer, which then does not hold them. `tool_choice` is `auto`, for
    servers that want it said, or `required`: a call whatever was asked, which `webbee models check`
    tries.

    `window` are the tokens of prompt and answer together, 0 where nobody knows; `refuses` the parts
    of a request that the model is known not to take; `thinks_aloud` says whether an answer may
    begin with thoughts that only their end shows to be such, None where that has to be seen.
    """

    effort: str = ""
    cache: str = ""
    temperature: float = 0.0
    stop: tuple[str, ...] = ()
    tool_choice: str = ""
    output_tokens: int = 4096
    window: int = 0
    refuses: tuple[str, ...] = ()
    thinks_aloud: bool | None = None

    @property
    def answer_tokens(self) -> int:
        """Tokens that an answer may have: a quarter of a small window at most."""
        return min(self.output_tokens, self.window // 4) if self.window else self.output_tokens

    @property
    def prompt_tokens(self) -> int:
        """Tokens that a prompt may have, functions included; 0 where nobody knows."""
        return self.window - self.answer_tokens if self.window else 0


PLAIN = ModelOptions()
"""Nothing beyond."""


def options_of(settings: Settings, role: ModelRole) -> ModelOptions:
    """The options of a role's model: what the settings say of the role, of this model, of all
    models, and what is known of models of its name, in this order."""
    name = settings.model_of(role)
    given = settings.model_settings
    model = next((given[n] for n in _names_of(name) if n in given), ModelSettings())
    found = given.get(role, ModelSettings()).over(model).over(_of_all(settings)).over(known(name))
    taken = found.model_dump(exclude_none=True)
    return ModelOptions(cache=settings.model_cache, **taken)


def _of_all(settings: Settings) -> ModelSettings:
    """What the settings say of every model, as far as they say it."""
    said = settings.model_fields_set
    named = {name: f"model_{name}" for name in ModelOptions._fields}
    return ModelSettings.model_validate(
        {
            name: getattr(settings, variable)
            for name, variable in named.items()
            if variable in said and name in ModelSettings.model_fields
        }
    )


def _names_of(name: str) -> tuple[str, str]:
    """A model as `WEBBEE_MODEL` says it, and as logs and prices do: without its server."""
    kind, _, rest = name.partition(":")
    return name, f"{kind}:{rest.partition('#')[2] or rest}"


def known(name: str) -> ModelSettings:
    """What is known of models of this name wherever they run: `known_models.json`."""
    if name == "offline":  # no service has it
        return ModelSettings()
    kind, _, rest = name.partition(":")
    model = (rest.partition("#")[2] or rest).rpartition("/")[2].lower()
    for patterns, settings in _known():
        if any(fnmatchcase(f"{kind}:{model}", p) or fnmatchcase(model, p) for p in patterns):
            return settings
    return ModelSettings()


@cache
def _known() -> tuple[tuple[tuple[str, ...], ModelSettings], ...]:
    told = json.loads(_KNOWN.read_text("utf-8"))["models"]
    return tuple(
        (tuple(one["names"]), ModelSettings.model_validate(one["settings"])) for one in told
    )


class RoleModels:
    """Hands each request to its role's model and measures it."""

    def __init__(self, models: Mapping[ModelRole, Model]) -> None:
        self._models = dict(models)
        names = [f"{role}={model.name}" for role, model in self._models.items()]
        one, *others = {model.name for model in self._models.values()}
        self.name = ", ".join(names) if others else one

    async def complete(self, request: ModelRequest) -> ModelResponse:
        return await self._measured(request, None)

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """The same, heard while it comes where that model can."""
        return await self._measured(request, hear)

    async def _measured(self, request: ModelRequest, hear: Hear | None) -> ModelResponse:
        model = self._models[request.role]
        started = time.perf_counter()
        try:
            response = await watched(model.name, request, streamed(model, request, hear))
        except ModelUnavailable:
            _measure(request.role, model.name, started, None)
            raise
        _measure(request.role, model.name, started, response)
        return response


def _measure(role: ModelRole, model: str, started: float, answer: ModelResponse | None) -> None:
    """One log line, and the invocation's figures by role and model."""
    usage = answer.usage if answer else Usage()
    spent = {"InputTokens": usage.input_tokens, "CachedTokens": usage.cached_tokens,
             "OutputTokens": usage.output_tokens}  # fmt: skip
    values = {"ModelLatency": int((time.perf_counter() - started) * 1000)}
    measure_model(role, model, values | (spent if answer else {"ModelErrors": 1}))
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


SHOWN: Final = 8_000
"""Characters of a request's system text and of its answer that are told; of the prompt three times
as many. Together they fit into a frame."""


async def watched(
    model: str, request: ModelRequest, answering: Awaitable[ModelResponse]
) -> ModelResponse:
    """The answer; told with its request and its tokens where somebody watches."""
    with span("model", request.role) as told:
        response = await answering
        if told is not None:
            calls = [f"{call.name}({call.arguments})" for call in response.tool_calls]
            told.update(
                model=model,
                input_tokens=response.usage.input_tokens,
                cached_tokens=response.usage.cached_tokens,
                output_tokens=response.usage.output_tokens,
                stop_reason=response.stop_reason,
                system=cut(request.system, SHOWN),
                prompt=cut(request.prompt, 3 * SHOWN),
                answer=cut("\n".join([*calls, response.text]).strip(), SHOWN),
            )
    return response


def named(name: str, settings: Settings, options: ModelOptions = PLAIN) -> Model:
    """The model that `offline`, `bedrock:<id>` or `openai:<base-url>#<model>` names."""
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


GRACE_S: Final = 5.0
"""Seconds past a request's own limit in which the function may say that it is over."""


class BrokerModel:
    """The model of `ctx.ai` where extensions run: another function asks it, which has the
    operator's key and nothing else. What this process holds is the right to invoke that function,
    by the credentials of the call."""

    def __init__(self, function: Invoked) -> None:
        self._function = function
        self.name = ""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """What the model wrote; ModelUnavailable where it, or the function, does not answer."""
        asked = {
            "system": request.system,
            "prompt": request.prompt,
            "max_tokens": request.max_tokens,
            "language": request.language,
        }
        try:
            async with asyncio.timeout(request.timeout_s + GRACE_S):
                answer = await self._function.invoke(asked)
        except Exception as error:
            name = type(error).__name__
            if isinstance(error, DispatchUnanswered | TimeoutError) or failure_kind(error):
                raise ModelUnavailable(f"The model could not be asked ({name}).") from error
            raise
        if refused := answer.get("unavailable"):
            raise ModelUnavailable(str(refused["message"]))
        self.name = str(answer["model"])
        return ModelResponse(
            str(answer["text"]), usage=Usage(*answer["usage"]), stop_reason=str(answer["stop"])
        )
