"""`webbee restore`: the items of a restored table, copied back into the stack's own, with the
operator's own AWS credentials."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from .people import clients, table_names
from .show import CliError, put_json

Item = dict[str, Any]
LEFT = "changed since, left as they are (--overwrite takes the restored ones)"


def restore(options: argparse.Namespace) -> int:
    """Put what the restored table has and the stack's own has not; with `--overwrite` also what
    has changed. May be repeated: an item that is there already is left alone."""
    aws = clients()
    dynamodb, target = aws("dynamodb"), table_names(options.stack, aws)[options.table]
    if options.source == target:
        raise CliError(f"{target} is the stack's own table: name the one that was restored")
    counts: Counter[str] = Counter()
    try:
        for item in _items(dynamodb, options):
            counts[_copied(dynamodb, target, item, options)] += 1
    except (ClientError, BotoCoreError) as error:
        done = ", ".join(f"{number} {what}" for what, number in counts.items()) or "nothing yet"
        raise CliError(f"{error} – {done}; run it again to go on") from None
    if options.json:
        put_json({"table": target, "dry_run": options.dry_run, **counts})
        return 0
    for what, number in sorted(counts.items()):
        print(f"{number:>8} {what}")
    if not counts:
        print(f"nothing of that is in {options.source}")
    return 0


def _items(dynamodb: Any, options: argparse.Namespace) -> Iterator[Item]:
    """What is to come back, read whole: a tenant's or a user's keys are not side by side."""
    pages = dynamodb.get_paginator("scan").paginate(TableName=options.source, ConsistentRead=True)
    now = time.time()
    for page in pages:
        for item in page["Items"]:
            expires = float(item.get("expires_at", {}).get("N", "inf"))
            if expires > now and _is_wanted(item["pk"]["S"], options):
                yield item


def _is_wanted(pk: str, options: argparse.Namespace) -> bool:
    """Every partition key begins with `tenant#user`."""
    tenant, _, rest = pk.partition("#")
    user = rest.partition("#")[0]
    return options.tenant in ("", tenant) and options.user in ("", user)


def _copied(dynamodb: Any, target: str, item: Item, options: argparse.Namespace) -> str:
    """What became of an item, in words; with `--dry-run` what would."""
    key = {name: item[name] for name in ("pk", "sk")}
    found: Mapping[str, Any] = dynamodb.get_item(TableName=target, Key=key, ConsistentRead=True)
    there = found.get("Item")
    if there == item:
        return "there already"
    if there and not options.overwrite:
        return LEFT
    told = "changed since, taken back" if there else "were missing"
    if options.dry_run:
        return f"{told} – not yet written"
    # Somebody may write it meanwhile: what was missing is put where it still is.
    condition = {} if there else {"ConditionExpression": "attribute_not_exists(pk)"}
    try:
        dynamodb.put_item(TableName=target, Item=item, **condition)
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return LEFT
    return told
