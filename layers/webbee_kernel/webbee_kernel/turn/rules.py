"""Rules: the operator's policy and the apps' own rules as prompt blocks that are stable across
turns. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter

from ..catalogue import MAX_RULES, AppInfo, PerObject
from ..text import cut, fair_shares, one_line

MAX_DESCRIPTION = 300
"""Characters of an app's description: about two sentences."""

MAX_APPS = 12_000
"""Characters of all apps together, less than the catalogue may take (tool_retrieval.BUDGET):
eight apps with full rules, hundreds with a description. Beyond it every app gets a fair share."""

MAX_INDEX = 120
"""Characters of an app's description in the index; with more, fifty apps would take as much of a
prompt as the functions."""


@lru_cache(maxsize=8)
def policy_block(policy: str) -> str:
    """`[POLICY]` and the operator's text, line by line; empty without one."""
    lines = [one_line(line) for line in policy.splitlines()]
    return "\n".join(["[POLICY]", *(line for line in lines if line)]) if any(lines) else ""


def apps_block(apps: Iterable[AppInfo], *, index: bool = False) -> str:
    """`[APPS]`, one line for each app with a description or rules, in a stable order and byte by
    byte the same for the same apps; empty for none.

    As an `index` every app has a line with its number of functions, which tells the model what to
    search. Otherwise a line ends with argument descriptions shared by its functions, which are
    never cut.
    """
    # an app that did not load has no function that could be called
    pairs = [(_line(a, index), a) for a in sorted(apps, key=attrgetter("app_id")) if not a.error]
    argument_texts = ["" if index else arguments(app) for _, app in pairs]
    shares = fair_shares([len(line) + 1 if line else 0 for line, _ in pairs], MAX_APPS)
    lines = map(_with_arguments, pairs, shares, argument_texts)
    shown = [line for line in lines if line]
    return "\n".join(["[APPS]", *shown]) if shown else ""


def _with_arguments(known: tuple[str, AppInfo], share: int, more: str) -> str:
    """An app's line within its share, followed by the part that is never cut."""
    line, app = known
    if line:
        return f"{cut(line, share - 1)}{more}"
    return f"- {app.app_id}:{more}" if more else ""


def _line(app: AppInfo, index: bool) -> str:
    """`- mail (Mail): Reads and sends mail. Rules: …`; empty without texts, except in the
    index."""
    about, rules = _about(app)
    parts = [part for part in (about, rules) if part]
    if index:
        first = cut(about.partition(". ")[0], MAX_INDEX)
        parts = [part for part in (f"{len(app.functions)} functions.", first, rules) if part]
    name = app.display_name
    called = f" ({one_line(name, 60)})" if name and name != app.app_id else ""
    return f"- {app.app_id}{called}: {' '.join(parts)}" if parts else ""


def _read_about(app: AppInfo) -> tuple[str, str]:
    about = app.description
    if app.lead_text and app.lead_text.strip() not in about:
        about = f"{about} {app.lead_text}"
    rules = f"Rules: {one_line(app.rules, MAX_RULES)}" if app.rules.strip() else ""
    return one_line(about, MAX_DESCRIPTION), rules


def _read_arguments(app: AppInfo) -> str:
    described = (f"{name}: {one_line(text).rstrip('.')}" for name, text in app.arguments.items())
    told = "; ".join(described)
    return f" Arguments: {told}." if told else ""


_about = PerObject(_read_about)
arguments = PerObject(_read_arguments)
"""Argument descriptions shared by several functions of an app."""
