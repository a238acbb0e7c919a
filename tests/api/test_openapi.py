"""The OpenAPI document: fresh, complete, and true: the running API keeps what it says whatever
arrives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi import checks

from local.openapi import PATH, all_routes, text
from local.template import load_template, matched, routes
from local.world import local_world

DOCUMENT: dict[str, Any] = json.loads(PATH.read_text("utf-8"))
# A method without a route is a 404, as API Gateway would answer it; who needs a token is tested with
# the template.
NOT_OURS = [checks.unsupported_method, checks.ignored_auth]
schema = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with local_world() as world:
        yield world.url


def test_the_kept_document_is_fresh() -> None:
    assert PATH.read_text("utf-8") == text(), (
        "docs/openapi.json is stale: make python ARGS='-m local.openapi'"
    )


def test_what_it_describes_reaches_the_function_and_asks_for_a_token_where_it_says_so() -> None:
    deployed = routes(load_template())
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            found = matched(deployed, method.upper(), re.sub(r"\{\w+\}", "x", path))
            assert found, (method, path)
            assert found[0].public is (operation.get("security") == []), (method, path)


def test_every_operation_has_a_summary_and_a_shape() -> None:
    for route, handler in all_routes().items():
        assert (handler.__doc__ or "").strip()
        assert route.answer or route.content_type != "application/json" or "webhook" in route.key, (
            route.key
        )


@schema.parametrize()
@settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_arrives_the_answer_is_the_described_one_and_never_a_5xx(
    case: Any, url: str
) -> None:
    response = case.call(base_url=url, headers={"authorization": "Bearer dev"})
    # Public routes ignore unknown query parameters; only cursors and states that were given out are taken
    beyond_schemas = [] if case.operation.body else [checks.negative_data_rejection]
    # Of a conversation, schemas do not say that one message is the user's and holds text; of the
    # Model Context Protocol, which methods there are, and GET is there to be refused.
    own_rules = ("/oauth/", "completions", "/openai/v1/responses", "/v1/mcp")
    if "cursor" in (case.query or {}) or any(part in case.path for part in own_rules):
        beyond_schemas.append(checks.positive_data_acceptance)
    case.validate_response(response, excluded_checks=NOT_OURS + beyond_schemas)
