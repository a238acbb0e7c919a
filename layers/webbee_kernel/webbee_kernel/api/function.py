"""A Lambda function around a service: built once per process, its coroutines run on one loop
thread. And its log: powertools' Logger with a formatter of ours."""

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
import uuid_utils
from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from ..aws import clients
from ..aws.clients import take_credentials
from ..background import LoopThread, wait
from ..clock import Clock, SystemClock
from ..config import FALLBACKS, INLINE, KEYS, FunctionName, Settings
from ..observability import bind_invocation, collect_metrics, log_fields


def set_up_logging(function: str) -> None:
    """Send `webbee.*` to standard error as JSON at `POWERTOOLS_LOG_LEVEL` (INFO); on an author's
    machine in plain lines, those of extensions always at INFO."""
    level = os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO").upper()
    if os.environ.get("WEBBEE_DEVELOP", "").lower() in ("1", "true"):
        for name, own in (("webbee", level), ("webbee.extension", "INFO")):
            logger = logging.getLogger(name)
            if not logger.handlers:
                handler = logging.StreamHandler()
                handler.setFormatter(AuthorFormatter())
                logger.addHandler(handler)
                logger.setLevel(own)
                logger.propagate = False
    # tests and local servers build several functions in one process: one handler is enough
    elif not logging.getLogger("webbee").handlers:
        Logger(
            service="webbee",
            name="webbee",
            level=level,
            stream=sys.stderr,
            logger_formatter=JsonFormatter(function),
        )


_SAID = re.compile(r"app=(\S+)(.*?) \| (.*)", re.DOTALL)


class AuthorFormatter(logging.Formatter):
    """`17:21:04 [tasks] text`, with the level unless it is INFO, and the frames of an error."""

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
    """Powertools' keys, `function` and the fields of the invocation; of an exception its class and
    frames, never its text."""

    def __init__(self, function: str) -> None:
        super().__init__(
            json_serializer=lambda line: orjson.dumps(line, default=str).decode(),
            json_deserializer=str,  # a message that is JSON by chance stays a text
            serialize_stacktrace=False,
            use_rfc3339=True,
            utc=True,
            service="webbee",
            function=function,
        )

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON."""
        # a copy: other handlers get the same record
        shown = copy.copy(record)
        vars(shown).update(logger=record.name, **(log_fields()))
        if raised := _raised(record):
            vars(shown).update(exception=raised[0], at=raised[1:], exc_info=None, exc_text=None)
        return super().format(shown)


def _raised(record: logging.LogRecord) -> list[str]:
    """The class of an exception and its innermost frames."""
    kind, _, trace = record.exc_info or (None, None, None)
    if kind is None:
        return []
    places: list[str] = []
    while trace:
        code = trace.tb_frame.f_code
        places.append(f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return [kind.__name__, *places[-8:]]


SNAPSHOT: Final = "snap-start"
BEFOREHAND: Final = ("provisioned-concurrency", SNAPSHOT)
"""Values of AWS_LAMBDA_INITIALIZATION_TYPE for an init that no caller waits for."""


class Service(Protocol):
    """Handles a function's events."""

    def handle(self, event: Mapping[str, Any]) -> Coroutine[Any, Any, Any]:
        """Handle an event of any kind that triggers this function."""
        ...


class Function:
    """`lambda_handler`: callable with `(event, context)`, from several threads at once.

    Under the Lambda runtime the service is built during init, so that a missing variable fails
    there; elsewhere on the first call.
    """

    def __init__(
        self,
        role: FunctionName,
        build: Callable[[Settings, Clock], Service],
        *,
        alone: bool = False,
    ) -> None:
        """`alone`: the process runs only this function, as under the Lambda runtime: its
        environment is read once, and what extension code must not see is removed from it."""
        self._role: FunctionName = role
        self._alone = alone
        self._build = build
        self.clock: Clock = SystemClock()
        self._service: Service | None = None
        self._building = threading.Lock()
        self._built_from: frozenset[str] = frozenset()
        self._loop = LoopThread(role, eager=role == "chat_turn")
        set_up_logging(role)
        self._after: AfterResponse | None = None
        self._is_cold = False
        if runtime := os.environ.get("AWS_LAMBDA_RUNTIME_API"):
            self._initialize()
            if role in ("chat_turn", "tool_dispatch"):  # turns and background tasks go on
                self._after = AfterResponse(runtime, wait)
                self._after.start()
            gc.freeze()  # objects of init stay: the collector need not visit them
            gc.enable()

    def _initialize(self) -> None:
        """Do during init, with a whole processor, what the first event would do."""
        service = self.service()
        clients.start_threads()
        if self._role != "model_broker":  # it has no table
            clients.aws_client("dynamodb")
        if ready := getattr(service, "ready", None):
            self._loop.run(ready())
        kind = os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE")
        if kind in BEFOREHAND:
            self._warm()
        else:
            self._is_cold = True
        if kind == SNAPSHOT:  # connections must not be shared, nor what random ids are made of
            hooks: Any = import_module("snapshot_restore_py")
            for hook in (clients.close_connections, random.seed, uuid_utils.reseed_rng):
                hooks.register_after_restore(hook)

    def service(self) -> Service:
        """The service, built when first needed."""
        alone = self._alone or "AWS_LAMBDA_RUNTIME_API" in os.environ
        now = frozenset() if alone else clients.environment("WEBBEE_", "IMPERAL_", *clients.PLACE)
        with self._building:
            if self._service is None or now != self._built_from:
                settings = Settings.from_env(os.environ, self._role)
                runs_extensions = self._role == "tool_dispatch" and settings.tenancy != "process"
                is_inline = self._role != "model_broker" and settings.dispatch == INLINE
                if alone and (runs_extensions or is_inline):
                    # before extension code is imported
                    _remove_secrets()
                clients.forget_clients(is_lazy=True)
                self._service, self._built_from = None, now
                self._service, self._settings = self._build(settings, self.clock), settings
            return self._service

    def _warm(self) -> None:
        """Make and load what a first turn uses."""
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
            if self._is_cold:  # beside the first event, which waits for tables and models
                self._is_cold = False
                Thread(target=self._warm, name="warm-up", daemon=True).start()
            version = str(getattr(context, "function_version", "") or "")
            metrics = collect_metrics(self._role, self._settings.metrics_namespace, version=version)
            with bind_invocation(event, context), metrics:
                return self._loop.run(service.handle(event))
        finally:
            # also where the handler raised: Lambda waits for the extension then, too
            if self._after:
                self._after.invocation_answered()


def _remove_secrets() -> None:
    """Remove what only the kernel needs from the environment."""
    take_credentials(os.environ)
    for name in [n for n in os.environ if n in KEYS or n.startswith(FALLBACKS)]:
        del os.environ[name]


_NAME = "webbee-background"
TRIES: Final = 5
AGAIN_S: Final = 0.1
"""Attempts to get the next event from the runtime, and the seconds between."""

_log = logging.getLogger("webbee.background")


class AfterResponse:
    """Keeps the environment running after an answer until `wait_idle` returns.

    Lambda freezes an environment once the runtime has answered *and* every extension has asked for
    the next event. This internal extension asks only when background tasks are done, so they are
    neither frozen nor lost, and the caller has its answer at once. The function's timeout holds.
    """

    def __init__(self, runtime_api: str, wait_idle: Callable[[], object]) -> None:
        from urllib3 import PoolManager, Retry

        self._address = f"http://{runtime_api}/2020-01-01/extension"
        self._wait_idle = wait_idle
        self._finished = threading.Semaphore(0)
        # without a pending request Lambda would wait for the function's timeout
        again = Retry(
            TRIES - 1,
            status_forcelist=frozenset(range(400, 600)),
            backoff_factor=AGAIN_S,
            backoff_max=AGAIN_S,
        )
        self._http = PoolManager(retries=again)

    def start(self) -> None:
        """Register, during init, and follow the invocations in a thread."""
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
        """The handler returned."""
        self._finished.release()

    def _follow(self, headers: Mapping[str, str]) -> None:
        from urllib3.exceptions import HTTPError

        while True:
            try:
                self._http.request("GET", f"{self._address}/event/next", headers=headers)
            except HTTPError as error:
                _log.error("error=%s | the next event could not be asked for", type(error).__name__)
                return
            # a counter: the answer may come before its event is seen here
            self._finished.acquire()
            try:
                self._wait_idle()
            except Exception as error:
                _log.error("error=%s | waiting for background tasks failed", type(error).__name__)
