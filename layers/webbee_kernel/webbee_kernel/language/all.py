"""Everything the languages' files say, worked out once: what a build asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import signature

from ..base.compiled import asked
from .calendars import names
from .files import of, people, people_keys, people_phrases
from .model import People
from .registry import tags
from .words import Mapped, Role, Words


def make_known() -> None:
    """Ask each language for each role of its words and its calendar, and each `kept` function that
    takes no more than a language for all of them."""
    for language in map(of, tags()):
        for role, kind in vars(Words).items():
            if isinstance(kind, Role | Mapped):
                getattr(language.words, role)
        names(language)
    for field in fields(People):
        for make in (people, people_keys, people_phrases):
            make(field.name)
    for function in tuple(asked):
        _ask(function)


def _ask(function: Callable[..., object]) -> None:
    takes = list(signature(function).parameters)
    if takes == ["tag"]:
        for tag in tags():
            function(tag)
    elif not takes:
        function()
