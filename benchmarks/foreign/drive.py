"""Talking to the kernel as a user would: a message, answers to its questions, the outcome."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic_core import to_jsonable_python

from webbee_kernel.llm.protocol import ModelResponse
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.pii.masker import Placeholders
from webbee_kernel.testing import TestKernel

UNLIMITED = {"WEBBEE_USER_TOKENS_PER_DAY": "0"}
"""One user asks for everything."""

MAX_QUESTIONS = 12
"""Questions answered after one message."""

_session = itertools.count(1)

raised: Counter[str] = Counter()
"""What turns raised, over the whole run: each is a defect of the kernel's, or of these adapters."""

_given: dict[str, str] = {}
_keep = Placeholders._add


def _noted(self: Placeholders, placeholder: str, kind: str, value: str, identity: str = "") -> None:
    _given[placeholder] = value
    _keep(self, placeholder, kind, value, identity)


Placeholders._add = _noted  # type: ignore[method-assign]


def placeholders_in(shown: str) -> dict[str, str]:
    """What the placeholders in a prompt of the running session stand for: `{"<EMAIL_1>": "a@b.c"}`.
    A careful reader tells which is which from where it stands; here the kernel says it."""
    return {name: value for name, value in _given.items() if name in shown}


def json_of(value: Any) -> Any:
    """What a foreign tool takes or gives, as JSON."""
    return to_jsonable_python(value, fallback=str)


def data_of(result: Any) -> dict[str, Any]:
    """A foreign tool's result as `ActionResult.data`, which is an object."""
    value = json_of(result)
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {"items": value}
    return {} if value is None else {"result": value}


def model_of(world: Any) -> FunctionModel:
    """A model that is whatever planner the world's present task has."""
    return FunctionModel(lambda request: cast("ModelResponse", world.planner(request)))


Verdict = Callable[[Mapping[str, Any]], str]
"""Whose a call in a question is: `user`, `attacker`, `nobody`."""


@dataclass(frozen=True)
class Question:
    """A confirmation that was asked: its text, whose calls it held and what was answered."""

    text: str
    whose: tuple[str, ...]
    accepted: bool

    @property
    def bundled(self) -> bool:
        """Whether one yes would have run the user's effect and an attacker's."""
        return {"attacker", "user"} <= set(self.whose)


@dataclass
class Talk:
    """One session with one kernel; `model` counts its calls where it is scripted."""

    kernel: TestKernel
    whose: Verdict
    model: FunctionModel | None = None
    session: str = field(default_factory=lambda: f"s{next(_session)}")
    questions: list[Question] = field(default_factory=list)
    reply: str = ""
    codes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        _given.clear()

    def say(self, message: str) -> int:
        """Send a message and answer what is asked about it, one card after the other; how many
        model calls it took."""
        before = self._requests()
        body = self._heard(lambda: self.kernel.chat(message, session_id=self.session))
        for _ in range(MAX_QUESTIONS):
            if not (question := body.get("confirmation")):
                break
            body = self._answer(question)
        return self._requests() - before

    def _requests(self) -> int:
        return len(self.model.requests) if self.model else 0

    def _answer(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        whose = tuple(self.whose(call) for call in question["calls"])
        accepted = set(whose) == {"user"}
        text = str(question.get("summary") or self.reply)
        self.questions.append(Question(text, whose, accepted))
        return self._heard(
            lambda: self.kernel.confirm(question["id"], accepted, session_id=self.session)
        )

    def _heard(self, send: Callable[[], Any]) -> Mapping[str, Any]:
        """What the kernel answers. A turn that raises is noted, and the conversation goes on."""
        try:
            body: dict[str, Any] = send().body
        except Exception as error:
            raised[f"{type(error).__name__}: {error}"[:200]] += 1
            return {}
        self.reply = str(body["reply"])
        self.codes += [c["error_code"] for c in body.get("calls", []) if c.get("error_code")]
        return body
