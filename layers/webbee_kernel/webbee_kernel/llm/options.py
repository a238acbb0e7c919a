"""Model options: what a model is asked for beyond the request itself, and what is known of it."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from ..config import ModelSettings, Settings
from .protocol import ModelResponse, ModelRole

_KNOWN: Final = Path(__file__).with_name("known_models.json")


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


class Learnt:
    """What a process knows of a model: what its options say, and what its answers have shown since.

    `refused` are the parts of a request that it is asked without. `is_held`: nothing of an answer
    is shown before its end, for some models think aloud and only the end of the thoughts says so.
    It is so until one answer has shown that this one does not, and for good once one has shown that
    it does.
    """

    def __init__(self, options: ModelOptions) -> None:
        self.refused = set(options.refuses)
        self.thinks_aloud = bool(options.thinks_aloud)
        self.is_held = options.thinks_aloud is not False

    def hear(self, answer: ModelResponse) -> ModelResponse:
        """Another answer of the model, unchanged."""
        self.thinks_aloud |= answer.orphan
        self.is_held = self.thinks_aloud or (self.is_held and not answer.text)
        return answer


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
