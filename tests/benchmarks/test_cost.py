"""The meter bills as AWS does (developer guide of DynamoDB: "Item sizes and formats", "Read and
write operations", "Using global secondary indexes in DynamoDB", "Amazon DynamoDB transactions"), and
docs/cost.md tells what a fresh count of units costs."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from benchmarks.cost import dollars, rounded
from benchmarks.meter import item_bytes, metered
from local.aws import REGION, local_aws
from tests.documents import ROOT


class Table:
    """A table with one index over everything (`by_at`) and one over keys alone (`by_mark`)."""

    def __init__(self, client: Any) -> None:
        self.client = client
        names = ("pk", "sk", "at", "mark")
        client.create_table(
            TableName="t",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
            KeySchema=keys("pk", "sk"),
            GlobalSecondaryIndexes=[
                {"IndexName": f"by_{n}", "KeySchema": keys(n), "Projection": {"ProjectionType": of}}
                for n, of in (("at", "ALL"), ("mark", "KEYS_ONLY"))
            ],
        )

    def ask(self, operation: str, **request: Any) -> tuple[float, float]:
        """What a request costs: read and write units."""
        with metered(self.client) as meter:
            getattr(self.client, operation)(**request)
        return meter.read_units, meter.write_units

    def put(self, sk: str, size: int, **more: str) -> tuple[float, float]:
        return self.ask("put_item", TableName="t", Item=item(sk, size, **more))

    def update(self, sk: str, expression: str, **values: str) -> tuple[float, float]:
        given = {f":{n}": {"S": v} for n, v in values.items()}
        more = {"ExpressionAttributeValues": given} if given else {}
        told = {"TableName": "t", "Key": key(sk), "UpdateExpression": expression}
        return self.ask("update_item", **told, **more)


def keys(*names: str) -> list[dict[str, str]]:
    kinds = zip(names, ("HASH", "RANGE"), strict=False)
    return [{"AttributeName": name, "KeyType": kind} for name, kind in kinds]


def key(sk: str) -> dict[str, Any]:
    return {"pk": {"S": "p"}, "sk": {"S": sk}}


def item(sk: str, size: int, **more: str) -> dict[str, Any]:
    """An item of this many bytes, apart from what is more."""
    bare = {**key(sk), "body": {"S": ""}}
    body = {"S": "x" * (size - item_bytes(bare))}
    return {**bare, "body": body, **{name: {"S": value} for name, value in more.items()}}


@pytest.fixture
def table() -> Iterator[Table]:
    with local_aws():
        yield Table(boto3.client("dynamodb", region_name=REGION))


def test_an_update_bills_the_larger_of_the_item_before_and_after_and_an_index_its_own_entry(
    table: Table,
) -> None:
    assert table.put("a", 3_000) == (0, 3)
    assert table.update("a", "SET n = :n", n="1") == (0, 3)
    assert table.update("a", "REMOVE body") == (0, 3)
    assert table.update("a", "SET body = :b", b="x" * 5_000) == (0, 5)
    assert table.ask("delete_item", TableName="t", Key=key("a")) == (0, 5)
    assert table.ask("delete_item", TableName="t", Key=key("a")) == (0, 1)
    assert table.put("a", 1_500, at="1") == (0, 2 + 2)
    assert table.update("a", "SET n = :n", n="1") == (0, 2 + 2)
    assert table.put("a", 1_500, at="2") == (0, 2 + 2 + 2)
    assert table.put("a", 1_500) == (0, 2 + 2)
    assert table.put("b", 1_500, mark="1") == (0, 2 + 1)
    assert table.update("b", "SET n = :n", n="1") == (0, 2), "an index of keys holds no body"
    assert table.update("b", "SET mark = :m", m="2") == (0, 2 + 2)


def test_a_count_bills_all_that_it_looked_at(table: Table) -> None:
    for n in range(10):
        table.put(f"s{n}", 1_000)
    asked: dict[str, Any] = {
        "TableName": "t",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "p"}},
    }
    assert table.ask("query", **asked, ConsistentRead=True) == (3, 0)
    assert table.ask("query", **asked) == (1.5, 0)
    assert table.ask("query", **asked, Select="COUNT") == (1.5, 0)
    assert table.ask("query", **asked, ProjectionExpression="sk") == (1.5, 0)


def test_a_transaction_costs_twice_and_a_refused_write_the_item_that_stood_there(
    table: Table,
) -> None:
    puts = [{"Put": {"TableName": "t", "Item": item(sk, 1_100)}} for sk in ("a", "b")]
    assert table.ask("transact_write_items", TransactItems=puts) == (0, 8)
    table.put("a", 2_500)
    new = "attribute_not_exists(pk)"
    refused = pytest.raises(Exception, match="ConditionalCheckFailed")
    with metered(table.client) as meter, refused:
        table.client.put_item(TableName="t", Item=key("a"), ConditionExpression=new)
    assert meter.write_units == 3


def test_items_are_as_large_as_the_guide_says() -> None:
    assert item_bytes({"ж": {"S": "ж"}}) == 4
    assert item_bytes({"n": {"N": "-12.50"}}) == 1 + 2 + 1
    assert item_bytes({"n": {"N": "1000000"}}) == 1 + 1 + 1
    assert item_bytes({"b": {"BOOL": True}}) == item_bytes({"b": {"NULL": True}}) == 2
    assert item_bytes({"l": {"L": [{"S": "abc"}]}}) == 1 + 3 + 1 + 3
    assert item_bytes({"m": {"M": {"k": {"S": "abc"}}}}) == 1 + 3 + 1 + 1 + 3


@pytest.fixture(scope="module")
def printed() -> str:
    """`make bench ARGS=cost`, in a process of its own: it takes the whole log."""
    command = [sys.executable, "-m", "benchmarks.cost"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_both_tables_of_the_page_are_those_printed_and_count_all_that_is_paid_by_use(
    printed: str,
) -> None:
    page = (ROOT / "docs" / "cost.md").read_text("utf-8")
    units, months = printed.strip().split("\n\n")
    assert units in page, units
    assert months in page, months
    [last] = [line for line in printed.splitlines() if line.startswith("| **a million")]
    assert last.count("$") == 4
    for words in ("WebSocket messages", "log MB", "SQS requests", "custom metrics", "alarms"):
        assert words in printed
    assert "900 minutes" in printed


def test_a_millions_price_is_the_sum_of_its_units_and_a_count_is_rounded_up() -> None:
    assert dollars({"http": 2, "messages": 3, "log_mb": 0.001}) == pytest.approx(2 + 3 + 0.5)
    told = {"writes": 11, "reads": 6.5, "log_mb": 0.002, "gb_seconds": 3.26}
    counted = {"writes": 10.8, "reads": 6.5, "log_mb": 0.00143, "gb_seconds": 3.26}
    assert rounded(counted) == told
