"""Logs, metrics and token counts of an invocation, and what one who watches a turn is told."""

from __future__ import annotations

import functools
import hashlib
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, ParamSpec, TypeVar

import orjson

V = TypeVar("V")


@contextmanager
def bound(variable: ContextVar[V], value: V) -> Iterator[None]:
    """The variable has this value in here, and in the tasks that begin here."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


_invocation: ContextVar[dict[str, str] | None] = ContextVar("webbee_invocation", default=None)


def log_fields() -> Mapping[str, str]:
    """What every line logged here carries."""
    return _invocation.get() or {}


def correlation_id() -> str:
    """The id that goes with a request from the API to the last handler; empty outside an
    invocation."""
    return log_fields().get("correlation_id", "")


def bind(**more: str) -> None:
    """Add fields to every line logged from here on in this task, such as `user` (hashed),
    `session`, `turn`; empty ones change nothing."""
    # a new dict: the old one is shared with the tasks beside this one
    _invocation.set({**log_fields(), **{k: v for k, v in more.items() if v}})


def hashed(tenant_id: str, imperal_id: str) -> str:
    """A user as logs name them: the same twelve characters for the same user, and no way back
    without the user's id."""
    return hashlib.sha256(f"{tenant_id}#{imperal_id}".encode()).hexdigest()[:12]


@contextmanager
def bind_invocation(event: Mapping[str, Any], context: Any) -> Iterator[None]:
    """Every line logged inside carries the API's request id (or the caller's correlation id) and
    Lambda's.

    A call from another function also says whose it is: session, step and the user's hash.
    """
    http = event.get("requestContext") or {}
    log_fields = {
        "correlation_id": str(http.get("requestId") or event.get("correlation_id") or ""),
        "aws_request_id": str(getattr(context, "aws_request_id", "") or ""),
        "user": _whose(event.get("user")),
        "session": str(event.get("session_id") or ""),
        "turn": str(event.get("request_id") or ""),
        # without `or`: 0 is the first step
        "step": str(event.get("step", "")),
    }
    with bound(_invocation, {k: v for k, v in log_fields.items() if v}):
        yield


def _whose(user: Any) -> str:
    """The hash of the user a call is for; empty where it names none."""
    if not isinstance(user, dict) or "imperal_id" not in user:
        return ""
    return hashed(str(user.get("tenant_id", "")), str(user["imperal_id"]))


P = ParamSpec("P")
R = TypeVar("R")
MAX_VALUES = 99
"""Values of one metric in a line: at the embedded format's limit of 100, powertools would write
before the invocation has ended."""


MODEL_UNITS: Mapping[str, str] = {
    "ModelLatency": "Milliseconds",
    "InputTokens": "Count",
    "CachedTokens": "Count",
    "OutputTokens": "Count",
    "ModelErrors": "Count",
}
"""What is measured of each request to a model, by role and model."""


class Metric(NamedTuple):
    """A metric: its CloudWatch unit, who emits it and what it says. Counts are summed per
    invocation, others keep every value."""

    unit: str
    functions: tuple[str, ...]
    meaning: str


CHAT, TOOLS, REFRESH, BROKER = ALL = (
    *("chat_turn", "tool_dispatch"),
    *("skeleton_refresh", "model_broker"),
)


def _counted(*functions: str, what: str) -> Metric:
    return Metric("Count", functions, what)


def _took(what: str) -> Metric:
    return Metric("Milliseconds", (CHAT,), what)


EMITTED: Mapping[str, Metric] = {
    "Requests": _counted(*ALL, what="what was answered, by version; reads only where they failed"),
    "ServerErrors": _counted(*ALL, what="those that failed on our side, by version too"),
    "Turns": _counted(CHAT, what="turns recorded"),
    "TurnErrors": _counted(CHAT, what="turns in which nothing succeeded"),
    "TurnMs": _took("a turn, from the first read to the recorded reply"),
    "ReadMs": _took("session, skeleton and catalogue, side by side"),
    "ClassifyMs": _took("one answer of the classifier's model"),
    "CallsMs": _took("the calls of one plan"),
    "NarrateMs": _took("the reply, corrections included"),
    "RecordMs": _took("the turn's one write, lost races included"),
    "ModelCalls": _counted(CHAT, what="requests of turns to the models: two for a plain one"),
    "InputTokens": _counted(CHAT, what="tokens the models read"),
    "CachedTokens": _counted(CHAT, what="of those, read from the service's cache"),
    "OutputTokens": _counted(CHAT, what="tokens the models wrote"),
    "PromptCharacters": Metric("None", (CHAT,), "the classifier's prompt without the catalogue"),
    "MaskedValues": Metric("None", (CHAT,), "distinct values behind placeholders in a turn"),
    "UngroundedReplies": _counted(CHAT, what="replies that claimed what the data does not hold"),
    "LimitsReached": _counted(CHAT, what="requests refused because a limit was used up"),
    "DynamoDBCalls": _counted(CHAT, TOOLS, REFRESH, what="requests to the tables"),
    "Calls": _counted(TOOLS, what="calls of extensions' code, by version too"),
    "CallFailures": _counted(TOOLS, what="those that raised or ran out of time, by version too"),
    "Ticks": _counted(REFRESH, what="ticks of the schedule that began"),
    "SessionsTaken": _counted(CHAT, REFRESH, what="times STS gave a tenant's credentials"),
    "UsersQueued": _counted(REFRESH, what="users a tick found due and queued"),
    "OldestDueSeconds": Metric("Seconds", (REFRESH,), "how late the user is who waits longest"),
    "Refreshes": _counted(REFRESH, what="refreshes that saved a snapshot, by version too"),
    "RefreshFailures": _counted(REFRESH, what="refreshes whose handler failed, by version too"),
    "RefreshLagSeconds": Metric("Seconds", (REFRESH,), "from a section's time to its refresh"),
}

FAILURES: Mapping[str, str] = {
    "ServerErrors": "Requests",
    "CallFailures": "Calls",
    "RefreshFailures": "Refreshes",
}
"""Failures, and the counts that they are a share of. A line that holds one holds the other, so that
the share of a quiet minute is 0 and not unknown; both are written by function version too, so that
an alarm sees a new release apart from the one beside it."""

BY_VERSION = frozenset({*FAILURES, *FAILURES.values()})


@dataclass(slots=True)
class _Figures:
    """What one invocation counted since it last wrote: values by metric, those of its own under
    `()`, those of a model under its role and name; and where and how it writes."""

    function: str
    version: str
    namespace: str
    fields: Callable[[], Mapping[str, str]]
    write: Callable[[str], object]
    values: dict[tuple[str, ...], dict[str, list[float]]] = field(default_factory=dict)

    def add(self, whose: tuple[str, ...], name: str, value: float) -> None:
        self.values.setdefault(whose, {}).setdefault(name, []).append(value)


_figures: ContextVar[_Figures | None] = ContextVar("webbee_metrics", default=None)


def measure(name: str, value: float = 1) -> None:
    """Add a value of a metric of `EMITTED` to this invocation's figures."""
    assert name in EMITTED, name
    if (figures := _figures.get()) is not None:
        figures.add((), name, value)


def measure_all(values: Mapping[str, float], whose: tuple[str, ...] = ()) -> None:
    """Add a value of each of these metrics."""
    if (figures := _figures.get()) is not None:
        for name, value in values.items():
            figures.add(whose, name, value)


def measure_model(role: str, model: str, counts: Mapping[str, float]) -> None:
    """Add what one request to a role's model cost, by the names of `MODEL_UNITS`."""
    measure_all(counts, (role, model))


def timed(
    name: str,
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Record how long a coroutine function takes, in milliseconds, whether it returns or raises."""

    def decorate(
        function: Callable[P, Coroutine[Any, Any, R]],
    ) -> Callable[P, Coroutine[Any, Any, R]]:
        @functools.wraps(function)
        async def measured(*args: P.args, **kwargs: P.kwargs) -> R:
            started = time.perf_counter()
            try:
                return await function(*args, **kwargs)
            finally:
                measure(name, round((time.perf_counter() - started) * 1000, 1))

        return measured

    return decorate


def turn_ended(status: str, masked: int) -> None:
    # False counts as 0: a share needs the zeros as well
    measure_all({"Turns": 1, "TurnErrors": status == "error", "MaskedValues": masked})


def count_tokens(read: int, cached: int, written: int) -> None:
    """A model answered."""
    if (usage := _usage.get()) is not None:
        usage.read += read
        usage.cached += cached
        usage.written += written
    measure_all({"InputTokens": read, "CachedTokens": cached, "OutputTokens": written})


def answered(*, failed: bool) -> None:
    """A request, call or message was dealt with; `failed` where that was our side's failure."""
    measure("Requests")
    measure("ServerErrors", failed)


def flush() -> None:
    """Write what was counted so far: for work that may be ended before its invocation is."""
    if (figures := _figures.get()) is not None:
        for text in _lines(figures):
            figures.write(text)
        # or the end of the invocation would write them a second time
        figures.values.clear()


@contextmanager
def metered(
    function: str,
    namespace: str,
    fields: Callable[[], Mapping[str, str]],
    *,
    version: str = "",
    write: Callable[[str], object] | None = None,
) -> Iterator[None]:
    """Collect this invocation's figures and write them to standard output at its end: a line of its
    own, one per model; nothing without a namespace.

    `fields` are what its log lines carry, asked at the end: the line can be found by its
    correlation id. `version` is the function's, as Lambda numbers what was published.
    """
    if not namespace:
        yield
        return
    with bound(_figures, _Figures(function, version, namespace, fields, write or _print)):
        try:
            yield
        finally:
            flush()


def _lines(figures: _Figures) -> Iterator[str]:
    named = {"function": figures.function}
    # sorted: the invocation's own are the first line
    for whose, values in sorted(figures.values.items()):
        if whose:
            of_model = dict(zip(("role", "model"), whose, strict=True))
            yield _line(figures, of_model, values, named)
            continue
        _beside_each_other(values)
        yield _line(figures, {"service": "webbee", **named}, values)
        counted = {name: found for name, found in values.items() if name in BY_VERSION}
        # a line of its own: the dimensions of a line hold for all of its metrics
        if figures.version and counted:
            yield _line(figures, {**named, "version": figures.version}, counted)


def _beside_each_other(values: dict[str, list[float]]) -> None:
    """Where failures or what they are a part of is counted, the other stands there with 0."""
    for failures, all_of_them in FAILURES.items():
        if failures in values or all_of_them in values:
            values.setdefault(failures, [0])
            values.setdefault(all_of_them, [0])


def _line(
    figures: _Figures,
    dimensions: Mapping[str, str],
    values: Mapping[str, list[float]],
    also: Mapping[str, str] | None = None,
) -> str:
    """One JSON line from which CloudWatch makes metrics by `dimensions`; counts are summed, others
    keep every value. It can be found by the fields that the invocation's log lines carry."""
    from aws_lambda_powertools.metrics import EphemeralMetrics  # only where metrics are written

    # An empty name: given none, powertools adds POWERTOOLS_SERVICE_NAME to the dimensions.
    metrics = EphemeralMetrics(namespace=figures.namespace, service="")
    for name, value in dimensions.items():
        metrics.add_dimension(name, value)
    for name, told in {**figures.fields(), **(also or {})}.items():
        metrics.add_metadata(name, told)
    for name, found in values.items():
        unit = MODEL_UNITS.get(name) or EMITTED[name].unit
        for number in [sum(found)] if unit == "Count" else found[:MAX_VALUES]:
            metrics.add_metric(name, unit, number)
    return orjson.dumps(metrics.serialize_metric_set()).decode()


def _print(text: str) -> None:
    # one write: print() sends the line break apart, and threads would mix
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@dataclass(slots=True)
class Usage:
    """Tokens that models read (`cached` of them from the service's cache) and wrote."""

    read: int = 0
    cached: int = 0
    written: int = 0


_usage: ContextVar[Usage | None] = ContextVar("webbee_usage", default=None)


@contextmanager
def used() -> Iterator[Usage]:
    """What the models of this block read and wrote, also in tasks it starts."""
    usage = Usage()
    with bound(_usage, usage):
        yield usage


Tell = Callable[[dict[str, Any]], None]

_watch: ContextVar[tuple[float, Tell] | None] = ContextVar("webbee_watch", default=None)


def watched(tell: Tell) -> AbstractContextManager[None]:
    """Stretches of work that end inside are told: `{kind, name, at_ms, duration_ms, …}`, with the
    milliseconds since the beginning."""
    return bound(_watch, (time.perf_counter(), tell))


@contextmanager
def stretch(kind: str, name: str) -> Iterator[dict[str, Any] | None]:
    """A piece of work, told at its end with what was put into the dict that this yields; None where
    nobody watches."""
    watch = _watch.get()
    if watch is None:
        yield None
        return
    begun, tell = watch
    more: dict[str, Any] = {}
    started = time.perf_counter()
    try:
        yield more
    finally:
        ended = time.perf_counter()
        at, took = round((started - begun) * 1000, 1), round((ended - started) * 1000, 1)
        tell({"kind": kind, "name": name, "at_ms": at, "duration_ms": took, **more})
