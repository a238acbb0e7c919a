"""A tiny client of the API, for the demo and the command line."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlencode


class Client:
    """One bearer token's view of the API. Errors of the API raise RuntimeError with its message."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token

    def get(self, path: str, **query: str) -> Any:
        """GET with a query."""
        return self._send("GET", path + ("?" + urlencode(query) if query else ""))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """POST a JSON body."""
        return self._send("POST", path, body)

    def put(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """PUT a JSON body."""
        return self._send("PUT", path, body)

    def delete(self, path: str) -> Any:
        """DELETE."""
        return self._send("DELETE", path)

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - http(s) only
            self._url + path, data=data, method=method, headers=headers
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
                text = response.read().decode()
                return (
                    json.loads(text)
                    if response.headers.get_content_type() == "application/json"
                    else text
                )
        except urllib.error.HTTPError as error:
            with error:
                raise RuntimeError(f"{error.code} {error.read().decode()[:500]}") from None
