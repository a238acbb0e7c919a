"""Descriptions by which no function would be found, personal data that nobody declared, and the
files beside the code: manifest, requirements, utterances."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from webbee_kernel import language
from webbee_kernel.pii.keys import NameKey, name_key

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


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    place: ast.AST
    module: Module
    description: str
    examples: tuple[str, ...]
    fields: str
    undescribed: bool
    bare: tuple[str, ...]

    @property
    def words(self) -> frozenset[str]:
        """Stems of what a model reads of it, less those that tell nothing."""
        return _stems(f"{self.description}")


def findings(modules: list[Module]) -> Iterator[Finding]:
    """Every rule of this page."""
    functions = [f for module in modules for f in _functions(module)]
    for function in functions:
        for told in _poor(function, functions):
            yield function.module.found(function.place, "description", told)
    for module in modules:
        yield from _personal(module)


def _functions(module: Module) -> Iterator[_Function]:
    for node, call in module.handlers("function"):
        given = argument(call, "examples")
        examples = [text(e) for e in given.elts] if isinstance(given, ast.List | ast.Tuple) else []
        described = argument(call, "description", 1)
        hint = node.args.args[1].annotation if len(node.args.args) > 1 else None
        model = _model(module, dotted(hint) if hint else "")
        yield _Function(
            text(argument(call, "name", 0)) or node.name,
            call,
            module,
            text(described),
            tuple(e for e in examples if e),
            _fields(model),
            described is None or (isinstance(described, ast.Constant) and not described.value),
            tuple(_bare(model)),
        )


def _model(module: Module, name: str) -> ast.ClassDef | None:
    return next((c for c in module.each(ast.ClassDef) if c.name == name), None)


def _fields(model: ast.ClassDef | None) -> str:
    """Names and texts of a parameter model's fields."""
    if model is None:
        return ""
    names = [dotted(n.target) for n in model.body if isinstance(n, ast.AnnAssign)]
    return " ".join(names + [text(n) for n in ast.walk(model)])


def _bare(model: ast.ClassDef | None) -> Iterator[str]:
    """The fields of a parameter model of which nothing but name and type is said."""
    for node in model.body if model else ():
        if isinstance(node, ast.AnnAssign) and not _is_described(node):
            if not dotted(node.target).startswith(("_", "model_config")):
                yield dotted(node.target)


def _is_described(field: ast.AnnAssign) -> bool:
    """Whether a model learns what it means: from a description, or from its few values."""
    said = any(isinstance(n, ast.keyword) and n.arg == "description" for n in ast.walk(field))
    return said or any(dotted(n) in ("Literal", "bool") for n in ast.walk(field.annotation))


def _poor(function: _Function, functions: list[_Function]) -> Iterator[str]:
    """What is wrong with a function's description, each in a sentence."""
    name, words = function.name, function.words
    if function.undescribed:
        yield f"{name} has no description: models choose by it, and know only its name"
    if function.bare:
        told = "without a description: a model fills them by name and type alone"
        yield f"{', '.join(function.bare)} of {name} {told}; Field(description=…)"
    if function.description and not words - _stems(name) and len(words) < LEAST + 1:
        told = "is described by its own name: say what it does to what, in the words of whoever"
        yield f"{name} {told} asks for it"
    twins = (f.name for f in functions if f is not function and words and f.words == words)
    for twin in list(twins)[:1]:
        yield f"{name} and {twin} are described with the same words: no message tells them apart"
    # Whether a message like the examples would find it: at least one shares a word.
    tag = language.detect(function.description)
    own = [e for e in function.examples if language.detect(e, tag) == tag]
    known = words | _stems(f"{name} {function.fields}")
    if function.description and own and not any(_stems(e) & known for e in own):
        told = "a model that never saw them would not find it"
        yield f"none of {name}'s examples shares a word with its description: {told}"


@lru_cache(maxsize=1024)
def _stems(words: str) -> frozenset[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", words).lower()
    found = (t.text for t in language.tokens(spaced))
    return frozenset(language.stem(w) for w in found if w not in EMPTY and w.isalpha())


def _personal(module: Module) -> Iterator[Finding]:
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
