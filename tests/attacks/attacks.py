"""What extension code that finds the kernel's client goes for: service, operation, request."""

from typing import Any

Attack = tuple[str, str, dict[str, Any]]


def on(table: str, operation: str, **request: Any) -> Attack:
    return "dynamodb", operation, {"TableName": table, **request}


def parameter(whose: str) -> Attack:
    """The mail password of somebody: tenant and user."""
    return "ssm", "get_parameter", {"Name": f"/webbee/webbee/{whose}/mail/password"}


def key(pk: str, sk: str = "note#1") -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


KEY = key("umbrella#bob#notes")
FORGED = {**key("umbrella#bob", "call#1"), "body": {"S": "{}"}}
INSTALLED = key("acme#alice#_kernel", "installations#thief")
OWN = key("acme#alice", "call#1")
OWN_RECORD = {**OWN, "body": {"S": "{}"}}
ATTACKS: dict[str, Attack] = {
    "reads another tenant's document": on("StoreTable", "get_item", Key=KEY),
    "deletes it": on("StoreTable", "delete_item", Key=KEY),
    "lists its users": on(
        *("StoreTable", "query"),
        IndexName="users",
        KeyConditionExpression="users_key = :k",
        ExpressionAttributeValues={":k": {"S": "umbrella#notes#note"}},
    ),
    "scans": on("StoreTable", "scan"),
    "reads its cache": on("CacheTable", "get_item", Key=KEY),
    "overwrites an audit record": on("AuditTable", "put_item", Item=FORGED),
    "overwrites an audit record of its own": on("AuditTable", "put_item", Item=OWN_RECORD),
    "deletes an audit record": on("AuditTable", "delete_item", Key=OWN),
    "forges an event": on("EventsTable", "put_item", Item=FORGED),
    "writes a skeleton": on("SkeletonTable", "put_item", Item=FORGED),
    "writes its own skeleton": on("SkeletonTable", "put_item", Item=OWN_RECORD),
    "reads a conversation": on("SessionsTable", "get_item", Key=key("acme#alice#s1", "turn#0")),
    "installs itself": on("StoreTable", "put_item", Item=INSTALLED),
    "reads another tenant's secret": parameter("umbrella/bob"),
    "reads the secret of a tenant whose name begins alike": parameter("acme2/bob"),
}
OF_A_COLLEAGUE: dict[str, Attack] = {
    "reads a colleague's document": on("StoreTable", "get_item", Key=key("acme#bob#notes")),
    "reads that of one named alike": on("StoreTable", "get_item", Key=key("acme#alice2#notes")),
    "reads a colleague's mail password": parameter("acme/bob"),
}
