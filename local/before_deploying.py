"""`python -m local.before_deploying NAME=VALUE … [-- …]` prints the region of a deployment, or says
what is missing before anything is built; what stands behind `--` is for `sam deploy`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .parameters import wrong
from .region import credentials, named


def main(arguments: Sequence[str]) -> int:
    """Print the region; 1 with a sentence for each thing that is missing or refused."""
    own = arguments.index("--") if "--" in arguments else len(arguments)
    missing = wrong(arguments[:own])
    region = ""
    try:
        region = named()
        if "--profile" not in arguments[own:]:
            credentials()
    except LookupError as error:
        missing.append(str(error))
    print(*missing, sep="\n", file=sys.stderr) if missing else print(region)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
