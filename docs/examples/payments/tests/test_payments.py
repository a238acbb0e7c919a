"""The payments example: signed messages are taken, others are not."""

import hashlib
import hmac
import json
from pathlib import Path

import pytest

from webbee_kernel.testing import ExtensionHarness, WebhookAnswer

PAYMENT = {"id": "pay_1", "user": "alice", "amount": "12.50", "currency": "EUR"}


@pytest.fixture
def payments() -> ExtensionHarness:
    return ExtensionHarness(Path(__file__).parents[1], secrets={"signing_key": "k1"})


def send(payments: ExtensionHarness, key: str = "k1", age: int = 0) -> WebhookAnswer:
    body, at = json.dumps(PAYMENT), str(int(payments.now) - age)
    signature = hmac.new(key.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
    return payments.webhook("paid", body, headers={"X-Time": at, "X-Signature": signature})


def test_a_signed_payment_is_kept_once_for_its_user(payments: ExtensionHarness) -> None:
    for _ in range(2):
        assert send(payments).body == {"ok": True}
    assert payments.call("list_payments").data["payments"][0]["amount"] == "12.50"
    assert payments.call("list_payments").data["count"] == 1
    assert payments.as_user("bob").call("list_payments").data["count"] == 0


@pytest.mark.parametrize(("wrong", "status"), [({"key": "k2"}, 401), ({"age": 3600}, 400)])
def test_a_wrong_signature_and_an_old_message_are_refused(
    payments: ExtensionHarness, wrong: dict[str, object], status: int
) -> None:
    assert send(payments, **wrong).status == status  # type: ignore[arg-type]
    assert payments.call("list_payments").data["count"] == 0


def test_new_payments_are_told_and_drawn(payments: ExtensionHarness) -> None:
    payments.skeleton("payments")
    send(payments)
    assert payments.alert("payments", old={"count": 2}, new={"count": 3}) == "1 new payments"
    assert "12.50" in str(payments.panel("payments"))
