"""Every contract test runs on each implementation: in memory, and on DynamoDB with the tables of
template.yaml, over botocore's client and over our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import boto3
import pytest
from botocore.config import Config

from local.aws import REGION, local_aws
from local.template import Template, create_tables, load_template
from tests.stand_ins.aws import Observed
from webbee_kernel.stores import Stores
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.stores.memory import memory_stores

SHARDS = 4


class Dynamo(NamedTuple):
    """The stores on DynamoDB, with what a test needs to look behind them."""

    stores: Stores
    tables: Tables
    client: Any


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def template() -> Template:
    return load_template()


@pytest.fixture(scope="session")
def session() -> Any:
    return boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)


@contextmanager
def on_dynamodb(kind: str, template: Template, session: Any) -> Iterator[Dynamo]:
    """The stores over botocore's client, or over our own with moto behind it."""
    with local_aws():
        config = Config(
            retries={"mode": "standard", "total_max_attempts": 4}, max_pool_connections=20
        )
        clients: dict[str, Any] = {}

        def client(service: str) -> Any:
            if service not in clients:
                made = session.client(service, config=config)
                clients[service] = made if kind == "botocore" else Observed(service, made)
            return clients[service]

        tables = Tables.from_variables(create_tables(client("dynamodb"), template, prefix="test-"))
        stores = dynamodb_stores(
            tables, shards=SHARDS, secrets_prefix="/webbee/test", client_factory=client
        )
        client("ssm")
        yield Dynamo(stores, tables, clients["dynamodb"])
        for made in clients.values():
            made.close()


@pytest.fixture(params=["botocore", "direct"])
def dynamo(request: pytest.FixtureRequest, template: Template, session: Any) -> Iterator[Dynamo]:
    with on_dynamodb(request.param, template, session) as made:
        yield made


@pytest.fixture(params=["memory", "botocore", "direct"])
def stores(request: pytest.FixtureRequest, template: Template, session: Any) -> Iterator[Stores]:
    if request.param == "memory":
        yield memory_stores(shards=SHARDS)
        return
    with on_dynamodb(request.param, template, session) as made:
        yield made.stores
