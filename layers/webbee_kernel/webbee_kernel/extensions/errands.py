"""Errands: what the kernel itself does where extensions run, because only there their user's
secrets and documents are in reach. No handler is asked, but for the listeners of a sign-in.

| kind            | name     | arguments       | outcome's data                             |
|-----------------|----------|-----------------|--------------------------------------------|
| `secrets`       | –        | –               | `{"secrets": [{"name", "is_set", …}]}`     |
| `secret_put`    | secret   | `value`         | `{"is_set": true}`                         |
| `secret_delete` | secret   | –               | `{"is_set": false}`                        |
| `signin`        | provider | `state`         | `{"user", "key"}`, none when it is over    |
| `connect`       | provider | `state`, `code` | `{"provider", "email", "collection", "id"}` |
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from ..types import CallOutcome, CallRequest
from . import secret_calls, signin_calls
from .context import ContextFactory
from .registry import LoadedExtension

Errand: TypeAlias = Callable[[ContextFactory, LoadedExtension, CallRequest], Awaitable[CallOutcome]]

KINDS: Mapping[str, Errand] = MappingProxyType(
    {
        "secrets": secret_calls.listed,
        "secret_put": secret_calls.put,
        "secret_delete": secret_calls.delete,
        "signin": signin_calls.find,
        "connect": signin_calls.connect,
    }
)
"""What does each kind. A database that is gone is raised, as everywhere."""
