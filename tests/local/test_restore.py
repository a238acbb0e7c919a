"""`webbee restore`: a table that was restored beside the stack's own gives back what is missing."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from local.aws import local_aws
from local.template import create_tables, load_template
from tests.local.conftest import stack_of_the_tables

RESTORED = "StoreTable-restored"
Restore = Callable[..., dict[str, Any]]


def document(user: str, name: str, text: str, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": f"{user}#notes"}, "sk": {"S": name}, "data": {"S": text}, **more}


ALICE = [document("acme#alice", f"notes#{n}", f"as it was {n}") for n in range(30)]
BOB = [document("acme#bob", "notes#1", "Bob's"), document("umbrella#bob", "notes#1", "other")]
EXPIRED = document("acme#alice", "old", "gone by now", expires_at={"N": "1000"})
LASTING = document("acme#alice", "new", "still", expires_at={"N": str(int(time.time()) + 9_999)})


@pytest.fixture
def tables() -> Iterator[Any]:
    """A stack, and its table of documents restored to when it was not empty."""
    with local_aws():
        client = boto3.client("dynamodb")
        template = load_template()
        create_tables(client, template)
        store = template["Resources"]["StoreTable"]["Properties"]
        keys = [d for d in store["AttributeDefinitions"] if d["AttributeName"] in ("pk", "sk")]
        like = {"KeySchema": store["KeySchema"], "AttributeDefinitions": keys}
        client.create_table(TableName=RESTORED, BillingMode="PAY_PER_REQUEST", **like)
        for item in [*ALICE, *BOB, EXPIRED, LASTING]:
            client.put_item(TableName=RESTORED, Item=item)
        stack_of_the_tables("webbee")
        yield client


@pytest.fixture
def restore(tables: Any, command: Callable[..., tuple[str, str]]) -> Restore:
    def run(*options: str) -> dict[str, Any]:
        words = ("restore", "store", "--from", RESTORED, "--json", *options)
        found: dict[str, Any] = json.loads(command(*words)[0])
        assert found.pop("table") == "StoreTable"
        return found

    return run


def documents(tables: Any) -> list[dict[str, Any]]:
    return in_order(tables.scan(TableName="StoreTable")["Items"])


def in_order(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


def test_what_is_missing_comes_back_less_what_expired(tables: Any, restore: Restore) -> None:
    assert restore() == {"written": 33, "left": 0}
    assert documents(tables) == in_order([*ALICE, *BOB, LASTING])
    assert restore() == {"written": 0, "left": 33}


def test_what_has_changed_is_taken_back_only_when_asked(tables: Any, restore: Restore) -> None:
    changed = document("acme#alice", "notes#3", "what she wrote since")
    tables.put_item(TableName="StoreTable", Item=changed)
    assert restore() == {"written": 32, "left": 1}
    assert changed in documents(tables)
    restore("--overwrite")
    assert documents(tables) == in_order([*ALICE, *BOB, LASTING])


def test_one_persons_items_are_nobody_elses(tables: Any, restore: Restore) -> None:
    assert restore("--tenant", "acme", "--user", "bob")["written"] == 1
    assert documents(tables) == BOB[:1]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("StoreTable", "name the one that was restored"),
        ("nowhere", "0 written; run it again to go on"),
    ],
)
def test_a_table_that_is_none_that_was_restored_is_told_and_nothing_was_done(
    tables: Any, command: Callable[..., tuple[str, str]], table: str, told: str
) -> None:
    assert told in command("restore", "store", "--from", table, ends=1)[1]
    assert documents(tables) == []
