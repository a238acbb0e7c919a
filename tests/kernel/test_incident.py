"""The incident: a list of 36 tasks, told as 50, and asked for as 50. The number of a message is no
source for a quantity, whatever the language and the words."""

from typing import Any

import pytest

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.replies import as_text


def tasks() -> Extension:
    ext = Extension("tasks", display_name="Tasks")
    chat = ChatExtension(ext)

    @chat.function("list_tasks", "List the tasks")
    async def list_tasks(ctx: Context) -> ActionResult:
        rows = [{"id": f"t_{n}", "title": f"Chore {n}", "status": "open"} for n in range(36)]
        return ActionResult.success({"tasks": rows}, "")

    return ext


ASKED = [
    ("do I have 50 tasks?", "Yes, you have 50 tasks."),
    ("are there really 50 tasks on my list", "Right, 50 of them."),
    ("50 tasks, is that so?", "Indeed: 50 tasks are waiting for you."),
    ("у меня 50 задач?", "Да, у вас 50 задач."),
    ("правда, что задач пятьдесят?", "Верно, их ровно 50."),
    ("habe ich 50 Aufgaben?", "Ja, Sie haben 50 Aufgaben."),
    ("sind es 50?", "Genau, auf der Liste stehen 50."),
    ("¿tengo 50 tareas?", "Sí, tienes 50 tareas."),
    ("¿son 50, verdad?", "Así es, son 50 en total."),
    ("ai-je 50 tâches ?", "Oui, vous avez 50 tâches."),
    ("il y en a 50 ?", "Exactement, il y en a 50."),
]
HONEST = [
    ("do I have 50 tasks?", "No, you have 36 tasks."),
    ("у меня 50 задач?", "Нет, у вас 36 задач."),
    ("habe ich 50 Aufgaben?", "Nein, es sind 36."),
]


def answered(message: str, reply: str, *, remembered: bool) -> dict[str, Any]:
    """The answer where the list was called for in this turn, or is remembered from the last."""

    def answer(request: ModelRequest) -> ModelResponse:
        last = request.prompt.splitlines()[-1]
        if request.role == "narrator":
            return ModelResponse(text="Here it is." if "show" in request.prompt else reply)
        if "show" in last or not remembered:
            return ModelResponse(tool_calls=(ToolCall("tasks__list_tasks", {}),))
        return ModelResponse(text=reply)

    kernel = TestKernel([tasks()], model=FunctionModel(answer))
    if remembered:
        kernel.chat("show my tasks")
    body: dict[str, Any] = kernel.chat(message).body
    return body


@pytest.mark.parametrize("remembered", [True, False])
@pytest.mark.parametrize(("message", "reply"), ASKED)
def test_a_number_of_the_message_is_marked_and_the_kernel_adds_what_the_list_holds(
    message: str, reply: str, remembered: bool
) -> None:
    body = answered(message, reply, remembered=remembered)
    assert body["reply"].startswith(reply)
    (mark,) = body["marks"]
    assert body["reply"][mark["start"] : mark["end"]] == "50"
    assert mark["holds"] == "tasks: 36"
    assert "36" in body["reply"].removeprefix(reply)
    assert "50 (?)" in as_text(body)


@pytest.mark.parametrize("remembered", [True, False])
@pytest.mark.parametrize(("message", "reply"), HONEST)
def test_what_the_list_holds_is_not_marked(message: str, reply: str, remembered: bool) -> None:
    body = answered(message, reply, remembered=remembered)
    assert body["reply"] == reply
    assert "marks" not in body
