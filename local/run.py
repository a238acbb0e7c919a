"""`make run`: the whole deployment on one machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import threading

from webbee_kernel.bootstrap import make_model
from webbee_kernel.config import Settings
from webbee_kernel.errors import SettingsError

from .client import Client
from .gateway import TOKENS
from .paint import paint
from .world import World, local_world


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted; 1 when the port is taken."""
    parser = argparse.ArgumentParser(prog="make run", description="Serve the API, mail servers and refresh loop on this machine.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--model", default="offline", help="offline, bedrock:<id> or openai:<base-url>#<model>")
    options = parser.parse_args(arguments)
    try:
        make_model(Settings.from_env({"WEBBEE_MODEL": options.model}))
    except SettingsError as error:
        parser.error(f"--model {options.model}: {error}")
    print("starting …", flush=True)
    try:
        with local_world(host=options.host, port=options.port, model=options.model) as world:
            prepare(world)
            world.keep_fresh()
            print(welcome(world.url), flush=True)
            threading.Event().wait()
    except OSError as error:
        print(f"cannot listen on {options.host}:{options.port} ({error.strerror}): make run PORT=8001", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; nothing of this run is kept")
    return 0


def prepare(world: World) -> None:
    """Give the ready users their apps and the demo mailbox."""
    for token in TOKENS:
        client = Client(world.url, token)
        client.put("/v1/extensions/mail/secrets/accounts", {"value": world.mail.accounts_secret("demo")})
        for app in client.get("/v1/extensions")["extensions"]:
            client.put(f"/v1/extensions/{app['app_id']}/installation")


def welcome(url: str) -> str:
    """What to type next."""
    chat = f"""curl -s {url}/v1/chat -H 'Authorization: Bearer alice' -d '{{"message": "покажи письма за сегодня", "session_id": "s1"}}'"""
    again = f"""curl -s {url}/v1/chat -H 'Authorization: Bearer alice' -d '{{"message": "отправь на тот же адрес «статус по проекту»", "session_id": "s1"}}'"""
    inspect = f"curl -sG {url}/v1/inspect -H 'Authorization: Bearer dev' --data-urlencode 'message=show my tasks'"
    lines = [
        paint(f"Webbee listens on {url}: open it in a browser", "bold"),
        "Users: alice (Russian), bob (English), dev (developer, English); their mailbox is a demo account on this machine.",
        "",
        paint("Chat:", "bold"),
        "  " + chat,
        "  " + again,
        paint("What the model would read:", "bold"),
        "  " + inspect,
        "",
        "Ctrl-C stops it.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
