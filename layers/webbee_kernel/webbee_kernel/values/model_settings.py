"""What an operator, or a check of it, says of one model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

StopWord = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]
StopWords = Annotated[tuple[StopWord, ...], Field(max_length=4)]
OutputTokens = Annotated[int, Field(ge=64, le=200_000)]
Temperature = Annotated[float, Field(ge=0, le=2)]
Effort = Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"]

OF_ROLE_OR_MODEL = r"^(classifier|narrator|ai|verifier|bedrock:.+|openai:.+)$"


class ModelSettings(BaseModel):
    """Settings of a model or a role; None where they say nothing of it.

    `window` is how many tokens prompt and answer may have together, `refuses` the parts of a
    request that it does not take, by the adapters' own names, `thinks_aloud` whether its answers
    may begin with thoughts that only their end shows to be such.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    window: Annotated[int, Field(ge=2_048, le=20_000_000)] | None = None
    output_tokens: OutputTokens | None = None
    effort: Effort | None = None
    tool_choice: Literal["", "auto"] | None = None
    temperature: Temperature | None = None
    stop: StopWords | None = None
    refuses: tuple[Annotated[str, Field(pattern="^[a-z_]{1,40}$")], ...] | None = None
    thinks_aloud: bool | None = None

    def over(self, other: ModelSettings) -> ModelSettings:
        """These, and what the other says where they say nothing."""
        return other.model_copy(update=self.model_dump(exclude_none=True))
