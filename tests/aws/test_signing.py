"""Our signature is botocore's."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any
from urllib.parse import quote

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as TheirCredentials

from webbee_kernel.aws.signing import Credentials, authorization

MOMENT = dt.datetime(2026, 11, 22, 10, 15, tzinfo=dt.UTC)
TEXT = "abcXYZ019-._~:/ é+%=&\U0001f600\t'\"*()!@,;"


def text(dice: random.Random, most: int) -> str:
    return "".join(dice.choices(TEXT, k=dice.randint(1, most)))


def theirs(url: str, headers: dict[str, str], body: bytes, keys: Credentials, where: Any) -> str:
    request = AWSRequest("POST", url, headers=dict(headers), data=body)
    request.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(TheirCredentials(keys.key, keys.secret, keys.token or None), *where)
    string = signer.string_to_sign(request, signer.canonical_request(request))
    signature = signer.signature(string, request)
    names = signer.signed_headers(signer.headers_to_sign(request))
    return (
        f"AWS4-HMAC-SHA256 Credential={signer.scope(request)}, SignedHeaders={names},"
        f" Signature={signature}"
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_signature_equals_botocores(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(100):
        keys = Credentials(text(dice, 20), text(dice, 40), text(dice, 60).strip())
        host = f"{dice.choice('abc')}.example.com:{dice.randint(1, 9999)}"
        path = "/" + "/".join(
            quote(f"m{text(dice, 12)}", safe="-._~") for _ in range(dice.randint(0, 3))
        )
        moment = MOMENT + dt.timedelta(seconds=dice.randint(0, 10**8))
        headers = {
            "host": host,
            "x-amz-date": moment.strftime("%Y%m%dT%H%M%SZ"),
            **{f"x-amz-{dice.choice('abc')}{n}": text(dice, 20) for n in range(dice.randint(0, 4))},
        }
        body = dice.randbytes(dice.randint(0, 500))
        where = (dice.choice(["dynamodb", "sqs", "bedrock"]), dice.choice(["eu-west-1", "xx"]))
        ours = authorization(
            "POST", path, headers, body, credentials=keys, service=where[0], region=where[1]
        )
        assert ours == theirs(f"https://{host}{path}", headers, body, keys, where)
