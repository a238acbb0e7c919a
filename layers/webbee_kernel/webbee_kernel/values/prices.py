"""What models cost, as an operator says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from .plain import JSONObject

Dollars = Annotated[float, Field(ge=0, le=100_000)]

PER_TOKENS = 1_000_000


class Price(BaseModel):
    """US dollars for a million tokens: read, written, and read from the service's cache (as much as
    those read anew, where it is not given)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    input: Dollars
    output: Dollars
    cached: Dollars | None = None

    def of(self, read: int, cached: int, written: int) -> float:
        """US dollars for a request: `cached` of the `read` tokens came from the cache."""
        again = self.input if self.cached is None else self.cached
        paid = (read - cached) * self.input + cached * again + written * self.output
        return paid / PER_TOKENS


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """A model's price; None where nobody said it. `model` is `bedrock:<id>` or `openai:<model>`;
    a price may also stand under what `WEBBEE_MODEL` says of it, the server's address included."""
    if found := prices.get(model):
        return found
    service, _, name = model.partition(":")
    return next(
        (p for m, p in prices.items() if m.startswith(service) and m.endswith("#" + name)), None
    )


def with_cost(told: JSONObject, prices: Mapping[str, Price]) -> JSONObject:
    """What is told of a stretch of a turn, with the `cost` of a request to a model whose price is
    known."""
    price = price_of(str(told.get("model", "")), prices)
    if price is None or "input_tokens" not in told:
        return told
    used = (told[f"{kind}_tokens"] for kind in ("input", "cached", "output"))
    return {**told, "cost": price.of(*used)}
