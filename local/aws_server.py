"""AWS on a port: moto as a server behind one lock, for what does not run in this process.

`python -m local.aws_server` also creates the tables and the queue of template.yaml, for `sam local
invoke`.
"""

from __future__ import annotations

import argparse
import io
import logging
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto.backends import get_backend
from moto.core.config import default_user_config
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from .aws import REGION, Record, access_key, in_region
from .template import create_tables, load_template

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
}
"""Environment of whatever talks to it."""


_SERVICES = (
    "dynamodb",
    "sqs",
    "ssm",
    "s3",
    "cloudformation",
    "awslambda",
    "iam",
    "logs",
    "events",
)


class _OneAtATime:
    """moto is not thread-safe (see `aws.py`): a WSGI application behind a lock."""

    def __init__(self, record: Record | None) -> None:
        self._record = record
        self._application = DomainDispatcherApplication(create_backend_app)
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if self._record:
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = io.BytesIO(body)
            self._record(
                access_key(environ.get("HTTP_AUTHORIZATION", "")),
                environ.get("HTTP_X_AMZ_TARGET", ""),
                body,
            )
        environ["HTTP_AUTHORIZATION"] = in_region(environ.get("HTTP_AUTHORIZATION", ""))
        with self._lock:
            return list(self._application(environ, start_response))


@contextmanager
def aws_server(
    host: str = "127.0.0.1", port: int = 0, *, record: Record | None = None
) -> Iterator[str]:
    """An empty AWS account at the address this yields, for the time of the block; one per
    process."""
    default_user_config["lambda"] = {
        "use_docker": False
    }  # it only remembers functions; nothing here runs them through it
    _forget()  # another account of this process may have left its tables behind
    server = make_server(host, port, _OneAtATime(record), threaded=True)
    thread = threading.Thread(target=server.serve_forever, name="aws", daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(timeout=5)
        _forget()


def account() -> Any:
    """The account as a WSGI application, for another server than this module's."""
    return _OneAtATime(None)


def _forget() -> None:
    for name in _SERVICES:
        get_backend(name).reset()


def client(url: str, service: str, **options: Any) -> Any:
    """A boto3 client of the account at `url`."""
    made: Any = boto3.client
    return made(
        service,
        region_name=REGION,
        endpoint_url=url,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106
        **options,
    )


def main(arguments: list[str] | None = None) -> int:
    """Serve tables and queue until interrupted."""
    parser = argparse.ArgumentParser(
        prog="make aws", description="Serve the tables and the queue of template.yaml on moto."
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=4566)
    options = parser.parse_args(arguments)
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # a line a request, which tells nothing
    with aws_server(options.host, options.port) as url:
        create_tables(client(url, "dynamodb"), load_template())
        queue = client(url, "sqs").create_queue(QueueName="RefreshQueue")["QueueUrl"]
        print(
            f"AWS (moto) listens on {url}; queue {queue}; Ctrl-C stops it and forgets everything",
            flush=True,
        )
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("\nstopped; nothing of this run is kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
