"""A call: planned, on its way, ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..sdk.result import UNSTRUCTURED
from .late import Late, Unread
from .plain import JSONObject, fields_of, made


@dataclass(frozen=True, slots=True)
class Step:
    """One planned call. `arguments` may hold references to earlier steps: `{{steps.0.data.id}}`."""

    index: int
    app_id: str
    fn_name: str
    arguments: JSONObject
    action_type: str = "read"

    @property
    def has_effect(self) -> bool:
        """Whether it changes something."""
        return self.action_type != "read"


@dataclass(frozen=True, slots=True)
class Plan:
    """What the classifier decided: steps in order, or a plain answer. `go_on` says that it must see
    the results before it can finish."""

    steps: tuple[Step, ...] = ()
    text: str = ""
    go_on: bool = False


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One call on its way to extension code. Everything is plain JSON: it may travel to another
    function.

    `kind` is function, check (validate only), panel, skeleton, skeletons (several in one call),
    alert, hook, webhook or schedule.
    `nth` counts the calls of this function in its turn where a model chose the arguments; None
    where a person or a program did.
    `webhooks` is how the addresses of webhooks name the user's tenant: only the caller can sign it.
    """

    kind: str
    user: JSONObject
    app_id: str
    name: str
    arguments: JSONObject = field(default_factory=dict)
    session_id: str = ""
    request_id: str = ""
    step: int = 0
    deadline_s: float = 20.0
    correlation_id: str = ""
    nth: int | None = None
    effect: str = ""
    """The claim under which an effect runs: whoever runs it keeps its outcome under that name."""
    webhooks: str = ""
    takes_text: bool = False
    """Whether who asks reads large data of an outcome as text: the release before does not."""


NOT_RUN: Final = "not_run"
"""Fate of a call that was refused before its handler was called."""

RUNNING: Final = "running"
"""Fate of a call that nobody waits for any longer: it may still do what it was asked."""


_LATE: Final = Late()


@dataclass(frozen=True)
class CallOutcome:
    """How a call ended. `data` is ActionResult.data as plain JSON, read from its text when first
    asked for where it is large; `problems` names rejected arguments.

    `arguments` are those the handler got; the turn adds them, they do not travel back with the
    answer. `repeated` marks an answer given before: to another delivery, or earlier in the turn.
    """

    app_id: str
    fn_name: str
    status: str
    data: Late = _LATE
    summary: str = ""
    error: str = ""
    error_code: str = ""
    retryable: bool = False
    ui: Any = None
    panels: tuple[str, ...] = ()
    panels_named: bool = False
    """Whether the handler named the panels itself; otherwise they are all of the app's."""
    duration_ms: int = 0
    action_type: str = "read"
    step: int = 0
    repeated: bool = False
    fate: str = ""
    """Empty for a call that ended, else NOT_RUN or RUNNING."""
    problems: tuple[dict[str, str], ...] = ()
    arguments: JSONObject = field(default_factory=dict)
    incident: str = ""
    """Under which number the extension's log tells of an error that its code raised."""

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.status == "ok"

    @property
    def unread(self) -> Unread | None:
        """The data as text, where nobody has read it yet."""
        held = self.__dict__["data"]
        return held if isinstance(held, Unread) else None

    def but(self, **changes: Any) -> CallOutcome:
        """`dataclasses.replace` that leaves unread data unread."""
        return replace(self, **{"data": self.__dict__["data"], **changes})


MAX_ERROR = 1_000
"""Characters of an error text; a longer one is cut."""


def failed(
    request: CallRequest,
    code: str,
    error: str,
    *,
    action_type: str = "read",
    retryable: bool = False,
    problems: tuple[dict[str, str], ...] = (),
) -> CallOutcome:
    """An outcome of a call that did not succeed. A missing code becomes EXT_UNSTRUCTURED_ERROR."""
    return CallOutcome(
        app_id=request.app_id,
        fn_name=request.name,
        status="error",
        error=error[:MAX_ERROR],
        error_code=code or UNSTRUCTURED,
        retryable=retryable,
        action_type=action_type,
        step=request.step,
        problems=problems,
    )


def succeeded(request: CallRequest, data: Any = None, **more: Any) -> CallOutcome:
    """An outcome of a call that did; `more` are further fields of it."""
    return CallOutcome(request.app_id, request.name, "ok", data, **more)


def sent(outcome: CallOutcome, *, as_text: bool) -> JSONObject:
    """An outcome's plain JSON form; `as_text` large data nobody has read goes as text, beside what
    models could be shown of it."""
    if not as_text or (data := outcome.unread) is None:
        return fields_of(outcome)
    text = data.text if isinstance(data.text, str) else data.text.decode()
    return {**fields_of(outcome.but(data=data.near)), "text": text}


def outcome_from(data: JSONObject) -> CallOutcome:
    """An outcome from its plain JSON form."""
    text = data.get("text")
    return made(CallOutcome, {**data, "data": Unread(text, data["data"])} if text else data)
