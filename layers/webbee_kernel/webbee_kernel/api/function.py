"""A Lambda function around a service: built once per process, its coroutines run on one loop
thread; and how its log lines look: powertools' Logger, with two rules of ours in its formatter."""

from __future__ import annotations

import copy
import gc
import logging
import os
import random
import re
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, Final, Protocol

import orjson
from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from ..aws import clients
from ..aws.clients import take_credentials
from ..background import LoopThread
from ..clock import Clock, SystemClock
from ..config import FALLBACKS, INLINE, KEYS, FunctionName, Settings
from ..observability import bind_invocation, collect_metrics, log_fields


def set_up_logging(function: str) -> None:
    """Send `webbee.*` to standard error as JSON at `POWERTOOLS_LOG_LEVEL` (INFO). On an author's
    machine in plain lines, what extensions say and raise at INFO whatever the kernel's own
    level."""
    level = os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO").upper()
    if os.environ.get("WEBBEE_DEVELOP", "").lower() in ("1", "true"):
        _send("webbee", AuthorFormatter(), level)
        _send("webbee.extension", AuthorFormatter(), "INFO")
    # tests and local servers build several functions in one process: one handler is enough
    elif not logging.getLogger("webbee").handlers:
        Logger(
            service="webbee",
            name="webbee",
            level=level,
            stream=sys.stderr,
            logger_formatter=JsonFormatter(function),
        )


def _send(name: str, formatter: logging.Formatter, level: str) -> None:
    logger = logging.getLogger(name)
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(formatter)
        logger.addHandler(handler)
        logger.setLevel(level)
        logger.propagate = False


_SAID = re.compile(r"app=(\S+)(.*?) \| (.*)", re.DOTALL)


class AuthorFormatter(logging.Formatter):
    """`17:21:04 [tasks] what it said`, the level where it is no INFO, and of an error its
    frames."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and one per frame."""
        said = _SAID.fullmatch(record.getMessage())
        app, more, text = said.groups() if said else (record.name, "", record.getMessage())
        level = "" if record.levelno == logging.INFO else f"{record.levelname} "
        fields = f" ({more.strip()})" if more.strip() else ""
        line = f"{self.formatTime(record, '%H:%M:%S')} [{app}] {level}{text}{fields}"
        frames = getattr(record, "frames", None) or _raised(record)
        return "\n".join([line, *(f"    {f}" for f in frames)])


class JsonFormatter(LambdaPowertoolsFormatter):
    """Powertools' keys, then `function` and what the invocation bound; of exceptions the class and
    places, never the text."""

    def __init__(self, function: str) -> None:
        super().__init__(
            json_serializer=lambda line: orjson.dumps(line, default=str).decode(),
            json_deserializer=str,  # a message that happens to be JSON stays a text
            serialize_stacktrace=False,
            use_rfc3339=True,
            utc=True,
            service="webbee",
            function=function,
        )

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON."""
        # other handlers get the same record, and must find it as it was
        shown = copy.copy(record)
        vars(shown).update(logger=record.name, **(log_fields()))
        if raised := _raised(record):
            vars(shown).update(exception=raised[0], at=raised[1:], exc_info=None, exc_text=None)
        return super().format(shown)


def _raised(record: logging.LogRecord) -> list[str]:
    """The class and the places of an exception."""
    kind, _, trace = record.exc_info or (None, None, None)
    if kind is None:
        return []
    places: list[str] = []
    while trace:
        code = trace.tb_frame.f_code
        places.append(f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    # the innermost frames: where it was raised
    return [kind.__name__, *places[-8:]]


SNAPSHOT: Final = "snap-start"
BEFOREHAND: Final = ("provisioned-concurrency", SNAPSHOT)
"""Kinds of init that nobody waits for, as AWS_LAMBDA_INITIALIZATION_TYPE names them."""


class Service(Protocol):
    """What a function does with an event."""

    def handle(self, event: Mapping[str, Any]) -> Coroutine[Any, Any, Any]:
        """Answer one event of any kind this function is triggered by."""
        ...


class Function:
    """`lambda_handler`: callable with `(event, context)`, from several threads at once.

    Under the Lambda runtime it is built during init, so a missing variable stops the function there
    with one line that names it; elsewhere it is built on the first call.
    """

    def __init__(
        self,
        role: FunctionName,
        build: Callable[[Settings, Clock], Service],
        clock: Clock | None = None,
        *,
        alone: bool = False,
    ) -> None:
        """`alone`: this process is the function's, as under the Lambda runtime: its environment is
        read once and fenced off from extension code."""
        self._role: FunctionName = role
        self._alone = alone
        self._build = build
        self.clock: Clock = clock or SystemClock()
        self._service: Service | None = None
        self._building = threading.Lock()
        self._built_from: frozenset[str] = frozenset()
        self._namespace = ""
        self._loop = LoopThread(role, eager=role == "chat_turn")
        set_up_logging(role)
        self._after: AfterResponse | None = None
        self._is_cold = False
        if runtime := os.environ.get("AWS_LAMBDA_RUNTIME_API"):
            self.service()
            self._is_cold = True
            # threads and client in init, where Lambda gives a whole processor
            clients.start_threads()
            # it has no table
            if role != "model_broker":
                clients.aws_client("dynamodb")
            if ready := getattr(self._service, "ready", None):
                self._loop.run(ready())
            kind = os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE")
            if kind in BEFOREHAND:
                self._warm_up()
            if kind == SNAPSHOT:
                _when_restored()
            if role in ("chat_turn", "tool_dispatch"):
                self._after = _keep_awake(runtime)
            gc.freeze()  # what init made stays: no later collection needs to walk it
            gc.enable()

    def service(self) -> Service:
        """The service, built when first needed."""
        with self._building:
            return self._built()

    def _built(self) -> Service:
        alone = self._alone or "AWS_LAMBDA_RUNTIME_API" in os.environ
        now = frozenset() if alone else clients.environment("WEBBEE_", "IMPERAL_", *clients.PLACE)
        if now != self._built_from:  # another environment is another deployment
            self._service, self._built_from = None, now
        if self._service is None:
            settings = Settings.from_env(os.environ, self._role)
            cell = self._role == "tool_dispatch" and settings.tenancy != "process"
            inline = self._role != "model_broker" and settings.dispatch == INLINE
            if alone and (cell or inline):
                # before the service is built, which imports extension code
                _fence_off()
            clients.forget_clients(is_lazy=True)
            self._service, self._settings = self._build(settings, self.clock), settings
        return self._service

    def _warm_up(self, *, beside: bool = False) -> None:
        """Make and load once what a first turn meets. Where an environment is made before anybody
        waits for it, in init; else `beside` the first event, which waits for tables and models
        meanwhile."""
        if not self._is_cold:
            return
        self._is_cold = False
        if beside:
            Thread(target=self._warm, name="warm-up", daemon=True).start()
        else:
            self._warm()

    def _warm(self) -> None:
        settings = self._settings
        calls = self._role in ("chat_turn", "skeleton_refresh")
        if calls and settings.dispatch != INLINE:
            clients.patient_client("lambda")
        if calls and settings.data_role:
            clients.aws_client("sts")
        if settings.refresh_queue_url and self._role == "chat_turn":
            clients.brisk_client("sqs")
        if warm := getattr(self._service, "warm", None):
            warm()

    def reset(self) -> None:
        """Forget the service: the next call reads the environment again."""
        self._service = None

    def __call__(self, event: Mapping[str, Any], context: Any = None) -> Any:
        try:
            service = self.service()
            self._warm_up(beside=True)
            version = str(getattr(context, "function_version", "") or "")
            namespace = self._settings.metrics_namespace
            metrics = collect_metrics(self._role, namespace, log_fields, version=version)
            with bind_invocation(event, context), metrics:
                return self._loop.run(service.handle(event))
        finally:
            # also where the handler raised: Lambda waits for the extension in any case
            if self._after:
                self._after.invocation_answered()


def _when_restored() -> None:
    """What a snapshot must not share with those that are made of it: connections and the state of
    `random`. The hooks are the managed runtime's own."""
    hooks: Any = import_module("snapshot_restore_py")
    hooks.register_after_restore(clients.close_connections)
    hooks.register_after_restore(random.seed)


def _fence_off() -> None:
    """Extension code comes next: what the kernel alone needs leaves the environment."""
    take_credentials(os.environ)
    for name in [n for n in os.environ if n in KEYS or n.startswith(FALLBACKS)]:
        del os.environ[name]


def _keep_awake(runtime: str) -> AfterResponse:
    """Functions whose work outlives their answers stay awake for it: turns that go on, background
    tasks of extensions."""
    from ..background import wait

    after = AfterResponse(runtime, wait)
    after.start()
    return after


_NAME = "webbee-background"
TRIES: Final = 5
AGAIN_S: Final = 0.1
"""How often an event is asked for, and the seconds between: the runtime's API is in this machine,
and one that stays away is an environment that Lambda will replace."""

_log = logging.getLogger("webbee.background")


class AfterResponse:
    """Keeps the environment awake until `wait_idle` returns, once per invocation.

    Lambda freezes an environment once the runtime has answered *and* every extension has asked for
    the next event. This internal extension asks only when background tasks are done, so
    `ctx.background_task` is neither frozen nor lost, and the caller gets its answer at once. The
    function's timeout still bounds it.
    """

    def __init__(self, runtime_api: str, wait_idle: Callable[[], object]) -> None:
        from urllib3 import PoolManager, Retry

        # the runtime's own, on the loopback
        self._address = f"http://{runtime_api}/2020-01-01/extension"
        self._wait_idle = wait_idle
        self._finished = threading.Semaphore(0)
        # a question that failed is put again: while none is put, Lambda waits, and every answer of
        # this environment would end with the function's time
        again = Retry(
            TRIES - 1,
            status_forcelist=frozenset(range(400, 600)),
            backoff_factor=AGAIN_S,
            backoff_max=AGAIN_S,
        )
        self._http = PoolManager(retries=again)

    def start(self) -> None:
        """Register during init and follow the invocations from a thread."""
        named = self._http.request(
            "POST",
            f"{self._address}/register",
            headers={"Lambda-Extension-Name": _NAME},
            json={"events": ["INVOKE"]},
            timeout=5.0,
            retries=False,
        )
        if named.status != 200:
            raise OSError(f"the extensions API answered {named.status}")
        identifier = "Lambda-Extension-Identifier"
        headers = {identifier: named.headers[identifier]}
        threading.Thread(target=self._follow, args=(headers,), name=_NAME, daemon=True).start()

    def invocation_answered(self) -> None:
        """The handler returned: what is still running may finish."""
        self._finished.release()

    def _follow(self, headers: Mapping[str, str]) -> None:
        from urllib3.exceptions import HTTPError

        while True:
            try:
                self._http.request("GET", f"{self._address}/event/next", headers=headers)
            except HTTPError as error:
                _log.error("error=%s | the next event could not be asked for", type(error).__name__)
                return
            # counted and not a flag: the answer may be there before its event is seen here
            self._finished.acquire()
            try:
                self._wait_idle()
            except Exception as error:
                _log.error("error=%s | waiting for background tasks failed", type(error).__name__)
