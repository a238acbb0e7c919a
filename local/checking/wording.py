"""Descriptions by which no function would be found, personal data that nobody declared, and the
files beside the code: manifest, requirements, utterances."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from webbee_kernel import language
from webbee_kernel.pii.keys import NameKey, name_key
from webbee_kernel.sdk import FunctionDef

from .finding import Finding, Module, argument, dotted, near, text

LEAST = 2
"""Telling words a description needs: with fewer it is the name once more."""

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


def poor(functions: Sequence[FunctionDef]) -> Iterator[tuple[FunctionDef, str]]:
    """Chat functions of an extension that no model would find, each with what is wrong in a
    sentence."""
    words = {f.name: _stems(f.description) for f in functions}
    for function in functions:
        for told in (*_unsaid(function), *_alike(function, words), *_apart(function)):
            yield function, told


def _unsaid(function: FunctionDef) -> Iterator[str]:
    """Fields of which nothing but name and type is said."""
    model = function.params_model
    bare = [
        name
        for name, info in (model.model_fields if model else {}).items()
        if not info.description and not re.search(r"\b(Literal|bool)\b", str(info.annotation))
    ]
    if bare:
        told = "without a description: a model fills them by name and type alone"
        yield f"{', '.join(bare)} of {function.name} {told}; Field(description=…)"


def _alike(function: FunctionDef, words: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """A description that only repeats the name, or another function's."""
    name, own = function.name, words[function.name]
    if function.description and not own - _stems(name) and len(own) < LEAST + 1:
        told = "is described by its own name: say what it does to what, in the words of whoever"
        yield f"{name} {told} asks for it"
    if twin := next((n for n, of in words.items() if n != name and own and of == own), ""):
        yield f"{name} and {twin} are described with the same words: no message tells them apart"


def _apart(function: FunctionDef) -> Iterator[str]:
    """Examples none of which shares a word with what a model reads."""
    tag = language.detect(function.description)
    own = [e for e in function.examples if language.detect(e, tag) == tag]
    fields = function.params_model.model_fields if function.params_model else {}
    said = [function.description, function.name, *fields]
    said += [info.description or "" for info in fields.values()]
    if function.description and own and not any(_stems(e) & _stems(" ".join(said)) for e in own):
        told = "a model that never saw them would not find it"
        yield f"none of {function.name}'s examples shares a word with its description: {told}"


@lru_cache(maxsize=1024)
def _stems(words: str) -> frozenset[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", words).lower()
    found = (t.text for t in language.tokens(spaced))
    return frozenset(language.stem(w) for w in found if w not in EMPTY and w.isalpha())


def personal(module: Module) -> Iterator[Finding]:
    """Keys under which a name stands and that the gate does not know, in results without a
    `data_model` that declares them."""
    for node, call in module.handlers("function"):
        if argument(call, "data_model") is not None:
            continue
        for found in (n for n in ast.walk(node) if isinstance(n, ast.Dict)):
            for key, value in zip(found.keys, found.values, strict=True):
                if key is not None and _is_personal(text(key)) and not _is_plain(value):
                    told = f"{text(key)!r} may hold a person's name, which only a model of the"
                    more = "result declares: data_model=… with a field of type PersonName"
                    yield module.found(key, "pii", f"{told} {more}")


def _is_personal(key: str) -> bool:
    words = set(re.sub(r"(?<=[a-z])(?=[A-Z])|[-_]", " ", key).lower().split())
    says_else = words & {"id", "ids", "count", "total", "number", "type", "status", "at", "url"}
    return bool(words & PERSONS) and not says_else and name_key(key) is NameKey.NO


def _is_plain(value: ast.AST) -> bool:
    """A number, a flag or a literal is nobody's name."""
    return isinstance(value, ast.Constant | ast.Compare | ast.BoolOp) or (
        isinstance(value, ast.Call) and dotted(value.func) in ("len", "sum", "int", "bool")
    )


SDK_PIN = re.compile(r"\s*imperal[-_.]sdk\s*==", re.IGNORECASE)
_LINE = re.compile(r"\(at line (\d+)")


def beside(folder: Path, functions: Collection[str]) -> Iterator[Finding]:
    """Every rule of this page. `functions` are those of the extension, empty where it does not
    load."""
    yield from _pins(folder / "requirements.txt")
    yield from _manifest(folder / "imperal.json")
    yield from utterances(folder / "utterances.toml", functions)


def _pins(path: Path) -> Iterator[Finding]:
    """A pin of the SDK itself: other extensions of the deployment may pin another."""
    told = "is advice: extensions that pin different versions of the SDK all get the tested one"
    for number, line in enumerate(_text(path).splitlines(), 1):
        if SDK_PIN.match(line):
            yield Finding.of(path.name, number, "sdk-pin", f"{line.strip()} {told}")


def _manifest(path: Path) -> Iterator[Finding]:
    """A key that nearly is the one that is read."""
    try:
        data = json.loads(_text(path) or "{}")
    except ValueError:
        return  # why it does not load
    for key in data if "app_id" not in data else ():
        if near(key, ["app_id"]):
            told = f"{key!r} is not read: the id is 'app_id', else the folder's name"
            yield Finding.of(path.name, 1, "manifest", told)


CASE_KEYS = ("say", "call", "arguments")


def utterances(path: Path, functions: Collection[str]) -> Iterator[Finding]:
    """What `webbee eval` would stumble over, at the line where its case begins."""
    if not path.exists():
        return
    written = _text(path)
    begins = [n for n, line in enumerate(written.splitlines(), 1) if line.startswith("[[case]]")]

    def of(line: int, told: str) -> Finding:
        return Finding.of(path.name, line, "utterances", told)

    try:
        rows = tomllib.loads(written).get("case")
    except tomllib.TOMLDecodeError as error:
        at = _LINE.search(str(error))
        yield of(int(at[1]) if at else 1, str(error))
        return
    if not rows or not isinstance(rows, list):
        yield of(1, "it has no [[case]] with say and call: `webbee eval` reads nothing else")
        return
    for number, (row, line) in enumerate(zip_longest(rows, begins[: len(rows)], fillvalue=1), 1):
        if not isinstance(row, dict):
            yield of(line, f"case {number}: it is no table: [[case]] stands above its keys")
            continue
        for key in sorted(row.keys() - {*CASE_KEYS}):
            yield of(line, f"case {number}: there is no key {key!r}; it has {', '.join(CASE_KEYS)}")
        if not row.get("say"):
            yield of(line, f"case {number}: it lacks 'say', what a person says")
        wanted = str(row.get("call", ""))
        if functions and wanted and wanted not in functions:
            known = near(wanted, list(functions))
            yield of(line, f"case {number}: there is no function {wanted!r}{known}")


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""
