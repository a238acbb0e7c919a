"""Models for tests: one plays a script, one answers by a function. Neither touches a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType

from .protocol import ModelRequest, ModelResponse

Answer = Callable[[ModelRequest], ModelResponse]
Step = ModelResponse | Exception | Answer


class ScriptedModel:
    """Plays `steps` in order, one a request: a response is returned, an exception raised, a
    callable called.

    `requests` records what was asked. A request past the last step raises AssertionError;
    `assert_finished()` and a clean exit of the `with` block raise it for steps that were never
    used.
    """

    name = "scripted"

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Record the request and play the next step."""
        used = len(self.requests)
        self.requests.append(request)
        if used >= len(self.steps):
            raise AssertionError(
                f"request {used + 1} ({request.role}) is past the script's {len(self.steps)}"
                f" steps:\n{request.prompt}"
            )
        step = self.steps[used]
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, ModelResponse) else step(request)

    def assert_finished(self) -> None:
        """Raise AssertionError naming the steps that no request reached."""
        unused = self.steps[len(self.requests) :]
        if unused:
            raise AssertionError(
                f"{len(unused)} of {len(self.steps)} scripted steps were not used, the first is"
                f" {unused[0]!r}"
            )

    def __enter__(self) -> ScriptedModel:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if exc_type is None:  # a failing block already has its own reason
            self.assert_finished()


class FunctionModel:
    """Answers every request by calling `fn`; `requests` records them."""

    name = "function"

    def __init__(self, fn: Answer) -> None:
        self.fn = fn
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Record the request and answer it."""
        self.requests.append(request)
        return self.fn(request)
