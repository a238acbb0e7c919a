"""The account of moto behind connections that last, as those of AWS do: werkzeug's own server ends
each one with its answer, and a new one costs the sender as much as the request."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from werkzeug.test import EnvironBuilder, run_wsgi_app

from local.aws import Quiet, account, loopback


@contextmanager
def kept_account(trust: ssl.SSLContext | None = None) -> Iterator[str]:
    """An AWS account at the address this yields, over TLS where a server's context is given."""
    application = account()

    class Handler(Quiet):
        def do_POST(self) -> None:  # noqa: N802 - the server's own name
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sent = [*self.headers.items()]
            told = EnvironBuilder(self.path, method="POST", headers=sent, data=body)
            answer, status, headers = run_wsgi_app(application, told.get_environ())
            self.send_response_only(int(status.partition(" ")[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # who asked has ended
                self.wfile.write(b"".join(answer))

    with loopback(Handler, "aws", trust) as url:
        yield url
