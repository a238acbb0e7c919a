"""Credentials that come with a call, and the function's own outside of the environment.

What comes with a call hangs on its context, so work of one tenant never signs with another's, in
its tasks and threads and for as long as those go on. It is order, not a wall: extension code can
find what is in this process's memory. What the credentials allow is the wall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

VARIABLES: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""Variables Lambda puts a role's credentials into."""


class Credentials(NamedTuple):
    """What a request is signed with; no token for a user of the account."""

    key: str
    secret: str
    token: str = ""


_current: ContextVar[Credentials | None] = ContextVar("credentials", default=None)
_held: list[str] = []


@contextmanager
def signing_with(given: Mapping[str, str] | None) -> Iterator[None]:
    """Sign with `{"key", "secret", "token"}` in here; None stands for the process's own."""
    token = _current.set(Credentials(**given) if given else None)
    try:
        yield
    finally:
        _current.reset(token)


def request_credentials() -> Credentials | None:
    """The credentials of the call at hand."""
    return _current.get()


def hold_credentials(environ: MutableMapping[str, str]) -> None:
    """Move the role's credentials out of the environment into the kernel's own session, before
    extension code is imported.

    What reads the environment, prints it or hands it to a child process finds none. It is a fence,
    not a wall: code in this process can still look for them in its memory, and then has what the
    function's role grants, nothing more.
    """
    key, secret, token = (environ.pop(name, "") for name in VARIABLES)
    if key and secret:
        _held[:] = [key, secret, *([token] if token else [])]


def held_credentials() -> Sequence[str]:
    """Key, secret and token that left the environment; empty where they are still there."""
    return tuple(_held)
