"""What a person reads of a failure on our side: no table, no service, in their language."""

from __future__ import annotations

import logging
import sys

from .. import language
from ..catalogue import AppInfo
from ..clock import new_id
from ..errors import KernelError, ModelUnavailable
from ..language.causes import sentence
from ..sdk.user import User
from ..types import JSONObject


def told(error: KernelError, user: User | None, message: str = "") -> JSONObject:
    """The error's body. What is down is for the log, and for developers and operators, who also
    read what a model's server said: others read that something is, why a model gave no answer, and
    what to do, in the language of their `message`, else their own. What was told stays so."""
    if isinstance(error, ModelUnavailable) and not error.told:
        return _of_model(error, user, message)
    if error.status == 503 and not error.told and (user is None or user.role == "user"):
        key = "unanswered" if error.code == "dispatch_unavailable" else "unavailable"
        error.told = _speaks(user, message).say(key)
    return error.body()


def _of_model(error: ModelUnavailable, user: User | None, message: str) -> JSONObject:
    if user is not None and user.role != "user":
        said = f" The server said: “{error.words}”" if error.words else ""
        error.told = f"{error}{said}"
    else:
        speaks = _speaks(user, message)
        error.told = sentence(error.cause, speaks.tag, error.wait_s) or speaks.say("unavailable")
    return error.body()


def away(app: AppInfo, user: User) -> str:
    """Why an app offers nothing, empty where it works. The text of its error may hold what it read
    when it was imported: it is for the log, and for developers and operators."""
    return app.error and (app.error if user.role != "user" else _speaks(user, "").say("app_away"))


def incident(log: logging.Logger, what: str, user: User | None, message: str = "") -> JSONObject:
    """What a defect looks like from outside: a number that stands in the log with its frames."""
    number = new_id()
    log.error("incident=%s | %s failed", number, what, exc_info=sys.exception())
    text = _speaks(user, message).say("incident", n=number)
    return {"error": {"code": "internal", "message": text}}


def _speaks(user: User | None, message: str) -> language.Language:
    own = user.language if user else "en"
    return language.of(language.detect(message, own) if message else own)
