"""How a log line looks: powertools' Logger, with two rules of ours in its formatter. Imported by
functions only."""

from __future__ import annotations

import copy
import logging
import os
import re
import sys
from pathlib import Path

import orjson
from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from ..observability import log_fields


def set_up_logging(function: str) -> None:
    """Send `webbee.*` to standard error as JSON at `POWERTOOLS_LOG_LEVEL` (INFO). On an author's
    machine in plain lines, what extensions say and raise at INFO whatever the kernel's own
    level."""
    level = os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO").upper()
    if os.environ.get("WEBBEE_DEVELOP", "").lower() in ("1", "true"):
        _send("webbee", AuthorFormatter(), level)
        _send("webbee.extension", AuthorFormatter(), "INFO")
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
        line = f"{self.formatTime(record, '%H:%M:%S')} [{app}] {level}{text}{_fields(more)}"
        frames = getattr(record, "frames", None) or _raised(record)
        return "\n".join([line, *(f"    {f}" for f in frames)])


def _fields(pairs: str) -> str:
    return f" ({pairs.strip()})" if pairs.strip() else ""


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
        shown = copy.copy(record)
        vars(shown).update(logger=record.name, **(log_fields()))
        if raised := _raised(record):
            vars(shown).update(exception=raised[0], at=raised[1:], exc_info=None, exc_text=None)
        return super().format(shown)


def _raised(record: logging.LogRecord) -> list[str]:
    """The class and the places of an exception."""
    kind = record.exc_info[0] if record.exc_info else None
    return [kind.__name__, *_places(record)] if kind else []


def _places(record: logging.LogRecord) -> list[str]:
    trace = record.exc_info[2] if record.exc_info else None
    places = []
    while trace:
        code = trace.tb_frame.f_code
        places.append(f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return places[-8:]
