"""Every contract test runs on each implementation: in memory, and on DynamoDB with the tables of
template.yaml."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import boto3
import pytest
from botocore.config import Config

from local.aws import REGION, account_tables, local_aws
from local.template import Template, load_template
from webbee_kernel.stores import Stores
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.stores.memory import memory_stores

SHARDS = 4


class Dynamo(NamedTuple):
    """The stores on DynamoDB, with what a test needs to look behind them."""

    stores: Stores
    tables: Tables
    client: Any


@pytest.fixture(scope="session")
def template() -> Template:
    return load_template()


@pytest.fixture(scope="session")
def session() -> Any:
    return boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)


class Clients:
    """boto3's clients, of a test or of the whole run."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._made: dict[str, Any] = {}

    def __call__(self, service: str) -> Any:
        if service not in self._made:
            retries = {"mode": "standard", "total_max_attempts": 4}
            config = Config(retries=retries, max_pool_connections=20)
            self._made[service] = self._session.client(service, config=config)
        return self._made[service]

    def close(self) -> None:
        for made in self._made.values():
            made.close()


@contextmanager
def on_dynamodb(template: Template, clients: Clients) -> Iterator[Dynamo]:
    """The stores over these clients, on tables of their own."""
    with local_aws():
        database = clients("dynamodb")
        tables = Tables.from_variables(account_tables(database, template, prefix="test-"))
        given = {"secrets_prefix": "/webbee/test", "client_factory": clients}
        stores = dynamodb_stores(tables, shards=SHARDS, **given)
        clients("ssm")
        yield Dynamo(stores, tables, database)


@pytest.fixture
def dynamo(template: Template, session: Any) -> Iterator[Dynamo]:
    """With clients of the test's own, whose events it may take part in."""
    with closing(Clients(session)) as clients, on_dynamodb(template, clients) as made:
        yield made


@pytest.fixture(scope="session")
def shared(session: Any) -> Iterator[Clients]:
    """Clients of which a test sees nothing but its stores: to make one takes as long as a test."""
    with closing(Clients(session)) as made:
        yield made


@pytest.fixture(params=["memory", "dynamodb"])
def stores(request: pytest.FixtureRequest, template: Template, shared: Clients) -> Iterator[Stores]:
    if request.param == "memory":
        yield memory_stores(shards=SHARDS)
        return
    with on_dynamodb(template, shared) as made:
        yield made.stores
