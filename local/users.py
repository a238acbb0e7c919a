"""The ready users of `make run`: the demo mailbox, every app that loaded, a first snapshot of each
section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from .gateway import TOKENS
from .stack import http_event
from .world import World

FIRST_REFRESH_S = 5.0
"""Seconds the first refresh may hold up the start; a slower section appears when it is there."""


def prepare(world: World) -> None:
    """Give the users their apps and their mail, straight through the functions: the API need not
    listen yet."""
    for claims in TOKENS.values():
        there = [a for a in _extensions(world, claims) if not a["error"] and a["installed"]]
        apps = [a["app_id"] for a in there]  # an app taken away in an earlier run stays away
        if "mail" in apps and _has_demo_accounts(world, claims):
            secret = {"value": world.mail.accounts_secret("demo")}
            _send(
                world,
                "chat_turn",
                "PUT",
                "/v1/extensions/mail/secrets/accounts",
                claims,
                secret,
            )
        for app_id in apps:
            _send(world, "chat_turn", "PUT", f"/v1/extensions/{app_id}/installation", claims)


def _has_demo_accounts(world: World, claims: Mapping[str, str]) -> bool:
    """Whether the user reads the demo mailbox, and not accounts that an earlier run set."""
    whose = f"{claims['tenant_id']}/{claims['sub']}"
    return world.keeper is None or world.keeper.wants_demo_accounts(f"{whose}/mail/accounts")


def prepare_and_refresh(world: World) -> None:
    """The same, and a first refresh, so that the first message meets a world that has run for a
    while."""
    prepare(world)
    world.beside(world.refresh, "first-refresh").join(FIRST_REFRESH_S)


def failed(world: World) -> dict[str, str]:
    """Extensions that did not load, with their reasons."""
    return {a["app_id"]: a["error"] for a in _extensions(world, TOKENS["dev"]) if a["error"]}


def loaded(world: World) -> set[str]:
    """Ids of the extensions that loaded."""
    return {a["app_id"] for a in _extensions(world, TOKENS["dev"]) if not a["error"]}


def _extensions(world: World, claims: Mapping[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _send(world, "chat_turn", "GET", "/v1/extensions", claims)[
        "extensions"
    ]
    return found


def _send(
    world: World, function: str, method: str, path: str, claims: Mapping[str, str], body: Any = None
) -> Any:
    answer = world.stack.invoke(function, http_event(method, path, claims=claims, body=body))
    if answer["statusCode"] >= 400:
        raise RuntimeError(f"{method} {path}: {answer['body']}")
    return orjson.loads(answer["body"])
