"""Credentials for one person's data and nobody else's, for an export or an erasure.

The role reaches every person's partitions; the session policy that goes with `AssumeRole` narrows
it to the one at hand. What both allow is allowed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from .clients import ClientFactory, aws_client

LASTS_S: Final = 900
"""Seconds that the credentials live: the least STS gives."""


@dataclass(frozen=True, slots=True)
class Reach:
    """One person's: the partition `tenant#user`, what a pseudonym's begin with, and the path of the
    secrets."""

    partition: str
    pseudonyms: str
    secrets: str

    def policy(self) -> str:
        """The session policy, JSON. A pattern's own characters in an id match themselves alone."""
        own, secrets = literal(self.partition), literal(self.secrets.strip("/"))
        keys = [own, f"{own}#*", f"{literal(self.pseudonyms)}*"]
        parameter = "arn:*:ssm:*:*:parameter/"
        return narrowed(keys, [f"{parameter}{secrets}", f"{parameter}{secrets}/*"], "kms:*")


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


def clients_for(role: str, reach: Reach) -> ClientFactory:
    """Clients with those credentials; STS is asked when the first one is needed."""
    made: dict[str, Any] = {}

    def client(service: str) -> Any:
        from .session import make_client

        if "session" not in made:
            made["session"] = _session(role, reach)
        if service not in made:
            made[service] = make_client(made["session"], service, read_timeout=20, attempts=4)
        return made[service]

    return client


def _session(role: str, reach: Reach) -> Any:
    from .session import make_session

    answer = aws_client("sts").assume_role(
        RoleArn=role,
        RoleSessionName="webbee-person",
        DurationSeconds=LASTS_S,
        Policy=reach.policy(),
    )
    given = answer["Credentials"]
    return make_session([given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]])


def literal(text: str) -> str:
    """The text in a policy's pattern: what matches it alone."""
    return re.sub(r"[*?$]", lambda match: "${" + match.group() + "}", text)
