"""Every store on DynamoDB, and secrets on SSM Parameter Store. boto3 is imported when the first
request is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...aws.clients import ClientFactory, aws_client
from ..protocols import Refused, SecretStore, Stores
from ..secrets_ssm import SsmSecretStore
from .client import Database
from .document_store import DynamoDocumentStore
from .sessions import DynamoAcceptedStore, DynamoSessionStore
from .skeletons import DynamoSkeletonStore
from .transcripts import DynamoTranscriptStore
from .user_items import (
    DynamoAuditStore,
    DynamoCacheStore,
    DynamoConnectionStore,
    DynamoEventStore,
    DynamoLimitStore,
)

__all__ = ["Database", "DynamoDocumentStore", "Tables", "dynamodb_stores", "stores_over"]


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
    secrets = _secrets(secrets_prefix, client_factory, secrets_key)
    return stores_over(Database(client_factory), tables, secrets, shards)


def stores_over(database: Database, tables: Tables, secrets: SecretStore, shards: int) -> Stores:
    """The stores over the tables of one database."""

    def over(table: str, name: str, store: Callable[..., Any], *more: str | int) -> Any:
        return store(database, table, *more) if table else Refused(f"WEBBEE_TABLE_{name}")

    return Stores(
        sessions=over(tables.sessions, "SESSIONS", DynamoSessionStore),
        skeleton=over(tables.skeleton, "SKELETON", DynamoSkeletonStore, shards),
        cache=over(tables.cache, "CACHE", DynamoCacheStore),
        documents=over(tables.store, "STORE", DynamoDocumentStore),
        audit=over(tables.audit, "AUDIT", DynamoAuditStore, tables.events),
        events=over(tables.events, "EVENTS", DynamoEventStore),
        secrets=secrets,
        transcripts=over(tables.transcripts, "TRANSCRIPTS", DynamoTranscriptStore),
        limits=over(tables.limits, "LIMITS", DynamoLimitStore),
        connections=over(tables.connections, "CONNECTIONS", DynamoConnectionStore),
        accepted=over(tables.sessions, "SESSIONS", DynamoAcceptedStore),
        deployed=over(tables.sessions, "SESSIONS", DynamoCacheStore),
    )


def _secrets(prefix: str, client: ClientFactory, key: str) -> Any:
    return SsmSecretStore(prefix, client, key=key) if prefix else Refused("WEBBEE_SECRETS_PREFIX")
