"""`webbee export` and `erase`: one person's data in a deployment, with the operator's own AWS
credentials."""

from __future__ import annotations

import argparse
import asyncio
import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from webbee_kernel.config import ALL_TABLES
from webbee_kernel.errors import KernelError
from webbee_kernel.stores.dynamodb import Database, DynamoDocumentStore
from webbee_kernel.stores.dynamodb.connections import DynamoConnectionStore
from webbee_kernel.stores.dynamodb.personal_data import Belongings, Export
from webbee_kernel.stores.secrets_ssm import SsmSecretStore
from webbee_kernel.types import UserKey

from ..project import ROOT
from ..region import named
from .show import CliError, put_json

AUDIT_S = 365 * 86_400
"""Seconds for which the record of an erasure is kept."""


def export(options: argparse.Namespace) -> int:
    """Write everything that is kept of a person to a file, a line of JSON each; a new file is its
    owner's alone."""
    user, belongings, tables = _find(options)
    documents = DynamoDocumentStore(Database(clients()), tables["store"])
    told = Export(belongings, documents, user)
    count = 0
    Path(options.into).touch(mode=0o600)
    with Path(options.into).open("w", encoding="utf-8") as file:
        for lines in _asked(_parts(told)):
            file.writelines(f"{line}\n" for line in lines)
            count += len(lines)
    if options.json:
        put_json({"lines": count, "file": options.into})
    else:
        print(f"{count} lines in {options.into}")
    return 0


def erase(options: argparse.Namespace) -> int:
    """Erase everything that is kept of a person. Asks first; may be repeated."""
    user, belongings, tables = _find(options)
    who = f"{user.imperal_id} of tenant {user.tenant_id}"
    if not options.yes and not options.json:
        said = input(f"Erase everything that is kept of {who} in {options.stack}? (yes/no) ")
        if said.strip().lower() != "yes":
            print("nothing was erased")
            return 1
    now = time.time()
    connections = DynamoConnectionStore(Database(clients()), tables["connections"])
    list(_asked(_one(connections.forget(user))))
    (erased,) = _asked(
        _one(belongings.erase(now=now, in_time=lambda: True, expires_at=int(now) + AUDIT_S))
    )
    if options.json:
        put_json({"done": erased.done, "counts": dict(erased.counts)})
    else:
        for kind, number in sorted(erased.counts.items()):
            print(f"{number:>6} {kind}")
        print(f"nothing is left of {who}" if erased.counts else f"nothing was kept of {who}")
    return 0


def _find(options: argparse.Namespace) -> tuple[UserKey, Belongings, dict[str, str]]:
    user = UserKey(options.tenant, options.user)
    aws = clients()
    tables = table_names(options.stack, aws)
    apps = {p.name for p in (ROOT / "extensions").iterdir() if (p / "main.py").exists()}
    secrets = SsmSecretStore(f"/webbee/{options.stack}", aws)
    database = Database(aws)
    return user, Belongings(database, tables, secrets, user, apps | set(options.app)), tables


def table_names(stack: str, aws: Callable[[str], Any]) -> dict[str, str]:
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


def clients() -> Callable[[str], Any]:
    """boto3's clients by service, in the one region of the shell."""
    try:
        make: Any = boto3.Session(region_name=named()).client
    except LookupError as error:
        raise CliError(str(error)) from None
    return functools.cache(lambda service: make(service))


async def _parts(told: Export) -> list[list[str]]:
    parts, cursor = [], None
    while True:
        lines, cursor = await told.part(cursor)
        parts.append(lines)
        if cursor is None:
            return parts


async def _one(work: Any) -> list[Any]:
    return [await work]


def _asked(work: Any) -> Iterator[Any]:
    try:
        yield from asyncio.run(work)
    except (KernelError, ValueError) as error:
        raise CliError(str(error)) from None
