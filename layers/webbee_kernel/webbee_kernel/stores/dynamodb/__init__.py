"""Every store on DynamoDB, and secrets on SSM Parameter Store. boto3 is imported when the first
request is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...aws.clients import ClientFactory, aws_client
from ..protocols import Stores
from ..refused import Refused
from ..secrets_ssm import SsmSecretStore
from .audit import DynamoAuditStore
from .cache import DynamoCacheStore
from .client import Database
from .connections import DynamoConnectionStore
from .documents import DynamoDocumentStore
from .events import DynamoEventStore
from .limits import DynamoLimitStore
from .sessions import DynamoSessionStore
from .skeleton import DynamoSkeletonStore
from .transcripts import DynamoTranscriptStore

__all__ = ["Database", "DynamoDocumentStore", "Tables", "dynamodb_stores"]


@dataclass(frozen=True, slots=True)
class Tables:
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
            **{name: variables.get(f"WEBBEE_TABLE_{name.upper()}", "") for name in cls.__slots__}
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
    database = Database(client_factory)

    def refused(name: str) -> Any:
        return Refused(f"WEBBEE_{name}")

    return Stores(
        sessions=(
            DynamoSessionStore(database, tables.sessions)
            if tables.sessions
            else refused("TABLE_SESSIONS")
        ),
        skeleton=(
            DynamoSkeletonStore(database, tables.skeleton, shards)
            if tables.skeleton
            else refused("TABLE_SKELETON")
        ),
        cache=DynamoCacheStore(database, tables.cache) if tables.cache else refused("TABLE_CACHE"),
        documents=(
            DynamoDocumentStore(database, tables.store) if tables.store else refused("TABLE_STORE")
        ),
        audit=(
            DynamoAuditStore(database, tables.audit, tables.events)
            if tables.audit
            else refused("TABLE_AUDIT")
        ),
        events=(
            DynamoEventStore(database, tables.events) if tables.events else refused("TABLE_EVENTS")
        ),
        secrets=(
            SsmSecretStore(secrets_prefix, client_factory, key=secrets_key)
            if secrets_prefix
            else refused("SECRETS_PREFIX")
        ),
        transcripts=(
            DynamoTranscriptStore(database, tables.transcripts)
            if tables.transcripts
            else refused("TABLE_TRANSCRIPTS")
        ),
        limits=(
            DynamoLimitStore(database, tables.limits) if tables.limits else refused("TABLE_LIMITS")
        ),
        connections=(
            DynamoConnectionStore(database, tables.connections)
            if tables.connections
            else refused("TABLE_CONNECTIONS")
        ),
    )
