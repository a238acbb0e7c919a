"""Secrets as SSM parameters of type SecureString: encrypted by KMS, read one at a time, never kept.

The path `tenant/user/app/name` becomes the parameter `<prefix>/tenant/user/app/name`. Parameter
names hold only letters, digits and `_ . -`, so any other character, and the dot itself, is written
as `.` and two hex digits per UTF-8 byte: `auth0|42` becomes `auth0.7C42`, and no two paths share a
name. A value has up to 4 KB in the standard tier, 8 KB above it.
"""

from __future__ import annotations

import re
from typing import Any

from ..aws.clients import ClientFactory, aws_client, error_code, in_thread, outage
from ..errors import BadInput, StorageUnavailable
from ..types import JSONObject

MAX_VALUE_BYTES = 8 * 1024
_PLAIN = re.compile(r"[A-Za-z0-9_-]")


class SsmSecretStore:
    """`SecretStore` on Parameter Store; each method is one request."""

    def __init__(
        self, prefix: str, client_factory: ClientFactory = aws_client, *, key: str = ""
    ) -> None:
        """`key` is the ARN of the KMS key that values are encrypted with; empty takes the
        account's own for parameters."""
        self._key = {"KeyId": key} if key else {}
        self._prefix = "/" + prefix.strip("/")
        self._client_factory = client_factory

    async def get(self, path: str) -> str | None:
        answer = await self._call("get_parameter", Name=self._name(path), WithDecryption=True)
        return str(answer["Parameter"]["Value"]) if answer else None

    async def set(self, path: str, value: str) -> None:
        size = len(value.encode())
        if not value or size > MAX_VALUE_BYTES:
            raise BadInput(
                f"A secret has 1 to {MAX_VALUE_BYTES} bytes; this one has {size}.",
                code="too_large",
                limit=MAX_VALUE_BYTES,
            )
        await self._call(
            "put_parameter",
            Name=self._name(path),
            Value=value,
            Type="SecureString",
            Tier="Intelligent-Tiering",
            Overwrite=True,
            **self._key,
        )

    async def delete(self, path: str) -> bool:
        return await self._call("delete_parameter", Name=self._name(path)) is not None

    async def below(self, path: str) -> tuple[str, ...]:
        """Ten a request: what the service gives at once."""
        found: list[str] = []
        more: JSONObject = {}
        while True:
            answer = await self._call(
                "get_parameters_by_path", Path=self._name(path), Recursive=True, **more
            )
            for parameter in (answer or {}).get("Parameters", []):
                name = str(parameter["Name"]).removeprefix(f"{self._prefix}/")
                found.append("/".join(map(_plain, name.split("/"))))
            if not answer or "NextToken" not in answer:
                return tuple(sorted(found))
            more = {"NextToken": answer["NextToken"]}

    def _name(self, path: str) -> str:
        parts = path.split("/")
        if not all(parts):
            raise ValueError(f"secret path {path!r} has an empty part")
        return "/".join([self._prefix, *map(_escaped, parts)])

    async def _call(self, operation: str, **request: Any) -> JSONObject | None:
        """None where the parameter does not exist."""
        answer: JSONObject | None = await in_thread(self._send, operation, request)
        return answer

    def _send(self, operation: str, request: JSONObject) -> Any:
        try:
            return getattr(self._client_factory("ssm"), operation)(**request)
        except Exception as error:
            if error_code(error) == "ParameterNotFound":
                return None
            # the original may quote the request, and the request the value: it stays behind
            what = "The parameter store"
            raise outage(error, what) or StorageUnavailable(
                f"{what} refused {operation} ({error_code(error)})."
            ) from None


def _escaped(part: str) -> str:
    return "".join(
        char if _PLAIN.match(char) else "".join(f".{byte:02X}" for byte in char.encode())
        for char in part
    )


def _plain(part: str) -> str:
    """The inverse of `_escaped`."""
    return re.sub(
        r"(?:\.[0-9A-F]{2})+",
        lambda match: bytes.fromhex(match.group().replace(".", "")).decode(),
        part,
    )
