"""`KEEP=.webbee`: what a local run leaves, the next one finds."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from local.client import Client
from local.world import local_world, prepare


def test_documents_secrets_and_mail_outlive_a_run(tmp_path: Path) -> None:
    with local_world(prepare=prepare, keep=tmp_path / "kept") as world:
        alice = Client(world.url, "alice")
        alice.post("/v1/extensions/tasks/call", {"function": "add", "params": {"title": "Kept"}})
        alice.delete("/v1/extensions/notes/installation")
        world.mail.deliver("me@personal.com", b"Subject: Kept too\r\n\r\nHello\r\n")
        mails = len(world.mail.kept())
    state = tmp_path / "kept" / "state.json"
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    with local_world(prepare=prepare, keep=tmp_path / "kept") as world:
        alice = Client(world.url, "alice")
        listed = alice.post("/v1/extensions/tasks/call", {"function": "list_tasks", "params": {}})
        assert "Kept" in json.dumps(listed["data"])
        assert len(world.mail.kept()) == mails
        found = alice.post(
            "/v1/extensions/mail/call", {"function": "search", "params": {"subject": "Kept too"}}
        )
        assert found["data"]["found"] == 1
        apps = {a["app_id"]: a["installed"] for a in alice.get("/v1/extensions")["extensions"]}
        assert (apps["notes"], apps["tasks"]) == (False, True)


def test_without_it_nothing_is_kept() -> None:
    for _ in range(2):
        with local_world(prepare=prepare) as world:
            alice = Client(world.url, "alice")
            call = {"function": "list_tasks", "params": {}}
            assert alice.post("/v1/extensions/tasks/call", call)["data"]["tasks"] == []
            add = {"function": "add", "params": {"title": "Gone"}}
            alice.post("/v1/extensions/tasks/call", add)
