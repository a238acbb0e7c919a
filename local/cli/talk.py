"""`webbee chat` and `inspect`: through the API, as the page does."""

from __future__ import annotations

import argparse
import sys
import uuid
from collections.abc import Iterator
from typing import Any

from webbee_kernel.text import one_line
from webbee_kernel.turn.messages import as_text

from ..loopback import Client
from ..project import COMMAND, URL
from ..terminal import CliError, mark, paint, tell, waiting, wrapped


def client(options: argparse.Namespace) -> Client:
    """The API that the options name; a token is needed unless it runs on this machine."""
    local = any(host in options.url for host in ("//127.0.0.1", "//localhost", "//[::1]"))
    token = options.token or ("dev" if local else "")
    if not options.url.startswith(("http://", "https://")):
        raise CliError(f"{options.url} is no address: --url https://…")
    if not token:
        raise CliError(f"{options.url} needs a token: --token or WEBBEE_TOKEN")
    return Client(options.url, token)


def chat(options: argparse.Namespace) -> int:
    """One message and its reply; 1 where the turn ended with an error."""
    session = options.session or uuid.uuid4().hex[:12]
    with waiting("…"):
        answer = client(options).turn(" ".join(options.message), session)
    tell(options, answer, shown(answer))
    if not (options.json or options.session):
        to = "" if options.url == URL else f" --url {options.url}"
        told = f"go on with: {COMMAND} chat{to} --session {session} …"
        print(paint(told, "dim"), file=sys.stderr)
    return 0 if answer["status"] != "error" else 1


def shown(answer: dict[str, Any]) -> Iterator[str]:
    """A turn's calls and its reply."""
    for call in answer["calls"]:
        took = paint(f"{call['duration_ms']} ms {call.get('error_code', '')}", "dim")
        yield f"  {mark(call['status'] == 'ok')} {call['app_id']}.{call['fn_name']} {took}"
    yield wrapped(as_text(answer), "  ").replace("  ", paint("webbee  ", "bold", "yellow"), 1)


def inspect(options: argparse.Namespace) -> int:
    """What the model would read for a message, and where a value stands: 1 where it sees none."""
    query = {"message": " ".join(options.message), "session_id": options.session or "inspect"}
    query |= {"search": options.search} if options.search else {}
    report = client(options).get("/v1/inspect", **query)
    if options.session and not report["turns"]:
        print(f"session {options.session} has no turns yet", file=sys.stderr)
    tell(options, report, found_in(report["search"]) if options.search else lines_of(report))
    return 1 if options.search and not report["search"]["seen"] else 0


def lines_of(report: dict[str, Any]) -> Iterator[str]:
    """The prompt, how large its parts are, and what of each section is not in it."""
    yield report["prompt"] + "\n"
    for block in report["blocks"]:
        cap = f" of {block['cap']:,}" if block["cap"] else ""
        yield f"{block['name']:10} {block['chars']:,}{cap} characters"
    for app in report["failed"]:
        yield f"\n{mark(False)} {app['app_id']} failed to load: {app['reason']}"
    for section in report["sections"]:
        well = section["in_prompt"] and not section["failures"]
        name = f"{section['app_id']}.{section['section']}"
        yield f"\n{mark(well, 'warning')} {name} {paint(state_of(section), 'dim')}"
        for field in section["fields"]:
            for loss in field["losses"] if field["state"] != "shown" else ():
                yield f"    {field['state']:8} {loss['path']}: {loss['because']}"


def state_of(section: dict[str, Any]) -> str:
    """How old a section is, and what its refreshes fail with; or why the model sees none of it."""
    if not section["in_prompt"]:
        return str(section["why_not"])
    failed, error = section["failures"], section["last_error"]
    return f"{section['age']}, {failed} × not refreshed: {error}" if failed else section["age"]


def found_in(search: dict[str, Any]) -> Iterator[str]:
    """Whether the model sees a value, and each place where it stands."""
    yield f"{mark(search['seen'], 'warning')} {search['value']}: {search['verdict']}"
    for hit in search["found"]:
        place = f"{hit['channel']} · {hit['place']} {hit['path']}"
        title = f": “{one_line(hit['title'])}”" if hit.get("title") else ""
        yield f"  {hit['state']:8} {place} {paint(hit['because'] + title, 'dim')}"
