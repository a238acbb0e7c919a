"""Runs extensions written for another SDK, `imperal-sdk` 5 to 6.3.7, unchanged.

- `adopt`              the SDK's public registries, as this kernel's own definitions, each handler
                       wrapped: its Context made, its result made presentable
- `conversion`         arguments, results and errors from one SDK to the other
- `platform_context`   the SDK's `Context`, its clients the kernel's
- `platform_clients`   the clients, in the SDK's shapes, raising its errors
- `handbuilt`          the address and token that clients built by hand are made of
- `loopback_gateway`   what answers there: the same clients over loopback HTTP

Imported only when an extension has imported `imperal_sdk`, so a deployment without one never pays
for that SDK. The SDK is untyped to us: `Any` stands for its objects, in this package and nowhere
else. Here are the names that are used of it, and where its versions keep them: public modules only.

May import: extensions/context, sdk and what is below them. Entrance: `adopt.adopt`.
"""

from __future__ import annotations

import importlib
from typing import Any

import imperal_sdk

from ..sdk import exceptions


def _find(name: str, *modules: str, default: Any = None) -> Any:
    """An attribute of the first of these modules that has it, else of the package."""
    for module in (*modules, ""):
        try:
            home = importlib.import_module(f"imperal_sdk.{module}" if module else "imperal_sdk")
            return getattr(home, name)
        except (ImportError, AttributeError):
            continue
    return default


Context: Any = imperal_sdk.Context
Extension: Any = imperal_sdk.Extension
ActionResult: Any = imperal_sdk.ActionResult
Document: Any = imperal_sdk.Document
Page: Any = imperal_sdk.Page
HTTPResponse: Any = imperal_sdk.HTTPResponse
CompletionResult: Any = imperal_sdk.CompletionResult
FileInfo: Any = imperal_sdk.FileInfo
Event: Any = imperal_sdk.Event
WebhookRequest: Any = imperal_sdk.WebhookRequest
UserContext: Any = _find("UserContext", "types.identity")
TenantContext: Any = _find("TenantContext", "types.identity")
TimeContext: Any = _find("TimeContext", "context")
ConfigClient: Any = _find("ConfigClient", "config.client")
SecretStatus: Any = _find("SecretStatus", "secrets")
BillingClient: Any = _find("BillingClient", "billing.client", "billing")
LimitsResult: Any = _find("LimitsResult", "billing")
BillingLimits: Any = _find("LimitsResult", "types")
BalanceInfo: Any = imperal_sdk.BalanceInfo
SubscriptionInfo: Any = imperal_sdk.SubscriptionInfo

APIError: Any = imperal_sdk.APIError
NotFoundError: Any = imperal_sdk.NotFoundError
ExtensionError: Any = imperal_sdk.ExtensionError
CircularCallError: Any = imperal_sdk.CircularCallError
SkeletonAccessForbidden: Any = imperal_sdk.SkeletonAccessForbidden
StoreUnavailable: Any = _find(
    "StoreUnavailable", "store.exceptions", default=exceptions.StoreUnavailable
)
StoreConflict: Any = _find("StoreConflict", "store.exceptions", default=exceptions.StoreConflict)
SecretNotDeclaredError: Any = _find("SecretNotDeclaredError", "secrets")
SecretWriteForbidden: Any = _find("SecretWriteForbidden", "secrets")
SecretVaultUnavailable: Any = _find("SecretVaultUnavailable", "secrets")
SecretValueTooLarge: Any = _find("SecretValueTooLarge", "secrets")


class AuthError(_find("AuthError", "errors"), imperal_sdk.AuthError):  # type: ignore[misc]
    """The SDK has two errors of this name and raises the one its package does not export; this is
    both."""
