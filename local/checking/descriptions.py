"""Descriptions by which no function would be found, and personal data that nobody declared."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from webbee_kernel import language
from webbee_kernel.pii.keys import NameKey, name_key
from webbee_kernel.sdk import FunctionDef

from .rules import Finding, Module, argument, dotted, text

LEAST = 2
"""With no more telling words a description is the name once more."""

EMPTY = frozenset(
    "a an the to of in on for and or by with from at as is are be it its this that all any do does"
    " get set show list make run handle process data thing stuff item items something"
    " function".split()
)
"""Words that tell no function from another."""

PERSONS = frozenset(
    "person customer client patient guest employee driver owner author assignee contact recipient"
    " sender manager member participant attendee buyer seller tenant student teacher doctor user"
    " colleague applicant candidate passenger holder beneficiary payer reporter signer debtor"
    " creditor landlord lender borrower".split()
)
"""English nouns of people: under such a key stands a name as often as not."""
OTHERS = frozenset("id ids count total number type status at url".split())
"""Beside such a noun: what stands there is no name."""


def description_problems(functions: Iterable[FunctionDef]) -> Iterator[tuple[FunctionDef, str]]:
    """Chat functions of an extension that no model would find, each with what is wrong in a
    sentence."""
    for function in functions:
        model = function.params_model
        undescribed = [
            name
            for name, info in (model.model_fields if model else {}).items()
            if not info.description and not re.search(r"\b(Literal|bool)\b", str(info.annotation))
        ]
        if undescribed:
            names = f"{', '.join(undescribed)} of {function.name}"
            yield function, f"{names} without a description, which models fill it by: Field(…)"
        stems = _stems(function.description)
        if not function.description:
            message = "has no description: models choose by it, and know only its name"
            yield function, f"{function.name} {message}"
        elif not stems - _stems(function.name) and len(stems) <= LEAST:
            message = "is described by its own name: say what it does, in words of whoever asks"
            yield function, f"{function.name} {message}"


def _stems(words: str) -> frozenset[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", words).lower()
    found = (t.text for t in language.tokens(spaced))
    return frozenset(language.stem(w) for w in found if w not in EMPTY and w.isalpha())


def pii_problems(module: Module) -> Iterator[Finding]:
    """Keys under which a name stands and that the gate does not know, in results without a
    `data_model` that declares them."""
    for node, call in module.handlers("function"):
        if argument(call, "data_model") is not None:
            continue
        for node_ in (n for n in ast.walk(node) if isinstance(n, ast.Dict)):
            for key, value in zip(node_.keys, node_.values, strict=True):
                if key is not None and _is_personal(text(key)) and not _is_plain(value):
                    message = "may hold a person's name: declare data_model=… with a PersonName"
                    yield module.finding(key, "pii", f"{text(key)!r} {message}")


def _is_personal(key: str) -> bool:
    words = set(re.sub(r"(?<=[a-z])(?=[A-Z])|[-_]", " ", key).lower().split())
    is_name = words & PERSONS and not words & OTHERS
    return bool(is_name) and name_key(key) is NameKey.NO


def _is_plain(value: ast.AST) -> bool:
    """A number, a flag or a literal is nobody's name."""
    return isinstance(value, ast.Constant | ast.Compare | ast.BoolOp) or (
        isinstance(value, ast.Call) and dotted(value.func) in ("len", "sum", "int", "bool")
    )
