"""BFCL's simulated APIs as extensions, beside the ones that the ground truth acts on."""

from __future__ import annotations

import copy
import functools
import json
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field, create_model

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

from . import packages
from .planner import Planner

DESTRUCTIVE = frozenset("rm rmdir delete_message cancel_order cancel_booking".split())
WRITES = frozenset(
    """cd mkdir touch echo mv cp message_login send_message add_contact authenticate_twitter
    post_tweet retweet comment mention follow_user unfollow_user create_ticket close_ticket
    resolve_ticket edit_ticket ticket_login logout place_order withdraw_funds trading_login
    trading_logout fund_account remove_stock_from_watchlist add_to_watchlist notify_price_change
    authenticate_travel register_credit_card book_flight set_budget_limit purchase_insurance
    contact_customer_support startEngine fillFuelTank lockDoors adjustClimateControl setHeadlights
    activateParkingBrake pressBrakePedal releaseBrakePedal
    setCruiseControl set_navigation""".split()
)
"""What an author would declare; BFCL does not say. All others read."""

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "float": float,
    "number": float,
    "boolean": bool,
    "tuple": list,
}
_OBJECTS = ("dict", "object")


@dataclass
class World:
    """The APIs of one conversation: those that the kernel's calls act on, and those of the ground
    truth."""

    live: dict[str, Any] = field(default_factory=dict)
    truth: dict[str, Any] = field(default_factory=dict)
    planner: Planner = field(default_factory=Planner)

    def begin(self, entry: Mapping[str, Any], *, long: bool) -> None:
        """A conversation starts."""
        self.live, self.truth = _instances(entry, long=long), _instances(entry, long=long)
        self.planner = Planner()

    def call(self, api: str, function: str, arguments: dict[str, Any]) -> ActionResult:
        """Run a function of an API."""
        data = run(self.live[api], function, arguments)
        error = data.get("error")
        self.planner.ran(function, arguments, data, ok=not error)
        return (
            ActionResult.error(str(error), code="API_ERROR")
            if error
            else ActionResult.success(data, "")
        )


def run(api: Any, function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A call of a simulated API, its result as an object; what it raises becomes an error, as in
    BFCL."""
    try:
        value = getattr(api, function)(**arguments)
    except Exception as error:
        value = {"error": f"Error during execution: {error}"}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = {"result": value}
    value = json.loads(json.dumps(value, default=str))
    if isinstance(value, list):
        return {"items": value}
    return value if isinstance(value, dict) else {} if value is None else {"result": value}


def _instances(entry: Mapping[str, Any], *, long: bool) -> dict[str, Any]:
    found = {}
    for name in entry["involved_classes"]:
        api = packages.bfcl_class(name)()
        if hasattr(api, "_load_scenario"):
            api._load_scenario(
                copy.deepcopy(entry["initial_config"].get(name, {})), long_context=long
            )
        found[name] = api
    return found


def extension(world: World, api: str) -> Extension:
    """One API as an extension, from BFCL's own documents of its functions."""
    documents = packages.bfcl_documents(api)
    ext = Extension(
        api.lower(),
        "1.0.0",
        display_name=api,
        description=documents[0]["description"].split("Tool description")[0],
    )
    chat = ChatExtension(ext, description=api)
    for document in documents:
        name = document["name"]
        kind = "destructive" if name in DESTRUCTIVE else "write" if name in WRITES else "read"
        chat.function(name, document["description"], action_type=kind)(
            _handler(world, api, document)
        )
    return ext


def _handler(world: World, api: str, document: Mapping[str, Any]) -> Any:
    async def handler(ctx: Context, params: BaseModel) -> ActionResult:
        return world.call(api, document["name"], params.model_dump(exclude_unset=True))

    model = _parameters(api, document["name"])
    handler.__annotations__ = {"ctx": Context, "params": model, "return": ActionResult}
    handler.__name__ = document["name"]
    return handler


@functools.cache
def _parameters(api: str, function: str) -> type[BaseModel]:
    """The parameters of a function as a Pydantic model."""
    document = next(d for d in packages.bfcl_documents(api) if d["name"] == function)
    described = document["parameters"]
    fields: dict[str, Any] = {}
    for name, schema in described.get("properties", {}).items():
        kind, text = _type(schema), schema.get("description", "").strip()
        if name in described.get("required", []):
            fields[name] = (kind, Field(description=text))
        elif schema.get("default") is None:
            fields[name] = (kind | None, Field(None, description=text))
        else:
            fields[name] = (kind, Field(schema["default"], description=text))
    return create_model(f"{function}_parameters", **fields)


def _type(schema: Mapping[str, Any]) -> Any:
    if schema.get("enum"):
        return typing.Literal[tuple(schema["enum"])]
    if schema.get("type") in ("array", "tuple"):
        return list[_type(schema["items"])] if schema.get("items") else list[Any]  # type: ignore[misc]
    return (
        dict[str, Any]
        if schema.get("type") in _OBJECTS
        else _TYPES.get(schema.get("type", ""), Any)
    )
