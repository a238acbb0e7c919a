"""AWS's older protocol, which STS speaks: a form in, XML out. Pure; as much of it as taking a role
needs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

from ..values.plain import JSON, JSONObject

VERSION: Final = "2011-06-15"
"""Of STS, the only one there is."""
FORM: Final = "application/x-www-form-urlencoded; charset=utf-8"


def form(action: str, request: JSONObject) -> bytes:
    """The body of a request: lists become `Tags.member.1.Key`."""
    pairs = [("Action", action), ("Version", VERSION)]
    for name, value in request.items():
        pairs += _flat(name, value)
    return urlencode(pairs).encode()


def _flat(name: str, value: JSON) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for n, item in enumerate(value, start=1):
            yield from _flat(f"{name}.member.{n}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(f"{name}.{key}", item)
    else:
        yield name, str(value)


def result(body: bytes) -> JSONObject:
    """What stands in the answer's `…Result`, as boto3 gives it."""
    root = ET.fromstring(body)  # noqa: S314 - AWS's own answer
    found = next((part for part in root if part.tag.endswith("Result")), root)
    return {_name(part): _read(part) for part in found}


def error(body: bytes) -> JSONObject:
    """Code and message of an error answer; empty for what is none."""
    try:
        root = ET.fromstring(body)  # noqa: S314
    except ET.ParseError:
        return {}
    found = next((part for part in root if _name(part) == "Error"), ())
    told = {_name(part): part.text or "" for part in found}
    return {"code": told.get("Code", ""), "message": told.get("Message", "")}


def _read(part: ET.Element) -> JSON:
    if len(part):
        return {_name(inner): _read(inner) for inner in part}
    text = part.text or ""
    if _name(part) == "Expiration":
        return datetime.fromisoformat(text)
    return int(text) if _name(part) == "PackedPolicySize" else text


def _name(part: ET.Element) -> str:
    return part.tag.rpartition("}")[2]
