"""The local deployment with the three extensions, `showcase` and one that does not load, in a
process of its own: prints its address, ends with its input. The port may be given."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from local.world import local_world, prepare

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Serve until standard input closes."""
    with tempfile.TemporaryDirectory() as folder:
        for app in (
            *(ROOT / "extensions" / name for name in ("mail", "tasks", "notes")),
            *(Path(__file__).parent / "extensions" / name for name in ("showcase", "broken")),
        ):
            (Path(folder) / app.name).symlink_to(app)
        port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
        prices = '{"offline": {"input": 3, "output": 15, "cached": 0.3}}'
        env = {
            "WEBBEE_EXTENSIONS_DIR": folder,
            "WEBBEE_MODEL_PRICES": prices,
            "WEBBEE_CALL_SECONDS": "120",  # a busy machine's
        }
        with local_world(port=port, env=env) as world:
            prepare(world)
            world.keep_fresh()
            print(world.url, flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
