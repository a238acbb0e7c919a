"""The account of a deployment: its one region and its credentials, or how to name them.

The order of regions is the AWS command line's own: `AWS_REGION`, `AWS_DEFAULT_REGION`, the
profile's. SAM has only the last two, so `make deploy` passes what this finds to every command.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


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
    """The region of this shell. LookupError where none is named, or the profile is not there."""
    return resolve(os.environ, _session().get_config_variable("region"))


def credentials() -> str:
    """By what way the shell's credentials are found. LookupError where there are none."""
    found = _session().get_credentials()
    if not found:
        raise LookupError("no AWS credentials: set AWS_PROFILE, or run `aws configure`")
    return str(found.method)


def _session() -> Any:
    from botocore.exceptions import ProfileNotFound
    from botocore.session import Session

    session = Session()
    try:
        session.get_scoped_config()
    except ProfileNotFound as error:
        raise LookupError(f"{error}: AWS_PROFILE names it") from None
    return session
