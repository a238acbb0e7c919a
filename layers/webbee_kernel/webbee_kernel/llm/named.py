"""Models by the names that settings give them; each service is imported when it is named."""

from __future__ import annotations

from ..config import Settings
from .options import PLAIN, ModelOptions
from .protocol import Model


def named(name: str, settings: Settings, options: ModelOptions = PLAIN) -> Model:
    """The model that `offline`, `bedrock:<id>` or `openai:<base-url>#<model>` names."""
    kind, _, rest = name.partition(":")
    if kind == "offline":
        from .embedded import EmbeddedModel

        return EmbeddedModel()
    if kind == "bedrock":
        from .bedrock import BedrockModel

        return BedrockModel(rest, options=options)
    from .key import ModelKey
    from .openai_compatible import OpenAICompatibleModel

    base_url, _, model = rest.partition("#")
    key = ModelKey(settings.model_key.get_secret_value(), parameter=settings.model_key_secret)
    return OpenAICompatibleModel(base_url, model, key, options)
