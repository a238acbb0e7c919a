"""The smallest whole turn: a model that plans the same calls whenever it is asked, and an app whose
functions return the same data."""

from typing import Any

from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension


def planning(*calls: ToolCall | str, reply: str = "Done.") -> FunctionModel:
    """A name is a call of it without arguments; the narrator says the reply. What it was asked
    stands in its `requests`."""
    made = tuple(c if isinstance(c, ToolCall) else ToolCall(c, {}) for c in calls)
    return FunctionModel(
        lambda asked: (
            ModelResponse(reply) if asked.role == "narrator" else ModelResponse(tool_calls=made)
        )
    )


def telling(app_id: str, display_name: str = "", /, **told: Any) -> Extension:
    """An app with a read for each name, which returns this data, or this whole result."""
    ext = Extension(app_id, display_name=display_name)
    for name, data in told.items():
        ChatExtension(ext).function(name, f"Tells {name}")(_handler(data))
    return ext


def _handler(data: Any) -> Any:
    async def tell(ctx: Context) -> ActionResult:
        return data if isinstance(data, ActionResult) else ActionResult.success(data, "")

    return tell
