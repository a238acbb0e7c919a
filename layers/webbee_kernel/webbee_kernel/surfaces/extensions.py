"""ctx.extensions: calls between extensions, to exposed methods only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ..invariants import limit
from ..sdk.errors import CircularCallError
from ..types import JSONObject

MAX_NESTED = limit("I-HUB-DISPATCH-NO-CYCLE")

Call = Callable[[str, str, JSONObject, tuple[str, ...]], Awaitable[Any]]
Emit = Callable[[str, JSONObject, tuple[str, ...]], Awaitable[None]]


class ExtensionsClient:
    """`ctx.extensions` of one call. `stack` holds the `app.method` calls that led here."""

    def __init__(self, app_id: str, stack: tuple[str, ...], call: Call, emit: Emit) -> None:
        self._app = app_id
        self._stack = stack
        self._call = call
        self._emit = emit

    async def call(self, app_id: str, method: str, **params: Any) -> Any:
        """Call a method another extension exposes, as the same user. Raises CircularCallError,
        ExtensionError."""
        target = f"{app_id}.{method}"
        stack = (*self._stack, target)
        if target in self._stack or len(stack) > MAX_NESTED:
            raise CircularCallError(list(stack))
        return await self._call(app_id, method, params, stack)

    async def emit(self, event_type: str, data: JSONObject) -> None:
        """Tell every installed extension that listens with `@ext.on_event`; their failures are
        logged, not raised.

        Raises CircularCallError for an event that handling this very event would emit again.
        """
        if not isinstance(data, dict):
            raise TypeError(f"event data is a dict, not {type(data).__name__}")
        name = f"event:{event_type}"
        stack = (*self._stack, name)
        if name in self._stack or len(stack) > MAX_NESTED:
            raise CircularCallError(list(stack))
        await self._emit(event_type, data, stack)
