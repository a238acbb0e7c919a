"""What a model's request costs, by the operator's prices."""

from __future__ import annotations

import pytest

from webbee_kernel.api.turns import price_of, with_cost
from webbee_kernel.config import Settings
from webbee_kernel.errors import SettingsError

PRICES = (
    '{"bedrock:m-1": {"input": 3, "output": 15, "cached": 0.3},'
    ' "openai:https://models.example/v1#m-2": {"input": 1, "output": 2}}'
)


def test_tokens_are_priced_by_kind_and_an_unknown_model_has_no_price() -> None:
    prices = Settings.from_env({"WEBBEE_MODEL_PRICES": PRICES}).model_prices
    known, by_address = price_of("bedrock:m-1", prices), price_of("openai:m-2", prices)
    assert known and by_address
    assert known.of(1_000, 400, 100) == pytest.approx((600 * 3 + 400 * 0.3 + 100 * 15) / 1e6)
    assert by_address.of(1_000, 400, 100) == pytest.approx((1_000 + 200) / 1e6)
    assert price_of("openai:m-1", prices) is price_of("offline", prices) is None


def test_a_request_to_a_model_is_told_with_its_cost_and_nothing_else_is() -> None:
    prices = Settings.from_env({"WEBBEE_MODEL_PRICES": PRICES}).model_prices
    asked = {"model": "bedrock:m-1", "input_tokens": 1_000, "cached_tokens": 0, "output_tokens": 0}
    assert with_cost(asked, prices)["cost"] == pytest.approx(0.003)
    for other in ({**asked, "model": "offline"}, {"kind": "store"}, {"model": "bedrock:m-1"}):
        assert with_cost(other, prices) == other


@pytest.mark.parametrize("wrong", ['{"m": {"input": -1, "output": 1}}', '{"m": {"input": 1}}', "3"])
def test_prices_that_are_none_stop_the_function(wrong: str) -> None:
    with pytest.raises(SettingsError, match="WEBBEE_MODEL_PRICES"):
        Settings.from_env({"WEBBEE_MODEL_PRICES": wrong})
