"""`python -m local.openapi`: write `docs/openapi.json` from the routes of `chat_turn`."""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from webbee_kernel.api.chat_turn import ChatService
from webbee_kernel.api.endpoint import Handler, Route
from webbee_kernel.api.openapi import document
from webbee_kernel.bootstrap import bootstrap, make_kernel
from webbee_kernel.config import Settings
from webbee_kernel.extensions.registry import Registry
from webbee_kernel.stores.memory import memory_stores

PATH = Path(__file__).resolve().parent.parent / "docs" / "openapi.json"


def all_routes() -> dict[Route, Handler]:
    """Every route with its handler, of a service that has no extensions and stores nothing."""
    settings = Settings.from_env({})
    app = bootstrap(settings, stores=memory_stores())
    kernel = make_kernel(app, registry=Registry({}))
    return ChatService(settings, app=app, kernel=kernel).router.handlers


def text() -> str:
    """The document as the file holds it."""
    return orjson.dumps(document(all_routes()), option=orjson.OPT_INDENT_2).decode() + "\n"


def main() -> int:
    """Write the file."""
    PATH.write_text(text(), encoding="utf-8")
    print(f"wrote {PATH.relative_to(PATH.parent.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
