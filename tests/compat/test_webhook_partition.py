"""An app's webhooks find what its chat functions left for them, whichever published way they took."""

from __future__ import annotations

import json

import pytest

from tests.compat.conftest import ALICE, Bench
from webbee_kernel.sdk import User
from webbee_kernel.types import CallOutcome


def callback(bench: Bench, state: str, tenant: str) -> CallOutcome:
    given = {"method": "GET", "headers": {}, "body": "", "query": {"state": state}}
    who = User("__webhook__", role="system", tenant_id=tenant)
    return bench.call_of("webhook", "octo", "callback", given, who)


@pytest.mark.parametrize("way", ["client", "request", "for_user"])
def test_a_state_kept_under_the_webhooks_name_is_found_by_the_webhook(
    bench: Bench, way: str
) -> None:
    bench.call("octo", "connect", way=way)
    stranger = callback(bench, f"by-{way}", "umbrella")
    assert stranger.data["status"] == 403
    assert callback(bench, f"by-{way}", ALICE.tenant_id).data["body"] == {"user": "alice"}
    assert bench.documents("octo", "accounts") == [{"by": f"by-{way}"}]
    assert bench.documents("octo", "states") == []


@pytest.mark.parametrize("user", ["bob", "__system__"])
def test_any_other_users_partition_stays_closed(bench: Bench, user: str) -> None:
    assert "403" in json.dumps(bench.call("octo", "snoop", whose=user))
    assert bench.call("octo", "snoop", whose="__webhook__") == {"error": ""}
