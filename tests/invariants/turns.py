"""A kernel whose model plans what a test says, and an app that notes what it is given."""

from typing import Any

from pydantic import BaseModel

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension
from webbee_kernel.testing import TestKernel

OPEN = {"IMPERAL_FACT_LEDGER_EXPOSE_PII": "true", "WEBBEE_CONFIRM": "destructive"}


class Params(BaseModel):
    task_id: str = ""
    text: str = ""
    size: int = 0


class Turns:
    """The model plans `calls` whenever it is asked and narrates `narration`; `got` is what the
    handlers received."""

    def __init__(self, env: dict[str, str] | None = None) -> None:
        self.calls: Any = ()
        self.narration = "Done."
        self.found: Any = {"tasks": [{"id": "t-17", "title": "Milk"}]}
        self.results: list[Any] = []
        """What the next finds bring, before it is `found` again."""
        self.echo: dict[str, Any] = {"ok": True}
        self.got: list[dict[str, Any]] = []
        self.requests: list[ModelRequest] = []
        self.ext = Extension("tasks")
        chat = ChatExtension(self.ext)

        @chat.function("find", "Find tasks")
        async def find(ctx: Any, **given: Any) -> ActionResult:
            self.got += [given] if given else []
            result = self.results.pop(0) if self.results else self.found
            if isinstance(result, Exception):
                raise result
            return result if isinstance(result, ActionResult) else ActionResult.success(result, "")

        @chat.function("change", "Change a task", action_type="write")
        async def change(ctx: Any, params: Params) -> ActionResult:
            self.got.append(params.model_dump())
            return ActionResult.success(self.echo, "Changed.")

        model = FunctionModel(self.answer)
        self.kernel = TestKernel([self.ext], model=model, env=OPEN if env is None else env)

    def answer(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        if request.role == "narrator":
            return ModelResponse(self.narration)
        planned = self.calls(request) if callable(self.calls) else self.calls
        calls = tuple(ToolCall(f"tasks__{name}", arguments) for name, arguments in planned)
        return ModelResponse(tool_calls=calls)

    def play(self, *calls: tuple[str, dict[str, Any]], message: str = "go") -> Any:
        """One message; whatever is asked about it is answered with yes."""
        self.calls = calls
        reply = self.kernel.chat(message)
        while reply.body["status"] == "confirmation":
            self.calls = ()
            reply = self.kernel.confirm(reply.body["confirmation"]["id"])
        return reply

    def change(self, task_id: str, message: str = "go") -> None:
        """A turn in which the model changes this task."""
        self.play(("change", {"task_id": task_id}), message=message)

    def show(self, *results: Any, message: str = "go") -> Any:
        """A turn with a find for each of these results."""
        self.results = list(results)
        return self.play(*(("find", {"n": n}) for n in range(len(results))), message=message)

    def changed(self) -> list[str]:
        """The tasks that were changed."""
        return [given["task_id"] for given in self.got if "task_id" in given]

    def told(self) -> str:
        """What the model was told to mend."""
        return "".join(r.prompt.partition("[PROBLEMS]")[2] for r in self.requests)

    def ledger(self) -> list[str]:
        """The FACTS lines of the next turn's prompt."""
        return [x for x in self.kernel.prompt("next").split("\n") if x.startswith("FACTS:")]
