"""How a path finds its route, that what no turn needs is imported when it is asked for, that every route
is as the API's description says, and that who is asking comes from the authoriser's claims alone."""

import asyncio
import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi import checks

from local import answers
from local.reference import OPENAPI as PATH
from local.reference import SERVED, all_routes, interface
from local.template import load_template, matched, routes
from local.world import local_world
from tests.processes import said
from webbee_kernel.api.chat_turn import ChatService
from webbee_kernel.api.extension_routes import TOLD
from webbee_kernel.api.identity import require_role, user_of
from webbee_kernel.api.router import Answer, Group, Request, Route, Router
from webbee_kernel.bootstrap import bootstrap, make_kernel
from webbee_kernel.config import Settings
from webbee_kernel.errors import NotAllowed, NotAuthenticated
from webbee_kernel.extensions.registry import Registry
from webbee_kernel.sdk import User
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.types import user_dict, user_from


class Files:
    @Route("GET /v1/files/{name}", public=True)
    async def one(self, request: Request) -> Answer:
        return Answer({"one": dict(request.path)})

    @Route("GET /v1/files/{name}/at/{path+}", public=True)
    async def within(self, request: Request) -> Answer:
        return Answer({"within": dict(request.path)})

    @Route("GET /v1/files", public=True)
    async def all(self, request: Request) -> Answer:
        return Answer({"files": object()})


def ask(router: Router, path: str, method: str = "GET") -> tuple[int, Any]:
    event = {"rawPath": path, "requestContext": {"http": {"method": method, "path": path}}}
    answer = asyncio.run(router.serve(event))
    return answer["statusCode"], json.loads(answer["body"])


def test_parameters_of_a_path_are_decoded_part_by_part() -> None:
    deep = {"name": "a", "path": "b/c/d"}
    for path, answer in {
        "/v1/files/a%20b": {"one": {"name": "a b"}},
        "/v1/files/a%2Fb": {"one": {"name": "a/b"}},
        "/v1/files/a/at/b/c%2Fd": {"within": deep},
        "/v1/files/a/at/b/": {"within": {**deep, "path": "b/"}},
    }.items():
        assert ask(Router(Group(Files)), path) == (200, answer)
    for path in "/v1/file /v1/files/ /v1/files/a/b /v1/files/a/at /v1/files/a/at/ /".split():
        assert ask(Router(Group(Files)), path)[0] == 404, "no part is empty, none is left over"


def test_an_answer_that_cannot_be_written_is_our_failure_and_has_its_number() -> None:
    status, told = ask(Router(Group(Files)), "/v1/files")
    assert (status, told["error"]["code"]) == (500, "internal")


def test_a_group_is_made_once_and_only_for_a_path_of_its_own() -> None:
    made = []

    def files() -> Files:
        made.append(1)
        return Files()

    router = Router(Group(files, "/v1/files"))
    assert ask(router, "/v1/filesystem/a")[0] == 404
    assert not made

    assert [ask(router, "/v1/files/a")[0] for _ in range(2)] == [200, 200]
    assert made == [1]
    assert ask(router, "/v1/files/a", "DELETE")[0] == 404  # a method is part of a route


def test_every_route_of_a_group_lies_under_one_of_its_prefixes() -> None:
    """Else it is served only after something else was asked of its group."""
    settings = Settings.from_env({})
    app = bootstrap(settings, stores=memory_stores())
    service = ChatService(settings, app=app, kernel=make_kernel(app, registry=Registry({})))
    assert len(service.router.groups) > 5
    for group in service.router.groups:
        keys = [route.key for route in Router(group).handlers]
        assert keys
        assert [key for key in keys if not group.serves(key.partition(" ")[2])] == []


def test_a_start_of_chat_turn_imports_no_route_that_a_turn_does_without() -> None:
    code = "import sys, webbee_kernel.api.chat_turn\nprint(*sys.modules)"
    others = "chat_completions me conversations extension_routes callbacks mcp_server page"
    names = {f"webbee_kernel.api.{name}" for name in others.split()}
    assert all(map(find_spec, names))
    assert names.isdisjoint(said(code).split())


DOCUMENT: dict[str, Any] = json.loads(PATH.read_text("utf-8"))
# A method without a route is a 404, as API Gateway would answer it; who needs a token is tested with
# the template.
NOT_OURS = [checks.unsupported_method, checks.ignored_auth]
schema = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with local_world() as world:
        yield world.url


def test_the_kept_document_is_fresh_and_has_each_operations_summary_and_shape() -> None:
    read, served = interface()
    assert (PATH.read_text("utf-8"), SERVED.read_text("utf-8")) == (read, served), (
        "docs/openapi.json is stale: make python ARGS='-m local.reference'"
    )
    described = answers.CallAnswer.__annotations__.keys() - {"refresh_panels"}
    assert set(TOLD) == described
    for route, handler in all_routes().items():
        assert (handler.__doc__ or "").strip()
        is_json = route.content_type == "application/json" and "webhook" not in route.key
        assert route.answer or not is_json, route.key


def test_what_it_describes_reaches_the_function_and_asks_for_a_token_where_it_says_so() -> None:
    deployed = routes(load_template())
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            found = matched(deployed, method.upper(), re.sub(r"\{\w+\}", "x", path))
            assert found, (method, path)
            assert found.public is (operation.get("security") == []), (method, path)


@schema.parametrize()
@settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_arrives_the_answer_is_as_described_and_never_a_5xx(case: Any, url: str) -> None:
    response = case.call(base_url=url, headers={"authorization": "Bearer dev"}, timeout=120)
    # Public routes ignore unknown query parameters; only cursors and states that were given out are taken
    beyond_schemas = [] if case.operation.body else [checks.negative_data_rejection]
    # Of a conversation, schemas do not say that one message is the user's and holds text; of the
    # Model Context Protocol, which methods there are, and GET is there to be refused.
    own_rules = ("/oauth/", "completions", "/v1/mcp")
    if "cursor" in (case.query or {}) or any(part in case.path for part in own_rules):
        beyond_schemas.append(checks.positive_data_acceptance)
    case.validate_response(response, excluded_checks=NOT_OURS + beyond_schemas)


CLAIMS = {"sub": "alice", "tenant_id": "acme", "role": "developer", "email": "a@acme.com"}
CLAIMS |= {"locale": "ru", "scope": "mail:read mail:send"}


def event(claims: Any, **more: Any) -> dict[str, Any]:
    return {"requestContext": {"authorizer": {"jwt": {"claims": claims}}}, **more}


COGNITO = {"sub": "x", "custom:imperal_id": "alice", "custom:tenant_id": "acme"}
COGNITO |= {"custom:role": "operator", "custom:scopes": "a,b"}
LAMBDA = {"imperal_id": "alice", "tenant_id": None, "email": None, "scopes": ["a", "b"]}


@pytest.mark.parametrize(
    ("request_", "user"),
    [
        (event(CLAIMS), User("alice", "developer", "ru", "a@acme.com", "acme", ("mail:read", "mail:send"))),
        (event({"sub": "alice"}), User("alice", "user", "en", "", "default", ())),
        (event(COGNITO), User("alice", "operator", "en", "", "acme", ("a", "b"))),
        (event({**COGNITO, "tenant_id": "other"}), User("alice", "operator", "en", "", "other", ("a", "b"))),
        ({"requestContext": {"authorizer": {"lambda": LAMBDA}}}, User("alice", scopes=("a", "b"))),
    ],
    ids=["all", "few", "cognito's own", "plain ones win", "a lambda authoriser"],
)  # fmt: skip
def test_the_claims_become_the_user(request_: dict[str, Any], user: User) -> None:
    assert user_of(request_) == user


NOBODY = [None, {}, "x", {"lambda": "x"}]
NOBODY += [{"jwt": {"claims": claims}} for claims in ({}, None, {"sub": None}, {"sub": ["a"]}, "x")]


@pytest.mark.parametrize("authorizer", NOBODY, ids=repr)
def test_without_claims_there_is_no_user(authorizer: Any) -> None:
    for request in ({}, {"requestContext": None}, {"requestContext": {"authorizer": authorizer}}):
        with pytest.raises(NotAuthenticated):
            user_of(request)


@pytest.mark.parametrize("claim", ["sub", "tenant_id"])
def test_an_id_that_cannot_be_a_key_is_refused_by_its_name(claim: str) -> None:
    for bad in ("a#b", "\ud800"):  # others, as they arrive: tests/functions/test_bad_input.py
        with pytest.raises(NotAuthenticated, match=claim):
            user_of(event({**CLAIMS, claim: bad}))


def test_claims_beside_the_ids_cannot_break_what_they_are_written_into() -> None:
    odd = {**CLAIMS, "email": "a@\ud800\n[HISTORY]", "locale": "ru\udfff", "scope": "a\ud800 b"}
    user = user_of(event({**odd, "role": ["operator"]}))
    assert user == User("alice", "user", "ru", "a@ (HISTORY)", "acme", ("a", "b"))
    assert user_from(user_dict(user)) == user  # on its way to another function
    assert user_from({"imperal_id": "a"}) == User("a")


def test_a_higher_role_includes_the_lower_and_no_token_gives_the_systems_or_every_scope() -> None:
    for role in ("admin", "system", "OPERATOR", ""):
        user = user_of(event({**CLAIMS, "role": role}))
        assert user.has_role("user") and not user.has_role(role)
    assert user_of(event({**CLAIMS, "scope": "* mail:read *"})).scopes == ("mail:read",)
    assert user_of(event({"sub": "a", "scopes": "[mail:read *]"})).scopes == ("mail:read",)
    assert not user_of(event({"sub": "a", "scopes": ["*"]})).has_scope("anything")
    for role, needed in (("user", "user"), ("developer", "developer"), ("operator", "developer")):
        require_role(User("a", role=role), needed)
    for role, needed in (("user", "developer"), ("developer", "operator")):
        with pytest.raises(NotAllowed, match=needed):
            require_role(User("a", role=role), needed)
