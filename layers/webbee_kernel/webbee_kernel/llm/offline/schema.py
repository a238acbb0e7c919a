"""What a JSON schema says an argument is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from .words import fold, stem, tokens

ArgumentKind = Literal["email", "party", "id", "date", "bool", "enum", "number", "text", "other"]

_EMAIL_NAMES = frozenset(
    "to from cc bcc email address recipient recipients sender from_address to_address email_address".split()
)
_PARTIES = frozenset("from sender author".split())
_DATE_NAMES = frozenset(
    "due date day deadline when since until before after due_date due_at start end".split()
)
_TITLES = ("title", "subject", "name", "headline")
_BODIES = (
    "body",
    "text",
    "content",
    "message",
    "note",
    "query",
    "q",
    "search",
    "question",
    "reply",
    "prompt",
)
_SAYS = re.compile(r"([\w-]+)\s*\(([^()]*)\)")
_FALSE = re.compile(r"\bfalse\b[^.]*?([\w-]*)\s*\(([^()]*)\)", re.IGNORECASE)
_SYNONYMS = {
    "unread": "непрочитанные новые new",
    "read": "прочитанные",
    "today": "сегодня",
    "tomorrow": "завтра",
    "done": "выполненные сделанные completed finished",
    "completed": "выполненные сделанные done finished",
    "overdue": "просроченные late",
    "open": "открытые",
    "all": "все everything",
    "high": "важная срочная срочно urgent important",
    "low": "неважная",
    "pinned": "закрепленные",
    "sent": "отправленные",
    "inbox": "входящие",
    "archive": "архив архиве",
    "drafts": "черновики черновик",
    "spam": "спам junk",
    "attachments": "вложения вложением",
}
_IDLE = frozenset("only is has include with show".split())


_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Argument:
    """One property. `values` are those of an enum (or True and False), each with the stems of the
    words that mean it."""

    name: str
    kind: ArgumentKind
    required: bool
    many: bool
    description: str
    values: tuple[tuple[Any, frozenset[str]], ...] = ()
    iso: bool = False
    minimum: float | None = None
    maximum: float | None = None
    default: Any = None

    @property
    def is_title(self) -> bool:
        """A short text that names a thing."""
        return self.kind == "text" and self.name in _TITLES

    @property
    def is_body(self) -> bool:
        """The text a function is mainly about."""
        return self.kind == "text" and self.name in _BODIES


_read: dict[int, tuple[dict[str, Any], tuple[Argument, ...]]] = {}


def arguments_of(schema: dict[str, Any]) -> tuple[Argument, ...]:
    """The properties in order. Read once per schema object: a catalogue outlives its requests."""
    known = _read.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_read) >= _KEPT:
            _read.clear()
        known = _read[id(schema)] = (schema, _arguments(schema))
    return known[1]


def _arguments(schema: dict[str, Any]) -> tuple[Argument, ...]:
    required = set(schema.get("required", ()))
    definitions = schema.get("$defs", {})
    properties = schema.get("properties", {})
    return tuple(
        _argument(str(name), _resolved(p, definitions), name in required, definitions)
        for name, p in properties.items()
    )


def _resolved(prop: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The property with its `$ref`, `allOf` and "or null" followed."""
    for choice in (prop, *prop.get("allOf", ()), *prop.get("anyOf", ()), *prop.get("oneOf", ())):
        ref = str(choice.get("$ref", ""))
        target = definitions.get(ref.rpartition("/")[2], {}) if ref else choice
        if target.get("type") not in (None, "null") or "enum" in target or "const" in target:
            return {**target, **{k: v for k, v in prop.items() if k in ("description", "default")}}
    return prop


def _argument(
    name: str, prop: dict[str, Any], required: bool, definitions: dict[str, Any]
) -> Argument:
    many = prop.get("type") == "array"
    inner = _resolved(prop.get("items") or {}, definitions) if many else prop
    description = str(prop.get("description", ""))
    kind = _kind(name, inner)
    return Argument(
        name=name,
        kind=kind,
        required=required,
        many=many,
        description=description,
        values=_values(name, inner, description, kind),
        iso=inner.get("format") in ("date", "date-time"),
        minimum=inner.get("minimum", inner.get("exclusiveMinimum")),
        maximum=inner.get("maximum", inner.get("exclusiveMaximum")),
        default=prop.get("default"),
    )


def _kind(name: str, prop: dict[str, Any]) -> ArgumentKind:
    kind = prop.get("type")
    if "enum" in prop or "const" in prop:
        return "enum"
    if kind == "boolean":
        return "bool"
    if name in ("id", "ids") or name.endswith(("_id", "_ids")):
        return "id"
    if kind in ("integer", "number"):
        return "number"
    if kind != "string":
        return "other"
    if name in _PARTIES and prop.get("format") != "email":
        return "party"
    if prop.get("format") == "email" or name in _EMAIL_NAMES:
        return "email"
    return "date" if prop.get("format") in ("date", "date-time") or name in _DATE_NAMES else "text"


def _values(
    name: str, prop: dict[str, Any], description: str, kind: ArgumentKind
) -> tuple[tuple[Any, frozenset[str]], ...]:
    """Words for each value: its own, known synonyms, and those the description gives in brackets
    after it.

    `done (finished, готово)` for an enum, `False to unpin (открепи)` for a boolean.
    """
    said = {m[1].casefold(): m[2] for m in _SAYS.finditer(description)}
    if kind == "enum":
        return tuple(
            (v, _stems(str(v), said.get(str(v).casefold(), "")))
            for v in prop.get("enum", [prop.get("const")])
        )
    if kind == "bool":
        own = [part for part in name.casefold().split("_") if part not in _IDLE]
        no = _FALSE.search(description)
        false = _stems(no[1], no[2]) if no else frozenset()
        return (
            (False, false),
            (
                True,
                _stems(*own, *(said.get(part, "") for part in own), said.get("true", "")) - false,
            ),
        )
    return ()


def _stems(*texts: str) -> frozenset[str]:
    """Stems of one-word descriptions (a phrase would match by any of its words)."""
    phrases = [
        fold(p.strip()) for text in texts for p in re.split(r"[,;/]", text.replace("_", " "))
    ]
    words = [w for p in phrases for w in (p.split() if p and len(p.split()) == 1 else [])]
    words += [w for word in words for w in _SYNONYMS.get(word, "").split()]
    return frozenset(stem(t.word) for w in words for t in tokens(w))
