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

MAX_LISTS = 64
"""Combinations of installed apps whose functions a catalogue keeps listed."""

PROMPT_EXAMPLES = 1
"""Examples of a function that are shown to a model; tool search and the embedded model use all."""


SLOT = re.compile(r"\{(\w+)(?::(\w+)|=([^{}]*))?\}")
"""A slot of an example, `{city}` or `{due:date}`, or a fixed argument, `{state=done}`."""


def example_phrase(example: str) -> str:
    """An example as a user would type it: slots as an ellipsis, without fixed arguments."""
    return " ".join(SLOT.sub(lambda m: "" if m[3] is not None else "…", example).split())


OPEN_WORLD = "x-open-world"
"""On a function's schema as a whole: it reaches beyond the user's own apps (MCP
`openWorldHint`)."""

GOES_TO = "x-goes-to"
"""In a parameter's schema: the address that its default holds as a secret, for cards alone."""

MIN_LEAD = 24
"""Characters that descriptions must share for a prompt to state them once."""

MAX_RULES = 1_200
"""Characters of an app's rules (`ChatExtension(system_prompt=…)`) that reach the classifier: about
300 tokens."""


Shapes: TypeAlias = tuple[Mapping[str, Any], ...]
"""A JSON schema and its subschemas, the schema itself first."""

_CHOICES = ("allOf", "anyOf", "oneOf")
_CONDITIONAL = ("then", "else")
_DEPENDENT = ("dependentSchemas", "dependencies")
_SUBSCHEMA_KEYS = frozenset((*_CHOICES, *_CONDITIONAL, *_DEPENDENT))
_MAX_SHAPES = 64
"""Limit for a schema that refers to itself."""


def shapes_of(schema: object, root: Mapping[str, Any]) -> Shapes:
    """A schema, what it refers to (`$ref` into `root`), and its alternative or conditional
    subschemas, at any depth."""
    pending, found = [schema], list[Mapping[str, Any]]()
    for shape in pending:  # which grows: a schema comes before its subschemas
        if isinstance(shape, Mapping) and len(found) < _MAX_SHAPES:
            found.append(shape)
            pending += [target_of(str(shape["$ref"]), root)] if "$ref" in shape else []
            pending += [] if _SUBSCHEMA_KEYS.isdisjoint(shape) else _subschemas(shape)
    return tuple(found)


def _subschemas(shape: Mapping[str, Any]) -> list[object]:
    """Subschemas that apply to the same value, always or on some condition."""
    found = [option for choice in _CHOICES for option in shape.get(choice) or ()]
    found += [shape.get(condition) for condition in _CONDITIONAL]
    by_key = (shape.get(key) for key in _DEPENDENT)
    return found + [
        schema for group in by_key if isinstance(group, Mapping) for schema in group.values()
    ]


def target_of(reference: str, root: Mapping[str, Any]) -> object:
    """The schema that a `$ref` (`#/$defs/Address`) names; None where there is none."""
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
    """Characters at the start of the description that all functions of the app share; not
    serialized."""
    common_arguments: tuple[str, ...] = ()
    """Arguments described alike in several functions of the app; not serialized either."""

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
    """Whether calls of other apps may run its code: it exposes methods or listens to events."""
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
        """Find text that functions share, so that a prompt states it once."""
        lead = _lead([f.description for f in self.functions])
        common = self.arguments.items()
        functions = []
        for function in self.functions:
            described = _argument_descriptions(function).items()
            names = tuple(name for name, text in described if (name, text) in common)
            functions.append(replace(function, lead=lead, common_arguments=names))
        object.__setattr__(self, "functions", tuple(functions))

    @property
    def arguments(self) -> dict[str, str]:
        """Descriptions by argument name that several functions share; no name that some function
        leaves undescribed."""
        counts: dict[str, Counter[str]] = {}
        for function in self.functions:
            for name, description in _argument_descriptions(function).items():
                counts.setdefault(name, Counter())[description] += 1
        most = {name: texts.most_common(1)[0] for name, texts in counts.items() if "" not in texts}
        return {name: text for name, (text, count) in most.items() if count > 1}

    @property
    def lead_text(self) -> str:
        """The common beginning of all descriptions; may be empty."""
        return self.functions[0].description[: self.functions[0].lead] if self.functions else ""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All apps by id."""

    apps: Mapping[str, AppInfo] = field(default_factory=dict)
    _lists: dict[frozenset[str], tuple[FunctionInfo, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def functions(self, app_ids: Iterable[str]) -> tuple[FunctionInfo, ...]:
        """The functions of these apps, in a stable order: the same tuple for the same apps."""
        key = frozenset(app_ids)
        found = self._lists.get(key)
        if found is None:
            if len(self._lists) >= MAX_LISTS:
                # all of them: those in use are soon listed again
                self._lists.clear()
            per_app = (self.apps[a].functions for a in sorted(key) if a in self.apps)
            found = self._lists[key] = tuple(chain.from_iterable(per_app))
        return found

    def function(self, app_id: str, fn_name: str) -> FunctionInfo | None:
        for function in self.apps[app_id].functions if app_id in self.apps else ():
            if function.fn_name == fn_name:
                return function
        return None

    def name(self, app_id: str, tag: str) -> str:
        """The app's display name in a language; of an unknown app its id."""
        app = self.apps.get(app_id)
        return (language.text_in(app.titles, tag) or app.display_name) if app else app_id

    def columns(self, app_id: str, tag: str) -> dict[str, str]:
        """Display names of an app's result fields and values, in a language."""
        app = self.apps.get(app_id)
        return {k: language.text_in(v, tag) for k, v in app.columns.items()} if app else {}

    def explicit(self, call: Step | CallOutcome) -> JSONObject:
        """The arguments of a call without those equal to their defaults, to compare calls."""
        function = self.function(call.app_id, call.fn_name)
        rules = (function.input_schema.get("properties") if function else None) or {}
        defaults = {
            k: r["default"] for k, r in rules.items() if isinstance(r, dict) and "default" in r
        }
        return {k: v for k, v in call.arguments.items() if k not in defaults or defaults[k] != v}

    def to_dict(self) -> JSONObject:
        """Plain JSON."""
        apps = [asdict(a) for a in self.apps.values()]
        for function in (f for a in apps for f in a["functions"]):
            # found again by `__post_init__` where it arrives
            del function["lead"], function["common_arguments"]
        return {"apps": apps}

    @staticmethod
    def from_dict(data: JSONObject) -> Catalogue:
        return Catalogue({a["app_id"]: from_dict(AppInfo, a) for a in data["apps"]})


def _lead(descriptions: Sequence[str]) -> int:
    """Length of the common beginning of three or more descriptions, up to a sentence's end or a
    colon; 0 where it is short or is all of one."""
    if len(descriptions) < 3:
        return 0
    prefix = commonprefix(descriptions)  # noqa: RUF071 – texts, not paths
    end = max(prefix.rfind(". "), prefix.rfind(": ")) + 2
    is_long_enough = end > MIN_LEAD and all(d[end:].strip() for d in descriptions)
    return end if is_long_enough else 0


def _argument_descriptions(function: FunctionInfo) -> dict[str, str]:
    """Descriptions by argument name; empty text for an argument without one."""
    properties = function.input_schema.get("properties") or {}
    return {
        name: str(schema.get("description", "")) if isinstance(schema, dict) else ""
        for name, schema in properties.items()
    }


T = TypeVar("T")
V = TypeVar("V")


class PerObject(Generic[T, V]):
    """A cached function of an immutable object. Keyed by identity, for objects without a hash; an
    entry is dropped with its object."""

    def __init__(self, compute: Callable[[T], V]) -> None:
        self._compute = compute
        self._values: dict[int, V] = {}

    def __call__(self, value_of: T) -> V:
        """The value of `thing`, which must take weak references."""
        try:
            return self._values[id(value_of)]
        except KeyError:
            return self.keep(value_of, self._compute(value_of))

    def keep(self, value_of: T, value: V) -> V:
        # the id may be given to another object as soon as this one is gone
        weakref.finalize(value_of, self._values.pop, id(value_of), None).atexit = False
        self._values[id(value_of)] = value
        return value


class Dispatch(Protocol):
    """The seam to extension code: in this process or in another function."""

    async def catalogue(self) -> Catalogue:
        """What is deployed; asked once per process."""
        ...

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run one call; always an outcome, unless the database is gone (StorageUnavailable),
        nothing came back (DispatchUnanswered) or it was not run (DispatchRefused)."""
        ...
