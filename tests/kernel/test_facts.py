"""What was found in one turn is taken up in the next by what its FACTS hold: "show that file again",
"delete the message just listed"."""

from __future__ import annotations

import json
import re
from typing import Any

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel

FILES = {"f-77": "Q3 plan.pdf", "f-78": "Lease.pdf"}


def office(done: list[tuple[str, str]]) -> Extension:
    ext = Extension("office", display_name="Office")
    chat = ChatExtension(ext)

    @chat.function("find_file", "Find a file by its name")
    async def find_file(ctx: Context, name: str) -> ActionResult:
        found = [{"id": i, "title": title} for i, title in FILES.items() if name in title]
        return ActionResult.success({"files": found}, "")

    @chat.function("show_file", "Show a file")
    async def show_file(ctx: Context, file_id: str) -> ActionResult:
        done.append(("show", file_id))
        return ActionResult.success({"id": file_id, "title": FILES[file_id], "pages": 12}, "")

    @chat.function("list_messages", "List messages")
    async def list_messages(ctx: Context) -> ActionResult:
        rows = [{"id": "m-41", "subject": "Invoice for May", "from": "billing@example.com"}]
        return ActionResult.success({"messages": rows}, "")

    @chat.function("delete_message", "Delete a message", action_type="destructive")
    async def delete_message(ctx: Context, message_id: str) -> ActionResult:
        done.append(("delete", message_id))
        return ActionResult.success({"id": message_id}, "Deleted.")

    return ext


def facts(prompt: str, function: str) -> Any:
    """The data of the newest FACTS line of a function, as the model reads it."""
    lines = re.findall(rf"^FACTS: app=office fn={function} data=(.*)$", prompt, re.M)
    return json.loads(lines[-1])


def call(function: str, /, **arguments: str) -> ModelResponse:
    return ModelResponse(tool_calls=(ToolCall(f"office__{function}", arguments),))


def model(request: ModelRequest) -> ModelResponse:
    """Calls what the message asks for, with the ids that FACTS hold and no others."""
    if request.role != "classifier":
        return ModelResponse(text="There it is.")
    message = request.prompt.splitlines()[-1]
    if "find the lease" in message:
        return call("find_file", name="Lease")
    if "my messages" in message:
        return call("list_messages")
    if "show that file" in message:
        held = facts(request.prompt, "(?:find|show)_file")
        return call("show_file", file_id=held.get("id") or held["files"][0]["id"])
    listed = facts(request.prompt, "list_messages")["messages"]
    return call("delete_message", message_id=listed[0]["id"])


def test_a_file_is_shown_again_by_the_id_that_facts_hold() -> None:
    done: list[tuple[str, str]] = []
    kernel = TestKernel([office(done)], model=FunctionModel(model))
    kernel.chat("find the lease")
    for message in ("show that file", "show that file again"):
        body = kernel.chat(message).body
        assert [c["status"] for c in body["calls"]] == ["ok"], body
    assert done == [("show", "f-78"), ("show", "f-78")]


def test_the_message_just_listed_is_deleted_once_its_card_is_accepted() -> None:
    done: list[tuple[str, str]] = []
    kernel = TestKernel([office(done)], model=FunctionModel(model))
    kernel.chat("my messages")
    body = kernel.chat("delete the message just listed").body
    if card := body.get("confirmation"):
        assert done == []
        body = kernel.confirm(card["id"], True).body
    assert done == [("delete", "m-41")]
    (receipt,) = body["receipts"]
    assert receipt["status"] == "done" and "Office" in receipt["what"]
