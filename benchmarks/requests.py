"""What one AWS request costs: our own client beside botocore's, the same requests to the same local
server, as function calls (no noise) and as CPU of the sending thread, interleaved."""

from __future__ import annotations

import cProfile
import datetime as dt
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import orjson
from botocore.config import Config

from tests.aws.service import Reply, served
from tests.aws.trust import certificate
from webbee_kernel.aws import direct, trust
from webbee_kernel.aws.direct import Direct
from webbee_kernel.aws.signing import Credentials

CALLS_BAR = 0.4
"""Function calls of a request, ours to botocore's."""
REPEATS, ROUNDS = 40, 5
CONNECTIONS = 10

ITEM = {"pk": {"S": "acme#alice#s"}, "sk": {"S": "turn#1"}, "data": {"B": "AP8=" * 120}}
TOOLS = [
    {
        "toolSpec": {
            "name": f"app__function_{n}",
            "description": "What this function does, in one sentence.",
            "inputSchema": {
                "json": {
                    "type": "object",
                    "properties": {f"argument_{i}": {"type": "string"} for i in range(4)},
                }
            },
        }
    }
    for n in range(25)
]
REQUESTS: dict[str, tuple[str, str, dict[str, Any], Any]] = {
    "Query of five turns": (
        "dynamodb",
        "query",
        {
            "TableName": "t",
            "KeyConditionExpression": "#pk = :pk",
            "ExpressionAttributeNames": {"#pk": "pk"},
            "ExpressionAttributeValues": {":pk": {"S": "acme#alice#s"}},
            "ConsistentRead": True,
        },
        {"Items": [ITEM] * 5, "Count": 5, "ScannedCount": 5},
    ),
    "PutItem of a turn": (
        "dynamodb",
        "put_item",
        {"TableName": "t", "Item": {"pk": {"S": "x"}, "data": {"B": b"x" * 700}}},
        {},
    ),
    "Invoke of a call": (
        "lambda",
        "invoke",
        {"FunctionName": "cell:live", "Payload": b"{}" * 300},
        {"status": "ok"},
    ),
    "Converse, 25 tools": (
        "bedrock-runtime",
        "converse",
        {
            "modelId": "eu.amazon.nova-lite-v1:0",
            "messages": [{"role": "user", "content": [{"text": "x" * 3000}]}],
            "toolConfig": {"tools": TOOLS},
        },
        {
            "output": {"message": {"role": "assistant", "content": [{"text": "y" * 300}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
            "metrics": {"latencyMs": 5},
        },
    ),
}


def main() -> int:
    """Print the table; 1 when a request takes more than its share of botocore's function calls."""
    missed = 0
    print("                        function calls            CPU, ms a request")
    print("                        ours  botocore  ratio     ours  botocore  ratio")
    with served() as service:
        for name, (of, operation, request, body) in REQUESTS.items():
            reply = Reply(orjson.dumps(body))
            both = [getattr(c, operation) for c in (ours(service.url, of), theirs(service.url, of))]
            service.script[:] = [reply] * 10_000
            calls = [counted(one, request) for one in both]
            spent = [statistics.median(row) for row in zip(*measured(both, request), strict=True)]
            ratio = calls[0] / calls[1]
            missed += ratio > CALLS_BAR
            print(
                f"{name:22}{calls[0]:6.0f}{calls[1]:10.0f}{ratio:7.2f}"
                f"{spent[0]:10.2f}{spent[1]:10.2f}{spent[0] / spent[1]:7.2f}"
            )
    connecting()
    loading()
    print(f"\nbar: at most {CALLS_BAR} of botocore's function calls" + (": missed" * bool(missed)))
    return 1 if missed else 0


def ours(url: str, service: str) -> Direct:
    return Direct(
        service,
        region="eu-west-1",
        endpoint=url,
        credentials=lambda: Credentials("AKID", "secret", "token"),
        read_timeout=5,
        attempts=4,
        elsewhere=lambda: None,
    )


def theirs(url: str, service: str, **options: Any) -> Any:
    made: Any = boto3.Session(
        aws_access_key_id="AKID", aws_secret_access_key="secret", aws_session_token="token"
    ).client
    config = Config(retries={"mode": "standard", "total_max_attempts": 4})
    return made(service, region_name="eu-west-1", endpoint_url=url, config=config, **options)


def counted(send: Callable[..., Any], request: dict[str, Any]) -> float:
    """Function calls of one request, connections being open."""
    send(**request)
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(REPEATS):
        send(**request)
    profile.disable()
    return float(sum(entry.callcount for entry in profile.getstats())) / REPEATS


def measured(
    both: list[Callable[..., Any]], request: dict[str, Any]
) -> Iterator[tuple[float, ...]]:
    """CPU of this thread for a request of each, ROUNDS times in turn."""
    for _ in range(ROUNDS):
        yield tuple(spent(lambda one=one: one(**request), REPEATS) for one in both)


def spent(work: Callable[[], Any], times: int) -> float:
    started = time.thread_time()
    for _ in range(times):
        work()
    return (time.thread_time() - started) * 1000 / times


@contextmanager
def secured() -> Iterator[tuple[str, Path]]:
    """A server that speaks TLS, and the certificate it is trusted by."""
    with tempfile.TemporaryDirectory() as folder:
        path = certificate(Path(folder), dt.datetime.now(dt.UTC))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        with served(Reply(last=True), tls=context) as service:
            yield service.url, path


def connecting() -> None:
    """A request over a new TLS connection each: botocore reads its bundle of authorities anew."""
    with secured() as (url, path):
        trusting = trust.tls()
        trusting.load_verify_locations(path)
        query = REQUESTS["PutItem of a turn"][2]
        bundle = Path(trust.bundle() or "").read_text() + path.read_text()
        both = path.with_name("bundle.pem")
        both.write_text(bundle)
        mine = ours(url, "dynamodb")
        mine.put_item(**query)

        def anew() -> None:
            direct.pool.cache_clear()
            ours(url, "dynamodb").put_item(**query)

        other = theirs(url, "dynamodb", verify=str(both))

        def botocores() -> None:
            other._endpoint.http_session.close()
            other.put_item(**query)

        rows = [(spent(anew, CONNECTIONS), spent(botocores, CONNECTIONS)) for _ in range(3)]
    first, second = (statistics.median(row) for row in zip(*rows, strict=True))
    print(f"\na request over a new TLS connection: {first:.1f} ms, botocore {second:.1f} ms")


LOADING = {
    "ours": """
from webbee_kernel.aws.direct import Direct
from webbee_kernel.aws.signing import Credentials
Direct("dynamodb", region="eu-west-1", endpoint="https://x", read_timeout=3, attempts=4,
       credentials=lambda: Credentials("a", "b"), elsewhere=lambda: None)
""",
    "botocore's": """
from botocore.session import Session
session = Session()
session.set_credentials("a", "b")
session.create_client("dynamodb", region_name="eu-west-1")
""",
}


def loading() -> None:
    """Import and first client in a fresh interpreter that has loaded what the kernel loads
    anyway."""
    found: dict[str, list[float]] = {name: [] for name in LOADING}
    for _ in range(5):
        for name, code in LOADING.items():
            text = (
                "import time, webbee_kernel.values.plain, asyncio, orjson\n"
                f"started = time.process_time()\n{code}\n"
                "print((time.process_time() - started) * 1000)"
            )
            done = subprocess.run(
                [sys.executable, "-c", text], capture_output=True, text=True, check=True
            )
            found[name].append(float(done.stdout))
    shown = ", ".join(f"{name} {statistics.median(times):.0f} ms" for name, times in found.items())
    print(f"import and first client: {shown}")
