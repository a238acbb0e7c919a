"""Credentials for one tenant's data, or one user's, for the function that runs extension code.

A role that both callers may take holds every statement to the session's tags: `tenant`, with which
each partition key begins, and `secrets`, its part of the parameters' path. With isolation by user a
session policy narrows that to the user's own partitions and what all users of the tenant share. One
session a tenant (and user) and process, for an hour; before it ends another one is begun beside the
calls, which do not wait for it.
"""

from __future__ import annotations

import asyncio
import functools
import json
import re
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import boto3
import orjson
from botocore.config import Config
from botocore.credentials import Credentials, ReadOnlyCredentials
from botocore.exceptions import NoCredentialsError
from botocore.session import Session

from ..clock import digest
from ..errors import DispatchRefused, NotAllowed
from ..observability import measure
from ..types import SIGNIN_USER, WEBHOOK_USER, JSONObject
from .clients import ClientFactory, CutBody, aws_client, error_code, in_thread, request_credentials
from .parameters import escaped

LASTS_S: Final = 3600
"""Seconds of a session: the most that STS gives to a role that was taken by a role."""
EARLY_S: Final = 900.0
"""Seconds before its end from which on a new session is begun beside the calls."""
LEAST_S: Final = 300.0
"""Seconds that a session must last when it is handed out: longer than a call and what it leaves."""
MOST: Final = 2_000
"""Sessions kept; the oldest go first."""
_TAG: Final = re.compile(r"[\w .:/=+@-]{1,128}")


@dataclass(frozen=True, slots=True)
class _Session:
    given: JSONObject
    ends_at: float


class TenantCredentials:
    """Takes the role, once an hour for each tenant, or each user where `per_user`."""

    def __init__(
        self,
        role: str,
        *,
        secrets_prefix: str,
        per_user: bool = False,
        client: ClientFactory = aws_client,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._role = role
        self._prefix = secrets_prefix
        self._per_user = per_user
        self._client = client
        self._now = now
        self._sessions: dict[tuple[str, str], _Session] = {}
        self._taking: dict[tuple[str, str], asyncio.Task[_Session]] = {}

    async def of(self, tenant_id: str, user_id: str, *, whole_tenant: bool) -> JSONObject:
        """`{"key", "secret", "token"}` for a call of this user; DispatchRefused where STS gives
        none."""
        user = user_id if self._per_user and not whole_tenant else ""
        scope = tenant_id, user
        held = self._sessions.get(scope)
        left = held.ends_at - self._now() if held else 0.0
        if held and left > EARLY_S:
            return held.given
        taking = self._renewal(scope)
        # near its end the renewal has begun; this call signs with what still lasts
        if held and left > LEAST_S:
            return held.given
        # shielded: who gives up must not cancel the request that others wait for
        return (await asyncio.shield(taking)).given

    def _renewal(self, scope: tuple[str, str]) -> asyncio.Task[_Session]:
        """The one request for a session of this scope that is on its way."""
        if scope not in self._taking:
            taking = self._taking[scope] = asyncio.ensure_future(self._take(*scope))
            taking.add_done_callback(functools.partial(self._taken, scope))
        return self._taking[scope]

    def _taken(self, scope: tuple[str, str], ended: asyncio.Task[_Session]) -> None:
        del self._taking[scope]
        # looks at the error, which asyncio would log where nobody waits any more
        if not ended.cancelled():
            ended.exception()

    async def _take(self, tenant_id: str, user_id: str) -> _Session:
        # refused, never rewritten: two tenants with one tag would share their data
        if not _TAG.fullmatch(tenant_id):
            raise NotAllowed(
                f"tenant {tenant_id[:64]!r} cannot be kept apart: a tag holds letters, digits,"
                " spaces and _ . : / = + - @",
                field="tenant_id",
            )
        measure("SessionsTaken")
        try:
            given = await in_thread(self._assume, tenant_id, user_id)
        except Exception as error:
            name = error_code(error) or type(error).__name__
            raise DispatchRefused(f"no credentials for the tenant ({name}): retry") from error
        session = _Session(given, self._now() + LASTS_S)
        # taken out first: a renewed one is the newest, and no other goes for it
        self._sessions.pop((tenant_id, user_id), None)
        while len(self._sessions) >= MOST:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[tenant_id, user_id] = session
        return session

    def _assume(self, tenant_id: str, user_id: str) -> JSONObject:
        tags = {"tenant": tenant_id, "secrets": escaped(tenant_id)}
        narrower = {"Policy": self._policy(tenant_id, user_id)} if user_id else {}
        return assumed(
            self._client("sts"),
            RoleArn=self._role,
            RoleSessionName=f"webbee-{digest(tenant_id, user_id)}",
            DurationSeconds=LASTS_S,
            Tags=[{"Key": k, "Value": v} for k, v in tags.items()],
            **narrower,
        )

    def _policy(self, tenant_id: str, user_id: str) -> str:
        """What of the tenant's is the user's: their partitions, the tenant's own under `__…__`
        users that handlers share, their secrets and the app-wide ones."""
        own = f"{literal(tenant_id)}#{literal(user_id)}"
        shared = [f"{literal(tenant_id)}#{name}#*" for name in (WEBHOOK_USER, SIGNIN_USER)]
        parameter = f"arn:*:ssm:*:*:parameter{literal(self._prefix)}/{escaped(tenant_id)}"
        paths = [f"{parameter}/{escaped(user_id)}/*", f"{parameter}/_app/*"]
        return narrowed([own, f"{own}#*", *shared], paths, ["lambda:InvokeFunction", "kms:*"])


def assumed(sts: Any, **request: Any) -> JSONObject:
    """`{"key", "secret", "token"}` of a role."""
    names = {"key": "AccessKeyId", "secret": "SecretAccessKey", "token": "SessionToken"}
    given = sts.assume_role(**request)["Credentials"]
    return {name: given[theirs] for name, theirs in names.items()}


PERSON_LASTS_S: Final = 900
"""Seconds that the credentials live: the least STS gives."""


def person_policy(partition: str, pseudonyms: str, secrets: str) -> str:
    """The session policy for one person, JSON: the partition `tenant#user`, what a pseudonym's
    begin with, and the path of the secrets. A pattern's own characters in an id match themselves
    alone."""
    own, path = literal(partition), f"arn:*:ssm:*:*:parameter/{literal(secrets.strip('/'))}"
    keys = [own, f"{own}#*", f"{literal(pseudonyms)}*"]
    return narrowed(keys, [path, f"{path}/*"], "kms:*")


def narrowed(keys: list[str], parameters: list[str], more: str | list[str]) -> str:
    """A session policy, JSON: of the tables the partitions of these keys, of the parameters these,
    and further actions as far as the role may."""
    statements: list[dict[str, Any]] = [
        {
            "Effect": "Allow",
            "Action": "dynamodb:*",
            "Resource": "*",
            "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": keys}},
        },
        {"Effect": "Allow", "Action": "ssm:*", "Resource": parameters},
        {"Effect": "Allow", "Action": more, "Resource": "*"},
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))


def clients_for(role: str, policy: str) -> ClientFactory:
    """Clients with a role's credentials under that policy; STS is asked when the first one is
    needed."""

    @functools.cache
    def session() -> boto3.Session:
        given = assumed(
            aws_client("sts"),
            RoleArn=role,
            RoleSessionName="webbee-person",
            DurationSeconds=PERSON_LASTS_S,
            Policy=policy,
        )
        # key, secret, token: the order in which `assumed` names them
        return make_session(tuple(given.values()))

    @functools.cache
    def client(service: str) -> Any:
        return make_client(session(), service, read_timeout=20, attempts=4)

    return client


def literal(text: str) -> str:
    """The text in a policy's pattern: what matches it alone."""
    # `${*}`, `${?}` and `${$}` are IAM's own escapes; a backslash means nothing to it
    return re.sub(r"[*?$]", lambda match: "${" + match.group() + "}", text)


CONNECT_TIMEOUT_S = 1.0
CONNECTIONS = 20
"""Kept open per client: eight threads of the stores, twenty of the queue's senders."""


class RequestCredentials(Credentials):
    """Those handed in with the call at hand, the process's own where none were.

    `find` looks for the process's own, and again before each request until there are some: they may
    come later than its first client, and a process that runs extension code has none.
    """

    def __init__(self, find: Callable[[], Credentials | None]) -> None:
        self._find = find
        self._own = own = find()
        held = own.get_frozen_credentials() if own else ReadOnlyCredentials("", "", None)
        super().__init__(held.access_key or "", held.secret_key or "", held.token)

    def get_frozen_credentials(self) -> ReadOnlyCredentials:
        """Asked by botocore's signer before each request."""
        if given := request_credentials.get():
            return ReadOnlyCredentials(given["key"], given["secret"], given.get("token") or None)
        self._own = self._own or self._find()
        if self._own is None:
            raise NoCredentialsError
        return self._own.get_frozen_credentials()


class _Provider:
    """botocore's source of credentials, of which there is one."""

    def __init__(self, find: Callable[[], Credentials | None]) -> None:
        self._find = find

    def load_credentials(self) -> Credentials:
        return RequestCredentials(self._find)


def make_session(held: Sequence[str]) -> boto3.Session:
    """A session; `held` are key, secret and token that left the environment, empty for boto3's own
    search."""
    below = Session()
    # looked up before ours takes its place, which would otherwise ask itself
    found = below.get_component("credential_provider").load_credentials
    find = functools.partial(Credentials, *held) if held else found
    below.register_component("credential_provider", _Provider(find))
    return boto3.Session(botocore_session=below)


def make_client(
    session: boto3.Session, service: str, *, read_timeout: float, attempts: int, address: str = ""
) -> Any:
    """A low-level client; `attempts` counts the first one, `read_timeout` is of one attempt."""
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=CONNECTIONS,
        tcp_keepalive=True,
    )
    make: Any = session.client
    client: Any = make(service, config=config, endpoint_url=address or None)
    client.meta.events.register("before-parse.dynamodb", _refuse_cut_body)
    return client


def _refuse_cut_body(response_dict: Mapping[str, Any], **_: object) -> None:
    """CutBody for an answer of DynamoDB that broke off: botocore would read it as an empty one, so
    an item that is there as one that is not."""
    body: bytes = response_dict["body"]
    told = response_dict["headers"].get("x-amz-crc32")
    is_whole = int(told) == zlib.crc32(body) if told else _is_json(body)
    # a 5xx may come from before the service, with any body: its status says enough
    if response_dict["status_code"] < 500 and not is_whole:
        raise CutBody(len(body))


def _is_json(body: bytes) -> bool:
    try:
        return not body or orjson.loads(body) is not None
    except orjson.JSONDecodeError:
        return False
