"""`ChatExtension`: the functions that a user's message can trigger."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from .definitions import FunctionDef, once

if TYPE_CHECKING:
    from .extension import Extension

F = TypeVar("F", bound=Callable[..., Awaitable[Any]])
ACTION_TYPES = ("read", "write", "destructive")


class ChatExtension:
    """The chat face of an extension: `chat = ChatExtension(ext)`, then `@chat.function(...)`."""

    def __init__(
        self,
        ext: Extension,
        tool_name: str | None = None,
        description: str = "",
        system_prompt: str = "",
        model: str | None = None,
        max_rounds: int = 10,
    ) -> None:
        self.ext = ext
        self.tool_name = tool_name or f"tool_{ext.app_id}_chat"
        self.description = description
        self.system_prompt = system_prompt
        self.model = model
        self.max_rounds = max_rounds
        self.functions: dict[str, FunctionDef] = {}
        ext.chats.append(self)

    def function(
        self,
        name: str,
        description: str,
        params: dict[str, Any] | None = None,
        action_type: str = "read",
        event: str = "",
        chain_callable: bool | None = None,
        effects: list[str] | None = None,
        id_projection: str | None = None,
        background: bool = False,
        long_running: bool = False,
        inputs: list[str] | None = None,
        outputs: list[str] | None = None,
        data_model: type | None = None,
        ui_builder: bool = False,
        *,
        examples: list[str] | None = None,
        scopes: list[str] | None = None,
    ) -> Callable[[F], F]:
        """Register `async def f(ctx, params: Model) -> ActionResult` (or `f(ctx, **kwargs)`).

        `action_type` is read, write or destructive: destructive calls wait for the user's
        confirmation. With `event` a success is published as `<app_id>.<event>` to whoever listens
        with `@ext.on_event`. Results that do not fit `data_model` are logged with the fields that
        do not. `examples` and `scopes` are this kernel's additions: phrases a user may say, and
        scopes the caller must hold. `chain_callable`, `background`, `long_running`, `inputs`,
        `outputs` and `ui_builder` are hints, here as in the platform's own SDK: any function may
        be a step of a plan, and any call may go on past its turn. Raises ValueError for an unknown
        action type, for one given as `params`, and for a name that is taken.
        """
        if action_type not in ACTION_TYPES:
            raise ValueError(
                f"action_type of {name!r} is {action_type!r}: give one of {', '.join(ACTION_TYPES)}"
            )
        if isinstance(params, str):
            raise ValueError(f"params of {name!r} is {params!r}: say action_type={params!r}")

        def register(func: F) -> F:
            made = FunctionDef(
                name=name,
                func=func,
                description=description,
                action_type=action_type,
                params=params,
                params_model=params_model(func),
                event=event,
                data_model=data_model,
                id_projection=id_projection,
                chain_callable=chain_callable,
                background=background,
                long_running=long_running,
                effects=tuple(effects or ()),
                examples=tuple(examples or ()),
                scopes=tuple(scopes or ()),
            )
            once(self.functions, name, made, "chat function")
            return func

        return register


def params_model(func: Callable[..., Any]) -> type[BaseModel] | None:
    """The Pydantic model of the second parameter, if there is one."""
    names = list(inspect.signature(func).parameters)
    if len(names) < 2:
        return None
    try:
        hint = typing.get_type_hints(func).get(names[1])
    except (NameError, TypeError):  # an annotation that cannot be resolved is no model
        hint = func.__annotations__.get(names[1])
    return hint if isinstance(hint, type) and issubclass(hint, BaseModel) else None
