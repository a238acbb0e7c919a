from __future__ import annotations

import boto3
import pytest

from local.aws import aws_server, in_region
from local.deployability import resolve


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "ap-southeast-2"])
def test_whoever_asks_finds_the_tables_whatever_region_it_believes_in(region: str) -> None:
    with aws_server() as url:
        made, asked = (
            boto3.client(
                "dynamodb",
                endpoint_url=url,
                region_name=name,
                aws_access_key_id="local",
                aws_secret_access_key="local",
            )
            for name in ("eu-west-1", region)
        )
        made.create_table(
            TableName="SessionsTable",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
        assert asked.list_tables()["TableNames"] == ["SessionsTable"]
        made.close()
        asked.close()


def test_only_the_region_of_a_signature_changes() -> None:
    signed = "AWS4-HMAC-SHA256 Credential=AKID/20261122/us-east-1/sqs/aws4_request, Signature=ab"
    assert in_region(signed) == signed.replace("us-east-1", "eu-central-1")
    assert in_region("") == ""


@pytest.mark.parametrize(
    ("env", "profile", "found"),
    [
        ({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "us-east-1"}, "sa-east-1", "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "us-east-1"}, "sa-east-1", "us-east-1"),
        ({"AWS_REGION": ""}, "sa-east-1", "sa-east-1"),
    ],
)
def test_a_deployment_has_one_region_in_the_aws_command_lines_own_order(
    env: dict[str, str], profile: str, found: str
) -> None:
    assert resolve(env, profile) == found


def test_without_a_region_the_sentence_says_how_to_name_one() -> None:
    with pytest.raises(LookupError, match="export AWS_REGION="):
        resolve({}, None)
