"""Descriptions by which no function would be found, personal data that nobody declared, and the
files beside the code: manifest, requirements, utterances."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webbee_kernel import language
from webbee_kernel.pii.keys import NameKey, name_key
from webbee_kernel.sdk import FunctionDef

from ..terminal import near
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


@lru_cache(maxsize=1024)
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


TABLE = "utterances.toml"
_LINE = re.compile(r"\(at line (\d+)")


class Case(BaseModel):
    """One thing said, and what is to come of it; with no call, nothing."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    say: str = Field(min_length=1)
    call: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)


class Table(BaseModel):
    """The utterances of an extension."""

    case: list[Case] = Field(min_length=1)


def file_problems(folder: Path, functions: Collection[str]) -> Iterator[Finding]:
    """What is wrong in the files beside the code. `functions` are those of the extension, empty
    where it does not load."""
    with suppress(ValueError):  # why it does not load
        data = json.loads(_text(folder / "imperal.json") or "{}")
        for key in data if "app_id" not in data else ():
            if near(key, ["app_id"]):
                message = f"{key!r} is not read: the id is 'app_id', else the folder's name"
                yield Finding.of("imperal.json", 1, "manifest", message)
    yield from table_of(folder / TABLE, functions)[1]


def table_of(path: Path, functions: Collection[str]) -> tuple[list[Case], list[Finding]]:
    """The cases of a table, and what `webbee eval` would stumble over, at the line where its case
    begins."""
    written = _text(path)
    begins = [n for n, line in enumerate(written.splitlines(), 1) if line.startswith("[[case]]")]

    def of(where: Sequence[int | str], message: str) -> Finding:
        """`where` is a key in the table, `("case", 1, "say")`."""
        place = where[1] if len(where) > 1 else ""
        line = begins[place] if isinstance(place, int) and place < len(begins) else 1
        return Finding.of(path.name, line, "utterances", f"{'.'.join(map(str, where))}: {message}")

    try:
        cases = Table.model_validate(tomllib.loads(written)).case if path.exists() else []
    except tomllib.TOMLDecodeError as error:
        at = _LINE.search(str(error))
        return [], [Finding.of(path.name, int(at[1]) if at else 1, "utterances", str(error))]
    except ValidationError as error:
        return [], [of(wrong["loc"], wrong["msg"]) for wrong in error.errors()]
    unknown = [
        of(
            ("case", number, "call"),
            f"there is no function {case.call!r}{near(case.call, functions)}",
        )
        for number, case in enumerate(cases if functions else ())
        if case.call and case.call not in functions
    ]
    return cases, unknown


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""
