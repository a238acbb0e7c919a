"""Models by the names that settings give them; each service is imported when it is named."""

from __future__ import annotations

from ..config import Settings
from .protocol import Model


def named(name: str, settings: Settings) -> Model:
    """The model that `offline`, `bedrock:<id>` or `openai:<base-url>#<model>` names."""
    kind, _, rest = name.partition(":")
    if kind == "offline":
        from .embedded import EmbeddedModel

        return EmbeddedModel()
    from .manner import Manner

    manner = Manner(
        settings.model_effort,
        settings.model_cache,
        settings.model_strict,
        settings.model_temperature,
        settings.model_stop,
        settings.model_tool_choice,
    )
    if kind == "bedrock":
        from .bedrock import BedrockModel

        return BedrockModel(rest, manner=manner)
    from .key import ModelKey
    from .openai_compatible import OpenAICompatibleModel

    base_url, _, model = rest.partition("#")
    key = ModelKey(settings.model_key.get_secret_value(), parameter=settings.model_key_secret)
    return OpenAICompatibleModel(base_url, model, key, manner)
