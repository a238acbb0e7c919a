"""Guards: what is checked before a call may reach a handler, in the order of the contract. Pure."""

from __future__ import annotations

from collections.abc import Collection

from ..catalogue import Catalogue, FunctionInfo
from ..errors import CallError, no_app


def known(catalogue: Catalogue, app_id: str, fn_name: str) -> FunctionInfo:
    """The function, or CallError UNKNOWN_TOOL / UNKNOWN_SUB_FUNCTION."""
    app = catalogue.apps.get(app_id)
    if app is None or app.error:
        raise no_app(app_id, failed=app is not None)
    function = catalogue.function(app_id, fn_name)
    if function is None:
        why = app.withdrawn.get(fn_name, "")
        told = f"{app_id} has no function {fn_name!r}{why and f': {why}'}"
        raise CallError("UNKNOWN_SUB_FUNCTION", told)
    return function


def installed(function: FunctionInfo, apps: Collection[str]) -> None:
    """CallError PERMISSION_DENIED unless the function's app is among the user's. Scopes are looked
    at where the call runs, which is open to more than turns."""
    if function.app_id not in apps:
        raise CallError("PERMISSION_DENIED", f"{function.app_id} is not installed for this user")
