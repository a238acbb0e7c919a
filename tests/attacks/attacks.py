"""What extension code that finds the kernel's client goes for: service, operation, request."""

from __future__ import annotations

from typing import Any

KEY = {"pk": {"S": "umbrella#bob#notes"}, "sk": {"S": "note#1"}}
FORGED = {"pk": {"S": "umbrella#bob"}, "sk": {"S": "call#1"}, "body": {"S": "{}"}}
OWN_RECORD = {"pk": {"S": "acme#alice"}, "sk": {"S": "call#1"}, "body": {"S": "{}"}}
ATTACKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "reads another tenant's document": (
        "dynamodb",
        "get_item",
        {"TableName": "StoreTable", "Key": KEY},
    ),
    "deletes it": ("dynamodb", "delete_item", {"TableName": "StoreTable", "Key": KEY}),
    "lists its users": (
        "dynamodb",
        "query",
        {
            "TableName": "StoreTable",
            "IndexName": "users",
            "KeyConditionExpression": "users_key = :k",
            "ExpressionAttributeValues": {":k": {"S": "umbrella#notes#note"}},
        },
    ),
    "scans": ("dynamodb", "scan", {"TableName": "StoreTable"}),
    "reads its cache": ("dynamodb", "get_item", {"TableName": "CacheTable", "Key": KEY}),
    "overwrites an audit record": (
        "dynamodb",
        "put_item",
        {"TableName": "AuditTable", "Item": FORGED},
    ),
    "overwrites an audit record of its own": (
        "dynamodb",
        "put_item",
        {"TableName": "AuditTable", "Item": OWN_RECORD},
    ),
    "deletes an audit record": (
        "dynamodb",
        "delete_item",
        {"TableName": "AuditTable", "Key": {k: OWN_RECORD[k] for k in ("pk", "sk")}},
    ),
    "forges an event": ("dynamodb", "put_item", {"TableName": "EventsTable", "Item": FORGED}),
    "writes a skeleton": ("dynamodb", "put_item", {"TableName": "SkeletonTable", "Item": FORGED}),
    "writes its own skeleton": (
        "dynamodb",
        "put_item",
        {"TableName": "SkeletonTable", "Item": OWN_RECORD},
    ),
    "reads a conversation": (
        "dynamodb",
        "get_item",
        {
            "TableName": "SessionsTable",
            "Key": {"pk": {"S": "acme#alice#s1"}, "sk": {"S": "turn#0"}},
        },
    ),
    "installs itself": (
        "dynamodb",
        "put_item",
        {
            "TableName": "StoreTable",
            "Item": {"pk": {"S": "acme#alice#_kernel"}, "sk": {"S": "installations#thief"}},
        },
    ),
    "reads another tenant's secret": (
        "ssm",
        "get_parameter",
        {"Name": "/webbee/webbee/umbrella/bob/mail/password"},
    ),
    "reads the secret of a tenant whose name begins alike": (
        "ssm",
        "get_parameter",
        {"Name": "/webbee/webbee/acme2/bob/mail/password"},
    ),
}
OF_A_COLLEAGUE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "reads a colleague's document": (
        "dynamodb",
        "get_item",
        {"TableName": "StoreTable", "Key": {**KEY, "pk": {"S": "acme#bob#notes"}}},
    ),
    "reads that of one whose name begins alike": (
        "dynamodb",
        "get_item",
        {"TableName": "StoreTable", "Key": {**KEY, "pk": {"S": "acme#alice2#notes"}}},
    ),
    "reads a colleague's mail password": (
        "ssm",
        "get_parameter",
        {"Name": "/webbee/webbee/acme/bob/mail/password"},
    ),
}
