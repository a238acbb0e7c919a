"""The local deployment in a process of its own: its extensions' folder, its port and its model are
given, and a last argument where people sign in at an issuer. It prints its address, and the issuer's;
it ends with its input."""

import sys
from contextlib import ExitStack
from typing import Any

from local.world import local_world, prepare
from tests.stand_ins.sign_in import PAGE_CLIENT, issuer


def main() -> None:
    folder, port, model, *signing_in = sys.argv[1:]
    with ExitStack() as held:
        env, more, addresses = {"WEBBEE_EXTENSIONS_DIR": folder}, dict[str, Any](), list[str]()
        if signing_in:
            running = held.enter_context(issuer())
            env |= {"WEBBEE_ISSUER": running.address, "WEBBEE_SIGN_IN_CLIENT": PAGE_CLIENT}
            more["tokens"] = running.tokens
            addresses = [running.address]
        served = local_world(port=int(port), model=model, env=env, prepare=prepare, **more)
        world = held.enter_context(served)
        world.keep_fresh()
        print(world.url, *addresses, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
