"""How a log line looks: powertools' formatter, with two rules of ours. Imported by functions only:
it brings botocore with it."""

from __future__ import annotations

import copy
import logging
import os
import re
from pathlib import Path

import orjson
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from .logs import fields


def set_up_logging(function: str) -> None:
    """Send `webbee.*` to standard error as JSON at `POWERTOOLS_LOG_LEVEL` (INFO)."""
    logger = logging.getLogger("webbee")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(JsonFormatter(function))
        logger.addHandler(handler)
        logger.setLevel(os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO").upper())
        logger.propagate = False
    if os.environ.get("WEBBEE_DEVELOP", "").lower() in ("1", "true"):
        _speak_to_the_author()


def _speak_to_the_author() -> None:
    """What extensions say and raise in plain lines, at INFO whatever the kernel's own level."""
    logger = logging.getLogger("webbee.extension")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(AuthorFormatter())
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
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
        return "\n".join([line, *(f"    {f}" for f in getattr(record, "frames", ()))])


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
        vars(shown).update(logger=record.name, **(fields()))
        if record.exc_info and record.exc_info[0]:
            vars(shown).update(
                exception=record.exc_info[0].__name__,
                at=_places(record),
                exc_info=None,
                exc_text=None,
            )
        return super().format(shown)


def _places(record: logging.LogRecord) -> list[str]:
    trace = record.exc_info[2] if record.exc_info else None
    places = []
    while trace:
        code = trace.tb_frame.f_code
        places.append(f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return places[-8:]
