"""Every store on DynamoDB, and secrets on SSM Parameter Store. A function imports the stores of the
tables that it may touch; boto3 is imported when the first request is sent."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from ...aws.clients import ClientFactory, aws_client
from ...aws.parameters import SsmSecretStore
from .. import SecretStore, Stores, UnavailableStore
from .client import Database

__all__ = ["Database", "Tables", "dynamodb_stores", "stores_over"]


class Tables(NamedTuple):
    """Names of the tables. An empty one is a table that this function may not touch: its store
    refuses every use."""

    sessions: str = ""
    skeleton: str = ""
    cache: str = ""
    store: str = ""
    audit: str = ""
    events: str = ""
    transcripts: str = ""
    limits: str = ""
    connections: str = ""

    @classmethod
    def from_variables(cls, variables: Mapping[str, str]) -> Tables:
        """Names out of `WEBBEE_TABLE_SESSIONS` and its like."""
        return cls(
            **{name: variables.get(f"WEBBEE_TABLE_{name.upper()}", "") for name in cls._fields}
        )


def dynamodb_stores(
    tables: Tables,
    *,
    shards: int = 8,
    secrets_prefix: str = "",
    secrets_key: str = "",
    client_factory: ClientFactory = aws_client,
) -> Stores:
    """The stores over these tables.

    `shards` are the partitions of the due index, the same number in every function.
    `secrets_prefix` is the path above all secrets (`/webbee/<stack>`), empty for a function without
    secrets. `client_factory` gives the boto3 client of a service.
    """
    secrets: Any = UnavailableStore("WEBBEE_SECRETS_PREFIX")
    if secrets_prefix:
        secrets = SsmSecretStore(secrets_prefix, client_factory, key=secrets_key)
    return stores_over(Database(client_factory), tables, secrets, shards)


def stores_over(database: Database, tables: Tables, secrets: SecretStore, shards: int) -> Stores:

    def over(noun: str, module: str, store: str, *more: str | int) -> Any:
        if not (table := getattr(tables, noun)):
            return UnavailableStore(f"WEBBEE_TABLE_{noun.upper()}")
        # only now: a cold start loads no adapter of a table that it may not touch
        return getattr(import_module(f".{module}", __package__), store)(database, table, *more)

    return Stores(
        sessions=over("sessions", "sessions", "SessionStore"),
        skeleton=over("skeleton", "skeletons", "SkeletonStore", shards),
        cache=over("cache", "user_items", "CacheStore"),
        documents=over("store", "document_store", "DocumentStore"),
        audit=over("audit", "user_items", "AuditStore", tables.events),
        events=over("events", "user_items", "EventStore"),
        secrets=secrets,
        transcripts=over("transcripts", "transcripts", "TranscriptStore"),
        limits=over("limits", "user_items", "LimitStore"),
        connections=over("connections", "user_items", "ConnectionStore"),
        accepted=over("sessions", "sessions", "AcceptedStore"),
        deployed=over("sessions", "user_items", "CacheStore"),
    )
