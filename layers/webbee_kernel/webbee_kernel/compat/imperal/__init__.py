"""Runs extensions written for `imperal-sdk` 5 to 6.3.7.

- `adopt`              the SDK's public registries, as this kernel's own definitions, each handler
                       wrapped: its Context made, its result made presentable
- `conversion`         arguments, results and errors from one SDK to the other
- `platform_context`   the SDK's `Context`, its clients the kernel's
- `platform_clients`   the clients, in the SDK's shapes, raising its errors
- `handbuilt`          the address and token that clients built by hand are made of
- `loopback_gateway`   what answers there: the same clients over loopback HTTP

Imported only when an extension has imported `imperal_sdk`, so a deployment without one never pays
for that SDK. The SDK is untyped to us: `Any` stands for its objects, in this package and nowhere
else.
"""

from .adopt import adopt

__all__ = ["adopt"]
