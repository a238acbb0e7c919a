"""`webbee export`, `erase`, `restore`: one person's data and a table's lost items, with the
operator's own AWS credentials."""

from __future__ import annotations

import argparse
import asyncio
import functools
import time
from collections import Counter
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from webbee_kernel.aws.parameters import SsmSecretStore
from webbee_kernel.config import ALL_TABLES
from webbee_kernel.errors import KernelError
from webbee_kernel.extensions.redaction import redact
from webbee_kernel.stores.dynamodb import Database
from webbee_kernel.stores.dynamodb.personal_data import PersonalData
from webbee_kernel.stores.dynamodb.user_items import ConnectionStore
from webbee_kernel.types import UserKey

from ..deployability import Clients, named, session
from ..project import folder_of_extensions
from ..terminal import CliError, tell

T = TypeVar("T")
Item = dict[str, Any]
AUDIT_S = 365 * 86_400
"""Seconds for which the record of an erasure is kept."""


def export(options: argparse.Namespace) -> int:
    """Write everything that is kept of a person to a file, a line of JSON each; a new file is its
    owner's alone."""
    belongings, _ = _kept_of(options)
    lines, cursor = _asked(belongings.export())
    while cursor is not None:
        more, cursor = _asked(belongings.export(cursor))
        lines += more
    Path(options.into).touch(mode=0o600)
    Path(options.into).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    told = f"{len(lines)} lines in {options.into}"
    tell(options, {"lines": len(lines), "file": options.into}, [told])
    return 0


def erase(options: argparse.Namespace) -> int:
    """Erase everything that is kept of a person. Asks first; may be repeated."""
    belongings, connections = _kept_of(options)
    who = f"{options.user} of tenant {options.tenant}"
    if not options.yes and not options.json:
        said = input(f"Erase everything that is kept of {who} in {options.stack}? (yes/no) ")
        if said.strip().lower() != "yes":
            print("nothing was erased")
            return 1
    now = time.time()
    _asked(connections.forget(UserKey(options.tenant, options.user)))
    erased = _asked(belongings.erase(now=now, in_time=lambda: True, expires_at=int(now) + AUDIT_S))
    lines = [f"{number:>6} {kind}" for kind, number in sorted(erased.counts.items())]
    lines += [f"nothing is left of {who}" if erased.counts else f"nothing was kept of {who}"]
    tell(options, {"done": erased.done, "counts": dict(erased.counts)}, lines)
    return 0


def _kept_of(options: argparse.Namespace) -> tuple[PersonalData, ConnectionStore]:
    """What a stack keeps of a person, and the connections of the person's open pages."""
    user, aws = UserKey(options.tenant, options.user), clients()
    tables, database = table_names(options.stack, aws), Database(aws)
    apps = {main.parent.name for main in folder_of_extensions().glob("*/main.py")}
    vault = SsmSecretStore(f"/webbee/{options.stack}", aws)
    kept = PersonalData(database, tables, vault, user, apps | set(options.app), redact)
    return kept, ConnectionStore(database, tables["connections"])


def table_names(stack: str, aws: Clients) -> dict[str, str]:
    """Names by noun, from the stack's outputs."""
    try:
        (found,) = aws("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except (ClientError, BotoCoreError) as error:
        raise CliError(f"the stack {stack} cannot be read: {error}") from None
    outputs = {o["OutputKey"]: o["OutputValue"] for o in found.get("Outputs", [])}
    names = {noun: outputs.get(f"{noun.capitalize()}TableName", "") for noun in ALL_TABLES}
    if missing := [noun for noun, name in names.items() if not name]:
        raise CliError(f"the stack {stack} has no table for {', '.join(missing)}: deploy it anew")
    return names


def clients() -> Clients:
    """boto3's clients by service, in the one region of the shell."""
    try:
        return functools.cache(session(named()).client)
    except LookupError as error:
        raise CliError(str(error)) from None


def _asked(work: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(work)
    except (KernelError, ValueError) as error:
        raise CliError(str(error)) from None


def restore(options: argparse.Namespace) -> int:
    """Put what the restored table has and the stack's own has not; with `--overwrite` all that it
    has. May be repeated."""
    aws = clients()
    dynamodb, target = aws("dynamodb"), table_names(options.stack, aws)[options.table]
    if options.source == target:
        raise CliError(f"{target} is the stack's own table: name the one that was restored")
    # Somebody may write meanwhile: what was missing is put where it still is.
    missing = {"ConditionExpression": "attribute_not_exists(pk)"}
    counts = Counter(written=0, left=0)
    try:
        for item in _items(dynamodb, options):
            try:
                condition = {} if options.overwrite else missing
                dynamodb.put_item(TableName=target, Item=item, **condition)
                counts["written"] += 1
            except dynamodb.exceptions.ConditionalCheckFailedException:
                counts["left"] += 1
    except (ClientError, BotoCoreError) as error:
        told = f"{error} – {counts['written']} written; run it again to go on"
        raise CliError(told) from None
    lines = [f"{counts['written']:>8} written", f"{counts['left']:>8} left as they are"]
    tell(options, {"table": target, **counts}, lines)
    return 0


def _items(dynamodb: Any, options: argparse.Namespace) -> Iterator[Item]:
    """What is to come back, read whole: a tenant's or a user's keys, which begin with
    `tenant#user`, are not side by side."""
    pages = dynamodb.get_paginator("scan").paginate(TableName=options.source, ConsistentRead=True)
    now = time.time()
    for page in pages:
        for item in page["Items"]:
            tenant, user = f"{item['pk']['S']}#".split("#")[:2]
            expires = float(item.get("expires_at", {}).get("N", "inf"))
            if expires > now and options.tenant in ("", tenant) and options.user in ("", user):
                yield item
