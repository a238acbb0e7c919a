"""The key of a model server: given outright, or read from the parameter store when it is first
needed, and again every few minutes: a new key takes over without a deployment, and without a failed
turn where the old one still holds for so long."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from ..aws.clients import ClientFactory, aws_client, error_code, in_thread
from ..errors import ModelUnavailable

_HELP: Final = {
    "ParameterNotFound": "it does not exist in this account and region",
    "AccessDeniedException": "the function's role may not read it",
}


KEPT_S: Final = 300.0
"""Seconds after which a key is read anew: for so long the one before it must stay valid."""


class ModelKey:
    """`await key.get()`; empty for a server that wants none. Its value is in no repr, message or
    log."""

    def __init__(
        self,
        value: str = "",
        *,
        parameter: str = "",
        client_factory: ClientFactory = aws_client,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._value = value
        self._now = now
        self._read_at = 0.0
        self._parameter = "" if value else parameter
        self._client_factory = client_factory

    async def get(self) -> str:
        """The key; ModelUnavailable, and another try with the next request, where it cannot be
        read. One that is held stays until it can be read anew."""
        if self._parameter and not self._value:
            await self._renew()
        elif self._parameter and self._now() - self._read_at >= KEPT_S:
            with suppress(ModelUnavailable):
                await self._renew()
        key = self._value.strip()
        if not (key.isascii() and key.isprintable()):
            self.forget()
            raise ModelUnavailable(
                "The model's key holds characters that no header can carry: check WEBBEE_MODEL_KEY"
                " or its parameter."
            )
        return key

    async def replaced(self) -> bool:
        """The server refused the key: whether its parameter holds another one by now, which is
        taken."""
        refused = self._value
        if self._parameter:
            with suppress(ModelUnavailable):
                await self._renew()
        return self._value != refused

    async def _renew(self) -> None:
        self._read_at = self._now()
        self._value = await in_thread(self._read)

    def hidden(self, text: str) -> str:
        """A text of the server's without the key, which some quote."""
        return text.replace(self._value, "…") if self._value else text

    def forget(self) -> None:
        """The server refused the key: if it came from a parameter, read it anew next time, it may
        have been replaced."""
        if self._parameter:
            self._value = ""

    def _read(self) -> str:
        try:
            answer = self._client_factory("ssm").get_parameter(
                Name=self._parameter, WithDecryption=True
            )
            return str(answer["Parameter"]["Value"])
        except Exception as error:  # the original may quote the value: it stays behind
            code = error_code(error)
            why = _HELP.get(code, code or type(error).__name__)
            raise ModelUnavailable(
                "The model's key cannot be read from the parameter that WEBBEE_MODEL_KEY_SECRET"
                f" names: {why}."
            ) from None

    def __repr__(self) -> str:
        return f"ModelKey(parameter={self._parameter!r})"


__all__ = ["ModelKey"]
