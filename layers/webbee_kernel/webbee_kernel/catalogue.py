"""Catalogue: what the deployed extensions offer, as plain values that travel between functions. No
extension code in here."""

from __future__ import annotations

import hashlib
import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from os.path import commonprefix
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from . import language
from .types import CallOutcome, CallRequest, JSONObject, Step, from_dict

LISTS_KEPT = 64
"""Combinations of installed apps whose functions a catalogue keeps listed."""

EXAMPLES_SHOWN = 1
"""Examples of a function that stand in its description for a model: authors write one in each of
their users' languages first. The search and the embedded model read all."""


SLOT = re.compile(r"\{(\w+)(?::(\w+)|=([^{}]*))?\}")
"""A slot of an example, `{city}` or `{due:date}`, or an argument that no word tells,
`{state=done}`."""


def spoken(example: str) -> str:
    """An example as a person would begin to say it: slots as an ellipsis, no fixed arguments."""
    return " ".join(SLOT.sub(lambda m: "" if m[3] is not None else "…", example).split())


OPEN_WORLD = "x-open-world"
"""On a function's schema as a whole: it reaches beyond the user's own apps (MCP
`openWorldHint`)."""

GOES_TO = "x-goes-to"
"""In a parameter's schema: the address that its default holds as a secret, for cards alone."""

LEAST_SHARED = 24
"""Characters that functions must share for a prompt to say them once."""

MAX_RULES = 1_200
"""Characters of an app's own rules (`ChatExtension(system_prompt=…)`) that reach the classifier:
about 300 tokens, a page of ten sentences, and as much as three ordinary functions take."""


Shapes: TypeAlias = tuple[Mapping[str, Any], ...]
"""A JSON schema and each of its choices, its own words first."""

_CHOICES = ("allOf", "anyOf", "oneOf")
_CONDITIONAL = ("then", "else")
_DEPENDENT = ("dependentSchemas", "dependencies")
_WITHIN = frozenset((*_CHOICES, *_CONDITIONAL, *_DEPENDENT))
_MOST_SHAPES = 64
"""A schema that refers to itself ends here."""


def shapes_of(schema: object, root: Mapping[str, Any]) -> Shapes:
    """A schema's shapes: itself, what it refers to (`$ref` into `root`), and what it chooses from
    or says on some condition, at any depth."""
    waiting, found = [schema], list[Mapping[str, Any]]()
    while waiting and len(found) < _MOST_SHAPES:
        # from the front: a schema's own words come before those of its choices
        shape = waiting.pop(0)
        if isinstance(shape, Mapping):
            found.append(shape)
            waiting += [target_of(str(shape["$ref"]), root)] if "$ref" in shape else []
            waiting += [] if _WITHIN.isdisjoint(shape) else _said_within(shape)
    return tuple(found)


def _said_within(shape: Mapping[str, Any]) -> list[object]:
    """What a shape says of the same value, always or on some condition."""
    said = [option for choice in _CHOICES for option in shape.get(choice) or ()]
    said += [shape.get(condition) for condition in _CONDITIONAL]
    held = (shape.get(word) for word in _DEPENDENT)
    return said + [of for by in held if isinstance(by, Mapping) for of in by.values()]


def target_of(reference: str, root: Mapping[str, Any]) -> object:
    """What a `$ref` (`#/$defs/Address`) stands for; None where the root does not hold it."""
    target: Any = root
    for part in reference.removeprefix("#/").split("/"):
        target = target.get(part) if isinstance(target, Mapping) else None
    return target


@dataclass(frozen=True, slots=True, weakref_slot=True)
class FunctionInfo:
    """A chat function as the classifier may call it."""

    app_id: str
    fn_name: str
    description: str
    action_type: str = "read"
    input_schema: JSONObject = field(default_factory=dict)
    examples: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    id_projection: str = ""
    pii: dict[str, str] = field(default_factory=dict)
    """What the author declares of arguments and data: path (`parent.key`) → `name`, `email`, …"""
    titles: dict[str, str] = field(default_factory=dict)
    """What it does in a few words, by language."""
    lead: int = 0
    """Characters at the beginning of the description that all functions of the app share; never
    part of a catalogue that travels."""
    told: tuple[str, ...] = ()
    """Arguments that its app describes in the same words for several functions; never part of a
    catalogue that travels, either."""

    @property
    def tool_name(self) -> str:
        """`app__function`, at most 64 characters of `A-Za-z0-9_-` (what tool-use APIs accept)."""
        name = f"{self.app_id}__{self.fn_name}"
        return (
            name
            if len(name) <= 64
            else f"{name[:55]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        )


@dataclass(frozen=True, slots=True)
class SectionInfo:
    """A skeleton section an app registers."""

    section: str
    ttl: int = 300
    alert: bool = False


@dataclass(frozen=True, slots=True)
class ScheduleInfo:
    """A job an app has run: a 5-field UTC cron expression."""

    name: str
    cron: str


@dataclass(frozen=True, slots=True)
class PanelInfo:
    """A panel an app offers."""

    panel_id: str
    slot: str = "center"
    title: str = ""
    icon: str = ""
    refresh: str = "manual"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class AppInfo:
    """One extension. `error` says why it is not available; it then offers nothing.

    `description` says what the app is, `rules` what its author asks of the classifier.
    """

    app_id: str
    version: str = ""
    display_name: str = ""
    description: str = ""
    rules: str = ""
    icon: str = ""
    functions: tuple[FunctionInfo, ...] = ()
    sections: tuple[SectionInfo, ...] = ()
    panels: tuple[PanelInfo, ...] = ()
    secrets: tuple[JSONObject, ...] = ()
    variables: tuple[str, ...] = ()
    """Variables of the deployment that its app-wide secrets name."""
    is_shared: bool = False
    """Whether other apps' calls may run its code: it exposes methods, or listens to events."""
    has_health_check: bool = False
    schedules: tuple[ScheduleInfo, ...] = ()
    signals: tuple[str, ...] = ()
    error: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Its name, and what fields and values of its results are called, by language."""
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    """Functions that it had and does not offer now, each with the reason."""

    def __post_init__(self) -> None:
        """Find what functions say in the same words, so that a prompt says it once."""
        lead = _lead([f.description for f in self.functions])
        common = self.arguments.items()
        told = [
            tuple(n for n, d in _described(f).items() if (n, d) in common) for f in self.functions
        ]
        if lead or any(told):
            functions = (
                replace(f, lead=lead, told=names)
                for f, names in zip(self.functions, told, strict=True)
            )
            object.__setattr__(self, "functions", tuple(functions))

    @property
    def arguments(self) -> dict[str, str]:
        """What several functions say of an argument of one name, where all that have one say
        something of it."""
        said: dict[str, Counter[str]] = {}
        for function in self.functions:
            for name, description in _described(function).items():
                said.setdefault(name, Counter())[description] += 1
        most = {name: told.most_common(1)[0] for name, told in said.items() if "" not in told}
        return {name: text for name, (text, times) in most.items() if times > 1}

    @property
    def shared(self) -> str:
        """What the descriptions of all functions begin with; empty where they have nothing in
        common."""
        return self.functions[0].description[: self.functions[0].lead] if self.functions else ""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All apps by id."""

    apps: Mapping[str, AppInfo] = field(default_factory=dict)
    _listed: dict[frozenset[str], tuple[FunctionInfo, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def functions(self, app_ids: Iterable[str]) -> tuple[FunctionInfo, ...]:
        """The functions of these apps, in a stable order: the same tuple for the same apps."""
        key = frozenset(app_ids)
        found = self._listed.get(key)
        if found is None:
            if len(self._listed) >= LISTS_KEPT:
                # all of them: those in use are soon listed again
                self._listed.clear()
            listed = (self.apps[a].functions for a in sorted(key) if a in self.apps)
            found = self._listed[key] = tuple(chain.from_iterable(listed))
        return found

    def function(self, app_id: str, fn_name: str) -> FunctionInfo | None:
        app = self.apps.get(app_id)
        for function in app.functions if app else ():
            if function.fn_name == fn_name:
                return function
        return None

    def names(self, tag: str) -> dict[str, str]:
        """What people call each app in a language."""
        apps = self.apps.values()
        return {a.app_id: language.text_in(a.titles, tag) or a.display_name for a in apps}

    def columns(self, tag: str) -> dict[str, dict[str, str]]:
        """What fields and values of each app's results are called in a language."""
        told = ((a.app_id, a.columns.items()) for a in self.apps.values())
        return {i: {k: language.text_in(texts, tag) for k, texts in own} for i, own in told}

    def meant(self, call: Step | CallOutcome) -> JSONObject:
        """The arguments of a call without those that its function fills in the same where they are
        left out: two calls that differ by nothing else are one."""
        function = self.function(call.app_id, call.fn_name)
        rules = (function.input_schema.get("properties") if function else None) or {}
        filled = {
            k: r["default"] for k, r in rules.items() if isinstance(r, dict) and "default" in r
        }
        return {k: v for k, v in call.arguments.items() if k not in filled or filled[k] != v}

    def to_dict(self) -> JSONObject:
        """Plain JSON."""
        apps = [asdict(a) for a in self.apps.values()]
        for function in (f for a in apps for f in a["functions"]):
            # found again by `__post_init__` where it arrives
            del function["lead"], function["told"]
        return {"apps": apps}

    @staticmethod
    def from_dict(data: JSONObject) -> Catalogue:
        return Catalogue({a["app_id"]: from_dict(AppInfo, a) for a in data["apps"]})


def _lead(descriptions: Sequence[str]) -> int:
    """How many characters at least three descriptions all begin with: whole sentences, or up to a
    colon, and something is left of each."""
    if len(descriptions) < 3:
        return 0
    same = commonprefix(descriptions)  # noqa: RUF071 – texts, not paths
    end = max(same.rfind(". "), same.rfind(": ")) + 2
    worth = end > LEAST_SHARED and all(d[end:].strip() for d in descriptions)
    return end if worth else 0


def _described(function: FunctionInfo) -> dict[str, str]:
    """What a function says of each of its arguments; empty where it says nothing."""
    properties = function.input_schema.get("properties") or {}
    return {
        name: str(schema.get("description", "")) if isinstance(schema, dict) else ""
        for name, schema in properties.items()
    }


T = TypeVar("T")
V = TypeVar("V")


class PerObject(Generic[T, V]):
    """A function of an object that never changes. By identity, for values that have no hash; what
    it keeps goes with the object, so it has no size at which it starts to forget."""

    def __init__(self, compute: Callable[[T], V]) -> None:
        self._compute = compute
        self._kept: dict[int, V] = {}

    def __call__(self, thing: T) -> V:
        """The value of `thing`, which must take weak references."""
        try:
            return self._kept[id(thing)]
        except KeyError:
            return self.keep(thing, self._compute(thing))

    def keep(self, thing: T, value: V) -> V:
        # the id may be given to another object as soon as this one is gone
        weakref.finalize(thing, self._kept.pop, id(thing), None).atexit = False
        self._kept[id(thing)] = value
        return value

    def __len__(self) -> int:
        """How many it keeps."""
        return len(self._kept)


class Dispatch(Protocol):
    """The seam to extension code: in this process or in another function."""

    async def catalogue(self) -> Catalogue:
        """What is deployed; asked once per process."""
        ...

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run one call; always an outcome, unless the database is gone (StorageUnavailable),
        nothing came back (DispatchUnanswered) or it was not run (DispatchRefused)."""
        ...
