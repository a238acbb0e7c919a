"""Judge: the origin of each directing value of a call, and whether it must be asked about. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from ... import language
from ...base.clock import iso
from ...catalogue import OPEN_WORLD, Catalogue, FunctionInfo
from ...pii import Masker
from ...values import CallOutcome, Section, SessionMemory, Step
from ..memory import unmasked_json
from . import taking_up
from .directing import Directing, directing
from .places import Field, Places, Source, normal, walk
from .wish import Said, Wish, wish_of

_QUOTED = re.compile('["\u00ab\u201c\u201e][^"\u00bb\u201d\u201c]*["\u00bb\u201d\u201c]')

OriginName = Literal[
    "user", "taken_up", "this_turn", "earlier", "free_text", "skeleton", "description", "nowhere"
]
HIS: frozenset[str] = frozenset({"user", "taken_up"})
"""Origins that are the user's own: what he wrote, and what he pointed at."""


class Moment(Protocol):
    """What the judge needs of a turn's state."""

    @property
    def message(self) -> str: ...
    @property
    def now(self) -> float: ...
    @property
    def memory(self) -> SessionMemory: ...
    @property
    def sections(self) -> tuple[Section, ...]: ...
    @property
    def catalogue(self) -> Catalogue: ...
    @property
    def masker(self) -> Masker: ...
    @property
    def language(self) -> str: ...
    @property
    def accepted(self) -> tuple[str, ...]: ...
    @property
    def outcomes(self) -> Mapping[int, CallOutcome]: ...


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one directing value comes from. `app_id` and `label` name the result or section it
    stands in: the app, and what the app calls the thing (its title, its sender)."""

    path: str
    name: str
    kind: str
    value: str | int | float
    origin: OriginName
    app_id: str = ""
    label: str = ""

    @property
    def his(self) -> bool:
        """Whether it is the user's own."""
        return self.origin in HIS


@dataclass(frozen=True, slots=True)
class Why:
    """Why a call is asked about: `unasked`, the message does not ask for it; `values`, some of its
    directing values are not the user's."""

    unasked: bool
    origins: tuple[Origin, ...]

    @property
    def foreign(self) -> tuple[Origin, ...]:
        """The values that are not the user's."""
        return tuple(o for o in self.origins if not o.his)


@dataclass(frozen=True)
class Judge:
    """One moment of a turn: its words, results and sections, indexed once."""

    places: Places
    wish: Wish
    replies: tuple[str, ...] = ()
    """What the user has been shown by each remembered turn, the newest first."""

    @staticmethod
    def of(moment: Moment) -> Judge:
        """The judge of a turn at this moment."""
        own = _QUOTED.sub(" ", moment.message)  # what he quotes may be in any language
        tag = language.detect(own, language.of(moment.language).tag)
        turns = tuple(reversed(moment.memory.turns))
        said = tuple(Said(t.message, t.reply) for t in turns)
        places = Places(
            words=(moment.message, *(t.message for t in turns)),
            accepted=frozenset([*moment.accepted, *(v for t in turns for v in t.accepted)]),
            results=tuple(_results(moment)),
            sections=tuple(Source(s.app_id, s.section, s.data) for s in moment.sections if s.data),
            descriptions=_descriptions(moment.catalogue),
            now=iso(moment.now),
            tag=tag,
        )
        seen = tuple("\n".join((t.reply, *t.shown)) for t in turns)
        return Judge(places, wish_of(moment.message, said, tag), seen)

    def origins(self, function: FunctionInfo, arguments: Mapping[str, Any]) -> tuple[Origin, ...]:
        """The origin of every directing value of these arguments."""
        found = directing(function, arguments)
        return tuple(o for d in found if (o := self._origin(d, function, arguments)) is not None)

    def why(self, function: FunctionInfo, arguments: Mapping[str, Any]) -> Why | None:
        """Why the call has to be asked about, or None where it is the user's own wish. A read is
        asked about only where it would carry data out."""
        if function.action_type == "read":
            return self._carried_out(function, arguments)
        found = self.origins(function, arguments)
        own = any(o.origin == "taken_up" or (o.his and self._in_wish(o)) for o in found)
        own = own or self._dictated(arguments)
        unasked = not self.wish.asks_for(function, own_values=own)
        return Why(unasked, found) if unasked or not all(o.his for o in found) else None

    def _dictated(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the user's message holds a text of the call word for word."""
        texts = (v for _, _, v in walk(dict(arguments)) if isinstance(v, str) and len(v) >= _TEXT)
        return any(v in wanted for v in texts for wanted in self.wish.texts)

    def _in_wish(self, origin: Origin) -> bool:
        texts = Places(self.wish.texts, now=self.places.now, tag=self.places.tag)
        return texts.said(origin.value, origin.kind)

    def _origin(
        self, d: Directing, function: FunctionInfo, arguments: Mapping[str, Any]
    ) -> Origin | None:
        """The value's origin; None where it directs nothing after all."""
        if d.kind == "when" and taking_up.agrees_on_the_day(d, self.wish, self.places.now):
            return None
        if self.places.said(d.value, d.kind):
            return _found(d, "user")
        fields = self.places.structured(d.value)
        sections = self.places.skeleton.get(normal(d.value), ())
        if not d.inside and taking_up.taken_up(
            d, function, (*fields, *sections), self.places, self.wish, self.replies, arguments
        ):
            return _found(d, "taken_up", fields or sections)
        if fields:
            newest = min(f.turn for f in fields)
            return _found(d, "earlier" if newest else "this_turn", fields)
        return self._of_text(d)

    def _of_text(self, d: Directing) -> Origin:
        """The origin of a value that is nobody's field."""
        if source := self.places.in_text(d.value):
            return Origin(d.path, d.name, d.kind, d.value, "free_text", source.app_id)
        if source := self.places.in_skeleton(d.value):
            return Origin(d.path, d.name, d.kind, d.value, "skeleton", source.app_id)
        described = self.places.in_description(d.value)
        return _found(d, "description" if described else "nowhere")

    def _carried_out(self, function: FunctionInfo, arguments: Mapping[str, Any]) -> Why | None:
        """A read that takes values of the session to somewhere the user did not name."""
        found = tuple(o for o in self.origins(function, arguments) if o.kind == "url")
        out = any(not o.his and self._carries(str(o.value), o.origin) for o in found)
        if not out and function.input_schema.get(OPEN_WORLD) is True:
            data = tuple(self._data_in(arguments))
            found, out = (*found, *data), bool(data)
        return Why(False, found) if out else None

    def _carries(self, url: str, origin: str) -> bool:
        """Whether a link brings values with it: a query, a login, a fragment, something of a
        result; or it was put together here, for it stands nowhere."""
        parts = urlsplit(url if "://" in url else f"//{url}")
        if parts.query or parts.username or parts.fragment or origin == "nowhere":
            return True
        return any(form in url.casefold() for form in self._telling if form != normal(url))

    @cached_property
    def _telling(self) -> tuple[str, ...]:
        """Fields of results that say something about the user and that he did not write."""
        return tuple(
            form
            for form, fields in self.places.fields.items()
            if len(form) >= _TELLING
            and any(c.isdigit() or c == "@" for c in form)
            and not self.places.said(fields[0].value)
        )

    def _data_in(self, arguments: Mapping[str, Any]) -> Iterator[Origin]:
        """Values of this session's results that stand in the arguments and are not the user's."""
        for path, text in arguments.items():
            if not isinstance(text, str):
                continue
            found = next((f for f in self._telling if f in text.casefold()), "")
            if found:
                app_id = self.places.fields[found][0].app_id
                yield Origin(path, path, "content", text, "this_turn", app_id)


_TELLING = 4
"""Characters of a value with a digit or an @ in it that tells something about the user."""


_TEXT = 8
"""Characters of a text that stands in a message for no other reason than to be used."""


def origins(step: Step, function: FunctionInfo, state: Moment) -> tuple[Origin, ...]:
    """The origin of every directing value of one step."""
    return Judge.of(state).origins(function, step.arguments)


def question_for(step: Step, function: FunctionInfo, state: Moment) -> Why | None:
    """Why one step has to be asked about; None where it is the user's own wish."""
    return Judge.of(state).why(function, step.arguments)


def _found(d: Directing, origin: OriginName, fields: tuple[Field, ...] = ()) -> Origin:
    first = fields[0] if fields else None
    return Origin(
        d.path,
        d.name,
        d.kind,
        d.value,
        origin,
        first.app_id if first else "",
        taking_up.label_of(first.record, d.value) if first else "",
    )


def _results(moment: Moment) -> Iterator[Source]:
    """This turn's results, then the remembered facts, the newest first, in real values."""
    for number, o in sorted(moment.outcomes.items(), reverse=True):
        told = o.summary if o.ok else o.error
        made = o.ok and o.action_type != "read"
        yield Source(o.app_id, o.fn_name, o.data, 0, told, o.arguments, number, made)
    for ago, turn in enumerate(reversed(moment.memory.turns), 1):
        for number, digest in reversed(list(enumerate(turn.digests))):
            function = moment.catalogue.function(digest.app_id, digest.fn_name)
            made = function is not None and function.action_type != "read"
            for text in (digest.data_facts_json, digest.args_json):
                if text:
                    data = unmasked_json(text, moment.masker)
                    name = digest.fn_name
                    yield Source(digest.app_id, name, data, ago, number=number, made=made)


def _descriptions(catalogue: Catalogue) -> tuple[str, ...]:
    return tuple(f"{f.description}" for app in catalogue.apps.values() for f in app.functions)
