"""Forty turns of a scripted model over one small office, `golden.json`: what is said, and what came of it.

A story is a list of turns of one session. A turn is what the user says, or whether the card that the
turn before showed is pressed; what the model answers in order, in words or with calls; and what of it was
`agreed` on. Where a difference is wanted: `make python ARGS='-m tests.golden.test_golden'`, and look at the
difference before you commit it: it is a change that users see.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.planning import telling
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import ExtensionHarness, TestKernel

FILE = Path(__file__).with_name("golden.json")
Turn = dict[str, Any]
STORIES: dict[str, list[Turn]] = json.loads(FILE.read_text("utf-8"))

MAILS = [
    {"id": "m-101", "from": "sarah@example.com", "subject": "Q3 plan", "unread": True},
    {"id": "m-102", "from": "omar@example.com", "subject": "Invoice 7781", "unread": True},
    {"id": "m-103", "from": "sarah@example.com", "subject": "Lunch", "unread": False},
]
TASKS = [
    {"id": "t-1", "title": "Buy milk", "status": "open", "hours": 1},
    {"id": "t-2", "title": "Call the bank", "status": "open", "hours": 2},
    {"id": "t-3", "title": "File taxes", "status": "done", "hours": 8},
]


def office() -> list[Extension]:
    """Mail and tasks: reads, writes, an outward write, a destructive one, and what fails."""
    inbox = ActionResult.success({"unread": 2, "messages": MAILS}, "3 mails, 2 unread")
    mail = telling("mail", "Mail", list_inbox=inbox)

    @ChatExtension(mail).function("send_mail", "Send a mail", action_type="write")
    async def send_mail(ctx: Context, to: str, subject: str) -> ActionResult:
        return ActionResult.success({"id": "m-900", "to": to, "subject": subject}, "Sent.")

    @mail.skeleton("mail_inbox_summary", ttl=300)
    async def summary(ctx: Context) -> dict[str, Any]:
        return {"response": {"unread_total": 2, "accounts": [{"id": 1, "name": "work"}]}}

    rows = [{"id": f"x-{n}", "title": f"Row {n}", "hours": n} for n in range(200)]
    tasks = telling(
        "tasks",
        "Tasks",
        sync_tasks=ActionResult.error("the server is away", True, code="BACKEND_TIMEOUT"),
        export_tasks=ActionResult.success({"total": 200, "rows": rows}, "200 rows"),
    )
    chat = ChatExtension(tasks)
    kept = [dict(t) for t in TASKS]

    @chat.function("list_tasks", "List the tasks")
    async def list_tasks(ctx: Context) -> ActionResult:
        return ActionResult.success({"total": len(kept), "tasks": kept}, f"{len(kept)} tasks")

    @chat.function("add_task", "Add a task", action_type="write")
    async def add_task(ctx: Context, title: str) -> ActionResult:
        kept.append({"id": f"t-{len(kept) + 1}", "title": title, "status": "open", "hours": 0})
        return ActionResult.success({"task": kept[-1]}, f"Added {title}.")

    @chat.function("complete_task", "Complete a task", action_type="write")
    async def complete_task(ctx: Context, task_id: str) -> ActionResult:
        for task in kept:
            if task["id"] == task_id:
                task["status"] = "done"
                return ActionResult.success({"task": task}, "Done.")
        return ActionResult.error("there is no such task", code="NOT_FOUND")

    @chat.function("delete_task", "Delete a task", action_type="destructive")
    async def delete_task(ctx: Context, task_id: str) -> ActionResult:
        kept[:] = [t for t in kept if t["id"] != task_id]
        return ActionResult.success({"deleted": task_id}, "Deleted.")

    @chat.function("crash", "Crash")
    async def crash(ctx: Context) -> ActionResult:
        raise RuntimeError("secret text of the exception")

    return [mail, tasks]


def response(answer: str | list[list[Any]]) -> ModelResponse:
    """A model's answer in words, or with calls of `app.function`."""
    if isinstance(answer, str):
        return ModelResponse(text=answer)
    calls = (ToolCall(name.replace(".", "__"), arguments) for name, arguments in answer)
    return ModelResponse(tool_calls=tuple(calls))


def play(turns: Sequence[Turn]) -> list[Turn]:
    """What each turn of a story showed, called, recorded and replied."""
    queue: list[ModelResponse] = []
    model = FunctionModel(lambda _: queue.pop(0) if queue else ModelResponse(text=""))
    stores, apps = memory_stores(), office()
    ExtensionHarness(apps[0], stores=stores).skeleton("mail_inbox_summary")
    kernel = TestKernel(apps, model=model, stores=stores)
    seen: list[Turn] = []
    waiting = ""
    for turn in turns:
        queue[:] = map(response, turn["model"])
        before = len(model.requests)
        is_said = "say" in turn
        reply = kernel.chat(turn["say"]) if is_said else kernel.confirm(waiting, turn["press"])
        kernel.clock.advance(60)
        waiting = (reply.body.get("confirmation") or {}).get("id", "")
        asked = model.requests[before:]
        memory = kernel.memory()
        told = {
            "prompt": [plain(line) for line in blocks(asked)],
            "roles": "".join(r.role[0] for r in asked),
            "calls": [
                [c["app_id"], c["fn_name"], c["status"], c.get("error_code", "")]
                for c in reply.body["calls"]
            ],
            "facts": [[d.app_id, d.fn_name, d.data_facts_json] for d in memory.turns[-1].digests],
            "status": reply.body["status"],
            "remembered": len(memory.turns),
            "reply": plain(reply.body["reply"]),
        }
        seen.append({**turn, "agreed": told})
    return seen


def blocks(requests: Sequence[ModelRequest]) -> list[str]:
    """The lines of memory and message in the first prompt of the turn."""
    first = next((r for r in requests if r.role == "classifier"), None)
    if first is None:
        return []
    text = first.opening or first.prompt
    kept = text[text.find("[SKELETON]") :] if "[SKELETON]" in text else text
    return [line for line in kept.splitlines() if line.strip() and not line.startswith("NOTE:")]


def plain(text: str) -> str:
    """Without what differs from run to run."""
    return re.sub(r"\b(conf_)?[0-9a-f]{12}\b", r"\1…", text)


def test_there_are_forty_turns() -> None:
    assert sum(map(len, STORIES.values())) == 40


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_told_as_agreed(story: str) -> None:
    played = zip(play(STORIES[story]), STORIES[story], strict=True)
    for number, (turn, agreed) in enumerate(played, 1):
        assert turn == agreed, f"turn {number} of {story!r}"


if __name__ == "__main__":
    told = {name: play(turns) for name, turns in STORIES.items()}
    FILE.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", "utf-8")
