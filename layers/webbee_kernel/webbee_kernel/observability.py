"""Logs, metrics, token counts and trace spans of an invocation."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import orjson

V = TypeVar("V")


@contextmanager
def context_value(variable: ContextVar[V], value: V) -> Iterator[None]:
    """Set a context variable for this block and the tasks started in it."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


_log_fields: ContextVar[dict[str, str] | None] = ContextVar("webbee_invocation", default=None)


def log_fields() -> Mapping[str, str]:
    """Fields of every log line of this invocation."""
    return _log_fields.get() or {}


def correlation_id() -> str:
    """The id that goes with a request from the API to the last handler; empty outside an
    invocation."""
    return log_fields().get("correlation_id", "")


def bind(**more: str) -> None:
    """Add fields to every line logged from here on in this task, such as `user` (hashed),
    `session`, `turn`; empty ones change nothing."""
    # a new dict: the old one is shared with the tasks beside this one
    _log_fields.set({**log_fields(), **{k: v for k, v in more.items() if v}})


def user_hash(tenant_id: str, imperal_id: str) -> str:
    """A user's pseudonym in logs: 12 hex digits of a SHA-256."""
    return hashlib.sha256(f"{tenant_id}#{imperal_id}".encode()).hexdigest()[:12]


@contextmanager
def bind_invocation(event: Mapping[str, Any], context: Any) -> Iterator[None]:
    """Log lines inside carry the API's request id (or the caller's correlation id) and Lambda's; in
    a call from another function also session, step and the user's hash."""
    http = event.get("requestContext") or {}
    log_fields = {
        "correlation_id": str(http.get("requestId") or event.get("correlation_id") or ""),
        "aws_request_id": str(getattr(context, "aws_request_id", "") or ""),
        "user": _hash_of(event.get("user")),
        "session": str(event.get("session_id") or ""),
        "turn": str(event.get("request_id") or ""),
        # without `or`: 0 is the first step
        "step": str(event.get("step", "")),
    }
    with context_value(_log_fields, {k: v for k, v in log_fields.items() if v}):
        yield


def _hash_of(user: Any) -> str:
    """The hash of an event's user; empty without one."""
    if not isinstance(user, dict) or "imperal_id" not in user:
        return ""
    return user_hash(str(user.get("tenant_id", "")), str(user["imperal_id"]))


MAX_VALUES = 99
"""Values of one metric in a line: at the embedded format's limit of 100, powertools would write
before the invocation has ended."""


MODEL_UNITS: Mapping[str, str] = {
    **dict.fromkeys(("InputTokens", "CachedTokens", "OutputTokens", "ModelErrors"), "Count"),
    "ModelLatency": "Milliseconds",
}
"""Metrics of each model request, by role and model."""


class Metric(NamedTuple):
    """A metric: its CloudWatch unit and the functions that emit it. Counts are summed per
    invocation, others keep every value."""

    unit: str
    functions: tuple[str, ...]


CHAT, TOOLS, REFRESH, BROKER = "chat_turn", "tool_dispatch", "skeleton_refresh", "model_broker"


def _metrics(names: str, unit: str, *functions: str) -> Mapping[str, Metric]:
    return dict.fromkeys(names.split(), Metric(unit, functions))


METRICS: Mapping[str, Metric] = {
    **_metrics("Requests ServerErrors", "Count", CHAT, TOOLS, REFRESH, BROKER),
    **_metrics("DynamoDBCalls", "Count", CHAT, TOOLS, REFRESH),
    **_metrics("SessionsTaken", "Count", CHAT, REFRESH),
    **_metrics("Turns TurnErrors ModelCalls UngroundedReplies LimitsReached", "Count", CHAT),
    **_metrics("InputTokens CachedTokens OutputTokens", "Count", CHAT),
    **_metrics("TurnMs ReadMs ClassifyMs CallsMs NarrateMs RecordMs", "Milliseconds", CHAT),
    **_metrics("PromptCharacters MaskedValues", "None", CHAT),
    **_metrics("Calls CallFailures", "Count", TOOLS),
    **_metrics("Ticks UsersQueued Refreshes RefreshFailures", "Count", REFRESH),
    **_metrics("OldestDueSeconds RefreshLagSeconds", "Seconds", REFRESH),
}
"""By name; what each of them means stands in docs/operations.md."""

FAILURES: Mapping[str, str] = {
    "ServerErrors": "Requests",
    "CallFailures": "Calls",
    "RefreshFailures": "Refreshes",
}
"""Failure metrics and the totals they are a share of. Both are always written together, so that a
share is 0 and not missing, and also by function version, so that an alarm sees a new release."""

BY_VERSION = frozenset({*FAILURES, *FAILURES.values()})


@dataclass(slots=True)
class _Figures:
    """Metric values of one invocation since the last flush: its own under `()`, a model's under
    `(role, model)`."""

    function: str
    version: str
    namespace: str
    values: dict[tuple[str, ...], dict[str, list[float]]] = field(default_factory=dict)


_figures: ContextVar[_Figures | None] = ContextVar("webbee_metrics", default=None)


def measure(name: str, value: float = 1) -> None:
    """Add a value of a metric of `METRICS` to this invocation's figures."""
    assert name in METRICS, name
    measure_all({name: value})


def measure_all(values: Mapping[str, float], owner: tuple[str, ...] = ()) -> None:
    """Add a value of each of these metrics: of this invocation, or of what `(role, model)` cost, by
    the names of `MODEL_UNITS`."""
    if (figures := _figures.get()) is not None:
        for name, value in values.items():
            figures.values.setdefault(owner, {}).setdefault(name, []).append(value)


@asynccontextmanager
async def record_duration(name: str) -> AsyncIterator[None]:
    """A decorator: record how long a coroutine function takes, in milliseconds, whether it returns
    or raises."""
    started = time.perf_counter()
    try:
        yield
    finally:
        measure(name, round((time.perf_counter() - started) * 1000, 1))


def count_tokens(read: int, cached: int, written: int) -> None:
    """A model answered."""
    if (usage := _usage.get()) is not None:
        usage.read += read
        usage.cached += cached
        usage.written += written
    measure_all({"InputTokens": read, "CachedTokens": cached, "OutputTokens": written})


def count_request(*, failed: bool) -> None:
    """Count a finished request, call or message; `failed` for a server-side failure."""
    measure("Requests")
    measure("ServerErrors", failed)


def flush() -> None:
    """Write the metrics so far, for work that may be killed before its invocation ends."""
    if (figures := _figures.get()) is not None:
        for text in _lines(figures):
            # one write: print() sends the line break apart, and threads would mix
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        # or the end of the invocation would write them a second time
        figures.values.clear()


@contextmanager
def collect_metrics(function: str, namespace: str, *, version: str = "") -> Iterator[None]:
    """Collect this invocation's metrics and write them to standard output at its end, one line for
    itself and one per model; nothing without a namespace. `version` is the Lambda function's."""
    figures = _Figures(function, version, namespace) if namespace else None
    with context_value(_figures, figures):
        try:
            yield
        finally:
            flush()


def _lines(figures: _Figures) -> Iterator[str]:
    function = {"function": figures.function}
    # sorted: the invocation's own are the first line
    for owner, values in sorted(figures.values.items()):
        if owner:
            yield _line(figures, dict(zip(("role", "model"), owner, strict=True)), values)
            continue
        for failures, total in FAILURES.items():
            if failures in values or total in values:  # a share needs both
                values.setdefault(failures, [0])
                values.setdefault(total, [0])
        yield _line(figures, {"service": "webbee", **function}, values)
        by_version = {name: found for name, found in values.items() if name in BY_VERSION}
        # a line of its own: the dimensions of a line hold for all of its metrics
        if figures.version and by_version:
            yield _line(figures, {**function, "version": figures.version}, by_version)


def _line(
    figures: _Figures, dimensions: Mapping[str, str], values: Mapping[str, list[float]]
) -> str:
    """One line in CloudWatch's embedded metric format by `dimensions`, with the function's name and
    the invocation's log fields; counts are summed, others keep every value."""
    from aws_lambda_powertools.metrics import EphemeralMetrics  # only where metrics are written

    # An empty name: given none, powertools adds POWERTOOLS_SERVICE_NAME to the dimensions.
    metrics = EphemeralMetrics(namespace=figures.namespace, service="")
    for name, value in dimensions.items():
        metrics.add_dimension(name, value)
    for name, value in {**log_fields(), "function": figures.function}.items():
        metrics.add_metadata(name, value)
    for name, numbers in values.items():
        unit = MODEL_UNITS.get(name) or METRICS[name].unit
        for number in [sum(numbers)] if unit == "Count" else numbers[:MAX_VALUES]:
            metrics.add_metric(name, unit, number)
    return orjson.dumps(metrics.serialize_metric_set()).decode()


@dataclass(slots=True)
class Usage:
    """Tokens that models read (`cached` of them from the service's cache) and wrote."""

    read: int = 0
    cached: int = 0
    written: int = 0


_usage: ContextVar[Usage | None] = ContextVar("webbee_usage", default=None)


@contextmanager
def track_usage() -> Iterator[Usage]:
    """Token usage of this block, tasks that it starts included."""
    usage = Usage()
    with context_value(_usage, usage):
        yield usage


SpanSink = Callable[[dict[str, Any]], None]

_span_sink: ContextVar[tuple[float, SpanSink] | None] = ContextVar("webbee_watch", default=None)


def watch_spans(sink: SpanSink) -> AbstractContextManager[None]:
    """Send each span that ends in this block to `sink`: `{kind, name, at_ms, duration_ms, …}`,
    `at_ms` counted from here."""
    return context_value(_span_sink, (time.perf_counter(), sink))


@contextmanager
def span(kind: str, name: str) -> Iterator[dict[str, Any] | None]:
    """A timed piece of work; yields a dict for extra fields, None where spans are not watched."""
    watch = _span_sink.get()
    if watch is None:
        yield None
        return
    origin, sink = watch
    more: dict[str, Any] = {}
    started = time.perf_counter()
    try:
        yield more
    finally:
        ended = time.perf_counter()
        at, took = round((started - origin) * 1000, 1), round((ended - started) * 1000, 1)
        sink({"kind": kind, "name": name, "at_ms": at, "duration_ms": took, **more})
