"""Credentials for one tenant's data, or one user's, for the function that runs extension code.

The assumed role restricts every statement by session tags: `tenant`, the prefix of each partition
key, and `secrets`, its part of the parameter path. With isolation by user a session policy narrows
that to the user's partitions and those shared in the tenant. One session per tenant (and user) and
process lasts an hour and is renewed before it ends.
"""

from __future__ import annotations

import functools
import json
import re
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, Final

import boto3
import orjson
from botocore.config import Config
from botocore.credentials import Credentials, DeferredRefreshableCredentials, ReadOnlyCredentials
from botocore.exceptions import NoCredentialsError
from botocore.session import Session

from ..clock import digest
from ..errors import DispatchRefused, NotAllowed
from ..observability import measure
from ..types import SIGNIN_USER, WEBHOOK_USER, JSONObject
from .clients import (
    ClientFactory,
    TruncatedBody,
    aws_client,
    error_code,
    in_thread,
    request_credentials,
    threads,
)
from .parameters import escape

LASTS_S: Final = 3600
"""Seconds of a session: STS's maximum for role chaining."""
MAX_SESSIONS: Final = 2_000
"""Cached sessions; the oldest are dropped first."""
_TAG: Final = re.compile(r"[\w .:/=+@-]{1,128}")
_POOL: Final = threads(8, "sts")


class TenantCredentials:
    """Assumes the role once an hour for each tenant, or each user where `per_user`: in the last 15
    minutes of a session one call renews it, in the last 10 every call waits for that."""

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
        self._sessions: dict[tuple[str, str], DeferredRefreshableCredentials] = {}

    async def of(self, tenant_id: str, user_id: str, *, whole_tenant: bool) -> JSONObject:
        """`{"key", "secret", "token"}` for a call of this user; DispatchRefused where STS fails."""
        # refused, never rewritten: two tenants with one tag would share their data
        if not _TAG.fullmatch(tenant_id):
            raise NotAllowed(
                f"tenant {tenant_id[:64]!r} cannot be kept apart: a tag holds letters, digits,"
                " spaces and _ . : / = + - @",
                field="tenant_id",
            )
        session = self._session(tenant_id, user_id if self._per_user and not whole_tenant else "")
        take = session.get_frozen_credentials
        try:
            taken = await in_thread(take, pool=_POOL) if session.refresh_needed() else take()
        except Exception as error:
            name = error_code(error) or type(error).__name__
            raise DispatchRefused(f"no credentials for the tenant ({name}): retry") from error
        return {"key": taken.access_key, "secret": taken.secret_key, "token": taken.token}

    def _session(self, tenant_id: str, user_id: str) -> DeferredRefreshableCredentials:
        """The session of a tenant and user, not yet asked for where it is new."""
        if (tenant_id, user_id) not in self._sessions:
            while len(self._sessions) >= MAX_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[tenant_id, user_id] = DeferredRefreshableCredentials(
                functools.partial(self._assume, tenant_id, user_id), "assume-role", self._time
            )
        return self._sessions[tenant_id, user_id]

    def _assume(self, tenant_id: str, user_id: str) -> JSONObject:
        measure("SessionsTaken")
        tags = {"tenant": tenant_id, "secrets": escape(tenant_id)}
        policy = {"Policy": self._policy(tenant_id, user_id)} if user_id else {}
        taken = assume_role(
            self._client("sts"),
            RoleArn=self._role,
            RoleSessionName=f"webbee-{digest(tenant_id, user_id)}",
            DurationSeconds=LASTS_S,
            Tags=[{"Key": k, "Value": v} for k, v in tags.items()],
            **policy,
        )
        return {**taken, "expiry_time": (self._time() + timedelta(seconds=LASTS_S)).isoformat()}

    def _time(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC)

    def _policy(self, tenant_id: str, user_id: str) -> str:
        """The session policy for a user: their partitions, those of the tenant's shared `__…__`
        users, their secrets and the app-wide ones."""
        partition = f"{literal(tenant_id)}#{literal(user_id)}"
        shared = [f"{literal(tenant_id)}#{name}#*" for name in (WEBHOOK_USER, SIGNIN_USER)]
        parameter = f"arn:*:ssm:*:*:parameter{literal(self._prefix)}/{escape(tenant_id)}"
        paths = [f"{parameter}/{escape(user_id)}/*", f"{parameter}/_app/*"]
        return session_policy(
            [partition, f"{partition}#*", *shared], paths, ["lambda:InvokeFunction", "kms:*"]
        )


def assume_role(sts: Any, **request: Any) -> JSONObject:
    """`{"access_key", "secret_key", "token"}` of an assumed role, the names that botocore has."""
    names = {"access_key": "AccessKeyId", "secret_key": "SecretAccessKey", "token": "SessionToken"}
    credentials = sts.assume_role(**request)["Credentials"]
    return {name: credentials[field] for name, field in names.items()}


PERSON_LASTS_S: Final = 900
"""Seconds that the credentials last: STS's minimum."""


def person_policy(partition: str, pseudonyms: str, secrets: str) -> str:
    """The session policy (JSON) for export and erasure of one user: the partition `tenant#user`,
    the prefix of pseudonyms and the path of the secrets. Wildcards in ids are escaped."""
    partition, path = literal(partition), f"arn:*:ssm:*:*:parameter/{literal(secrets.strip('/'))}"
    keys = [partition, f"{partition}#*", f"{literal(pseudonyms)}*"]
    return session_policy(keys, [path, f"{path}/*"], "kms:*")


def session_policy(keys: list[str], parameters: list[str], more: str | list[str]) -> str:
    """A session policy (JSON): DynamoDB partitions by key pattern, parameters by ARN, and further
    actions that the role may use."""
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
    """Clients with a role's credentials under that policy; the role is assumed on first use."""

    @functools.cache
    def session() -> boto3.Session:
        credentials = assume_role(
            aws_client("sts"),
            RoleArn=role,
            RoleSessionName="webbee-person",
            DurationSeconds=PERSON_LASTS_S,
            Policy=policy,
        )
        # key, secret, token: the order in which `assume_role` names them
        return make_session(tuple(credentials.values()))

    @functools.cache
    def client(service: str) -> Any:
        return make_client(session(), service, read_timeout=20, attempts=4)

    return client


def literal(text: str) -> str:
    """The text escaped for a policy's pattern."""
    # `${*}`, `${?}` and `${$}` are IAM's own escapes; a backslash means nothing to it
    return re.sub(r"[*?$]", lambda match: "${" + match.group() + "}", text)


CONNECT_TIMEOUT_S = 1.0
CONNECTIONS = 20
"""Connections per client: eight store threads, or twenty queue senders."""


class RequestCredentials(Credentials):
    """botocore credentials: `request_credentials` of the current call, else the process's own.

    `find` loads the process's own, tried before each request until there are some.
    """

    def __init__(self, find: Callable[[], Credentials | None]) -> None:
        # botocore reads no other attribute: what it signs with are the frozen ones
        super().__init__("", "")
        self._find = find
        self._process_credentials = find()

    def get_frozen_credentials(self) -> ReadOnlyCredentials:
        """Called by botocore's signer before each request."""
        if credentials := request_credentials.get():
            return ReadOnlyCredentials(
                credentials["key"], credentials["secret"], credentials.get("token") or None
            )
        self._process_credentials = self._process_credentials or self._find()
        if self._process_credentials is None:
            raise NoCredentialsError
        return self._process_credentials.get_frozen_credentials()


def make_session(credentials: Sequence[str]) -> boto3.Session:
    """A session with these key, secret and token; empty for boto3's own search."""
    session = Session()
    # looked up before ours replaces it, or it would call itself
    load = session.get_component("credential_provider").load_credentials
    find = functools.partial(Credentials, *credentials) if credentials else load
    provider = SimpleNamespace(load_credentials=functools.partial(RequestCredentials, find))
    session.register_component("credential_provider", provider)
    return boto3.Session(botocore_session=session)


def make_client(
    session: boto3.Session, service: str, *, read_timeout: float, attempts: int, address: str = ""
) -> Any:
    """A low-level client; `attempts` includes the first, `read_timeout` is per attempt."""
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=CONNECTIONS,
        tcp_keepalive=True,
    )
    factory: Any = session.client
    client: Any = factory(service, config=config, endpoint_url=address or None)
    client.meta.events.register("before-parse.dynamodb", _check_body)
    return client


def _check_body(response_dict: Mapping[str, Any], **_: object) -> None:
    """TruncatedBody for a DynamoDB response that was cut off; botocore would parse it as empty, as
    if the item did not exist."""
    body: bytes = response_dict["body"]
    checksum = response_dict["headers"].get("x-amz-crc32")
    is_whole = int(checksum) == zlib.crc32(body) if checksum else _is_json(body)
    # a 5xx may come from before the service, with any body: its status says enough
    if response_dict["status_code"] < 500 and not is_whole:
        raise TruncatedBody(len(body))


def _is_json(body: bytes) -> bool:
    try:
        return not body or orjson.loads(body) is not None
    except orjson.JSONDecodeError:
        return False
