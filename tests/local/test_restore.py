"""`webbee restore`: a table that was restored beside the stack's own gives back what is missing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from local import webbee
from local.aws import local_aws
from local.template import create_tables, load_template
from webbee_kernel.config import ALL_TABLES

RESTORED = "StoreTable-restored"
Restore = Callable[..., dict[str, Any]]


def document(user: str, name: str, text: str, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": f"{user}#notes"}, "sk": {"S": name}, "data": {"S": text}, **more}


ALICE = [document("acme#alice", f"notes#{n}", f"as it was {n}") for n in range(30)]
BOB = [document("acme#bob", "notes#1", "Bob's"), document("umbrella#bob", "notes#1", "other")]
EXPIRED = document("acme#alice", "old", "gone by now", expires_at={"N": "1000"})
LASTING = document("acme#alice", "new", "still", expires_at={"N": str(int(time.time()) + 9_999)})


@pytest.fixture(scope="module")
def stack() -> Iterator[Any]:
    """A stack, and its table of documents restored to when it was not empty."""
    with local_aws():
        client = boto3.client("dynamodb")
        template = load_template()
        create_tables(client, template)
        store = template["Resources"]["StoreTable"]["Properties"]
        client.create_table(
            TableName=RESTORED,
            KeySchema=store["KeySchema"],
            AttributeDefinitions=[
                d for d in store["AttributeDefinitions"] if d["AttributeName"] in ("pk", "sk")
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        for item in [*ALICE, *BOB, EXPIRED, LASTING]:
            client.put_item(TableName=RESTORED, Item=item)
        outputs = {
            f"{noun.capitalize()}TableName": {"Value": f"{noun.capitalize()}Table"}
            for noun in ALL_TABLES
        }
        body = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}, "Outputs": outputs}
        boto3.client("cloudformation").create_stack(
            StackName="webbee", TemplateBody=json.dumps(body)
        )
        yield client


@pytest.fixture
def tables(stack: Any) -> Iterator[Any]:
    """The same with an empty table of documents."""
    yield stack
    for item in documents(stack):
        stack.delete_item(TableName="StoreTable", Key={name: item[name] for name in ("pk", "sk")})


@pytest.fixture
def restore(tables: Any, capsys: pytest.CaptureFixture[str]) -> Restore:
    def run(*options: str) -> dict[str, Any]:
        arguments = ["restore", "store", "--from", RESTORED, "--json", *options]
        assert webbee.main(arguments) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert found.pop("table") == "StoreTable"
        return found

    return run


def documents(tables: Any) -> list[dict[str, Any]]:
    return in_order(tables.scan(TableName="StoreTable")["Items"])


def in_order(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


def test_what_is_missing_comes_back_as_it_was_less_what_expired(
    tables: Any, restore: Restore
) -> None:
    assert restore() == {"dry_run": False, "were missing": 33}
    assert documents(tables) == in_order([*ALICE, *BOB, LASTING])
    assert restore() == {"dry_run": False, "there already": 33}


def test_what_has_changed_since_is_taken_back_only_where_that_is_asked(
    tables: Any, restore: Restore
) -> None:
    changed = document("acme#alice", "notes#3", "what she wrote since")
    tables.put_item(TableName="StoreTable", Item=changed)
    [left] = [what for what in restore() if what.startswith("changed")]
    assert "left as they are" in left
    assert changed in documents(tables)
    assert restore("--overwrite")["changed since, taken back"] == 1
    assert documents(tables) == in_order([*ALICE, *BOB, LASTING])


def test_one_persons_items_are_nobody_elses(tables: Any, restore: Restore) -> None:
    assert restore("--tenant", "acme", "--user", "bob")["were missing"] == 1
    assert documents(tables) == BOB[:1]


def test_a_dry_run_writes_nothing(tables: Any, restore: Restore) -> None:
    assert restore("--dry-run") == {"dry_run": True, "were missing – not yet written": 33}
    assert documents(tables) == []


def test_the_stacks_own_table_is_no_restored_one(
    tables: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert webbee.main(["restore", "store", "--from", "StoreTable"]) == 1
    assert "name the one that was restored" in capsys.readouterr().err


def test_a_table_that_is_not_there_is_told_and_nothing_was_done(
    tables: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert webbee.main(["restore", "store", "--from", "nowhere"]) == 1
    assert "nothing yet; run it again to go on" in capsys.readouterr().err
    assert documents(tables) == []


def test_every_table_can_be_named() -> None:
    assert sorted(webbee.TABLES) == sorted(ALL_TABLES)
