"""The one region of a deployment: `python -m local.region` prints it, or says how to name one.

The order is the AWS command line's own: `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's. SAM has
only the last two, so `make deploy` passes what this finds to every command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping


def resolve(env: Mapping[str, str], profiles: str | None) -> str:
    """The region by name; `profiles` is that of the profile. LookupError where none is named."""
    found = env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or profiles
    if not found:
        raise LookupError(
            "no region is named: export AWS_REGION=eu-central-1 (or another with Lambda on arm64),"
            " or give the profile one with `aws configure set region eu-central-1`"
        )
    return found


def named() -> str:
    """The region of this shell. LookupError where none is named."""
    from botocore.session import Session

    return resolve(os.environ, Session().get_config_variable("region"))


def main() -> int:
    """Print it; 1 with a sentence where there is none."""
    try:
        print(named())
    except LookupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
