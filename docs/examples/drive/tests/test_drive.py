"""The drive example: Google is answered by a function, time is moved."""

from pathlib import Path

import pytest

from webbee_kernel.testing import ExtensionHarness, HttpCall

ACCOUNT = {"email": "me@example.com", "access_token": "old", "refresh_token": "again"}


def google(call: HttpCall) -> dict[str, object] | tuple[int, dict[str, object]]:
    if call.url.endswith("/token"):
        return {"access_token": "new", "expires_in": 3600}
    if call.headers["authorization"] not in ("Bearer old", "Bearer new"):
        return 401, {}
    return {"files": [{"id": "f1", "name": "Budget 2026"}]}


@pytest.fixture
def drive() -> ExtensionHarness:
    secrets = {"google_client_id": "id", "google_client_secret": "secret"}
    return ExtensionHarness(Path(__file__).parents[1], http=google, secrets=secrets)


def connect(drive: ExtensionHarness) -> None:
    data = {**ACCOUNT, "expires_at": drive.now + 600}
    drive.run(drive.context().store.create("google_accounts", data))


def test_without_an_account_it_says_so(drive: ExtensionHarness) -> None:
    assert drive.call("find_files", name="budget").error_code == "NOT_CONNECTED"
    assert drive.skeleton("drive") == {"connected": False}


def test_files_are_found_with_the_accounts_token(drive: ExtensionHarness) -> None:
    connect(drive)
    found = drive.call("find_files", name="budget")
    assert found.data["files"] == [{"id": "f1", "name": "Budget 2026"}]
    assert "me@example.com" in str(drive.panel("account"))


def test_a_token_that_ends_is_renewed_once(drive: ExtensionHarness) -> None:
    connect(drive)
    drive.advance(590)
    for _ in range(2):
        assert drive.call("find_files", name="budget").ok
    assert [c.url.rpartition("/")[2] for c in drive.sent] == ["token", "files", "files"]
