"""`webbee keys rotate`: a new key for the addresses of webhooks, with the operator's own AWS
credentials."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from .people import clients
from .show import CliError, put_json

RESOURCE = "WebhookKey"
"""The stack's secret, by its name in template.yaml."""
TAKES_S = 300
"""Seconds until every process signs with the new one (`aws/webhook_keys.KEPT_S`)."""


def _secret_of(stack: str, aws: Callable[[str], Any]) -> str:
    found = aws("cloudformation").describe_stack_resource(
        StackName=stack, LogicalResourceId=RESOURCE
    )
    return str(found["StackResourceDetail"]["PhysicalResourceId"])


def rotate(options: argparse.Namespace) -> int:
    """Put a new value into the stack's secret. The one before stays good, until the next rotation:
    addresses that services were given with it go on until then."""
    aws = clients()
    try:
        arn = options.secret or _secret_of(options.stack, aws)
        put = aws("secretsmanager").put_secret_value(
            SecretId=arn, SecretString=secrets.token_urlsafe(48)
        )
    except (ClientError, BotoCoreError) as error:
        raise CliError(f"the key of {options.stack} was not rotated: {error}") from None
    if options.json:
        put_json({"secret": arn, "version": put["VersionId"], "signs_within_s": TAKES_S})
        return 0
    print(f"{RESOURCE} has a new value, version {put['VersionId']}")
    print(f"within {TAKES_S // 60} minutes new addresses are signed with it; those signed with the")
    print("one before stay good until you rotate again: give the services new ones before that")
    return 0
