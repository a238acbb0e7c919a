"""Asking: a question that a server puts to the user in the middle of a call. Pure.

A call does not wait for people. The question is answered `cancel`, the call ends with what was
asked, and the model asks the user; the answer travels with the same call, made again, as the
argument `_answers`. So it works across turns, processes and days, and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ...sdk.result import ANSWERS, NEEDS_ANSWER, ActionResult, failure
from ...text import cut, one_line, revealed
from ...types import JSON, JSONObject
from .server_tools import problem_of_schema, readable

MAX_QUESTION: Final = 600
TAKEN: Final[JSONObject] = {
    "type": "object",
    "description": "What the user answered to a question that this function asked before.",
}
"""The schema of that argument, on functions that have asked before."""


@dataclass(slots=True)
class Asking:
    """The questions of one call. `answers` are those the call brought, None where it brought
    none."""

    answers: JSONObject | None = None
    open: list[str] = field(default_factory=list)
    forms: JSONObject = field(default_factory=dict)
    """The same questions by a name, as `ActionResult.ask` has them; one that leads to an address,
    or hides something in its schema, is none."""

    def reply(self, question: Mapping[str, JSON]) -> JSONObject:
        """What the server is told: the user's answers where they are complete, else `cancel`."""
        wanted = question.get("requestedSchema") or {}
        fields = wanted.get("properties") or {}
        missing = set(wanted.get("required") or ()).difference(self.answers or ())
        if self.answers is None or missing or question.get("url"):
            self.open.append(_told(question, fields))
            self._form(question, wanted)
            return {"action": "cancel"}
        content = {k: v for k, v in self.answers.items() if k in fields}
        return {"action": "accept", "content": content}

    def _form(self, question: Mapping[str, JSON], wanted: JSONObject) -> None:
        """Keep the newest open question as a form, where its schema makes one."""
        if wanted and not problem_of_schema(wanted):
            text = cut(one_line(revealed(str(question.get("message", "")))), MAX_QUESTION)
            form = {"message": text, "schema": readable(wanted)}
            self.forms[f"question_{len(self.open)}"] = form

    def ended(self, server: str) -> ActionResult | None:
        """How a call ends that asked what nobody has answered yet; None where it asked nothing."""
        if not self.open:
            return None
        told = f"{server} asks the user: {' '.join(self.open)}"
        result = failure(told, code=NEEDS_ANSWER)
        result.data = {"questions": {n: self._said_by(server, q) for n, q in self.forms.items()}}
        return result

    @staticmethod
    def _said_by(server: str, question: JSONObject) -> JSONObject:
        """Whoever is asked reads who asks."""
        return {**question, "message": f"{server} asks: {question['message']}"}


def asked_of(arguments: JSONObject) -> tuple[JSONObject, Asking]:
    """The tool's own arguments, and the answers that came with them."""
    given = arguments.get(ANSWERS)
    own = {k: v for k, v in arguments.items() if k != ANSWERS}
    return own, Asking(given if isinstance(given, dict) else None)


def _told(question: Mapping[str, JSON], fields: Mapping[str, JSON]) -> str:
    """A stranger's question on one line, with its fields or its address."""
    text = one_line(revealed(str(question.get("message", ""))))
    if url := question.get("url"):
        return cut(f"“{text}” ({one_line(revealed(str(url)))})", MAX_QUESTION)
    wanted = "; ".join(_fields(fields))
    return cut(f"“{text}”" + (f" ({wanted})" if wanted else ""), MAX_QUESTION)


def _fields(fields: Mapping[str, JSON]) -> Iterator[str]:
    for name, rules in fields.items():
        rules = rules if isinstance(rules, dict) else {}
        said = rules.get("description") or rules.get("title") or ""
        choices = ", ".join(map(str, rules.get("enum") or ()))
        parts = filter(None, (str(rules.get("type", "")), str(said), choices))
        yield one_line(revealed(f"{name}: {', '.join(parts)}"))
