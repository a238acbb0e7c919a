"""Rules: what the operator and the apps' authors ask of the models, as blocks that stay the same
from turn to turn. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ..base.shares import fair_shares
from ..base.text import cut, one_line
from ..catalogue import MAX_RULES, AppInfo

MAX_ABOUT = 300
"""Characters of an app's description: two sentences, as long as a store's listing shows."""

MAX_APPS = 12_000
"""Characters of all apps together, half of what the catalogue may take (shortlist.BUDGET): eight
apps with full rules, hundreds with a description. Beyond it every app gets a fair share."""


@lru_cache(maxsize=8)
def policy_block(policy: str) -> str:
    """`[POLICY]` and the operator's text, line by line; empty without one."""
    lines = [one_line(line) for line in policy.splitlines()]
    return "\n".join(["[POLICY]", *(line for line in lines if line)]) if any(lines) else ""


def apps_block(apps: Iterable[AppInfo]) -> str:
    """`[APPS]`, one line for each app that says anything of itself, in a stable order: the same
    apps give the same bytes. Empty where none does."""
    said = {a.app_id: (a.display_name, a.description, a.rules) for a in apps if not a.error}
    return _apps_block(tuple((app_id, *said[app_id]) for app_id in sorted(said)))


@lru_cache(maxsize=256)
def _apps_block(apps: tuple[tuple[str, str, str, str], ...]) -> str:
    lines = [_line(*app) for app in apps if app[2].strip() or app[3].strip()]
    shares = fair_shares([len(line) + 1 for line in lines], MAX_APPS)
    shown = [cut(line, share - 1) for line, share in zip(lines, shares, strict=True)]
    return "\n".join(["[APPS]", *shown]) if shown else ""


def _line(app_id: str, name: str, about: str, rules: str) -> str:
    """`- mail (Mail): Reads and sends mail. Rules: …`, whatever the texts hold."""
    called = f" ({one_line(name, 60)})" if name and name != app_id else ""
    parts = [one_line(about, MAX_ABOUT)]
    if rules.strip():
        parts.append(f"Rules: {one_line(rules, MAX_RULES)}")
    return f"- {app_id}{called}: {' '.join(p for p in parts if p)}"
