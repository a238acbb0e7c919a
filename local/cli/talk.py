"""`webbee chat`, `inspect`, `sessions`, `refresh`: through the API, as the page does."""

from __future__ import annotations

import argparse
import sys
import time
import uuid
from collections.abc import Iterator
from typing import Any

from webbee_kernel.turn.messages import as_text

from ..loopback import Client
from ..project import COMMAND, URL
from ..terminal import CliError, mark, paint, tell, waiting, wrapped

REFRESH_S = 90
"""Seconds `refresh` waits: a tick, a queue and a slow handler."""


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
    """One message and its reply, or a conversation until Ctrl-D."""
    api = client(options)
    session = options.session or uuid.uuid4().hex[:12]
    if options.message:
        answer = _turn(api, " ".join(options.message), session)
        tell(options, answer, shown(answer))
        if not (options.json or options.session):
            to = "" if options.url == URL else f" --url {options.url}"
            told = f"go on with: {COMMAND} chat{to} --session {session} …"
            print(paint(told, "dim"), file=sys.stderr)
        return 0 if answer["status"] != "error" else 1
    if options.json:
        raise CliError("--json needs a message")
    print(paint(f"session {session} · Ctrl-D ends it", "dim"))
    while True:
        try:
            message = input(paint("you     ", "bold", "green")).strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return 0
        if message:
            print(*shown(_turn(api, message, session)), sep="\n")


def _turn(api: Client, message: str, session: str) -> dict[str, Any]:
    with waiting("…"):
        return api.turn(message, session)


def shown(answer: dict[str, Any]) -> Iterator[str]:
    """A turn's calls and its reply."""
    for call in answer["calls"]:
        took = paint(f"{call['duration_ms']} ms {call.get('error_code', '')}", "dim")
        yield f"  {mark(call['status'] == 'ok')} {call['app_id']}.{call['fn_name']} {took}"
    yield wrapped(as_text(answer), "  ").replace("  ", paint("webbee  ", "bold", "yellow"), 1)


def sessions(options: argparse.Namespace) -> int:
    """The list, one session's turns, or a deletion."""
    api, one = client(options), options.delete or options.id
    work = api.delete if options.delete else api.get
    found = work(f"/v1/sessions/{one}" if one else "/v1/sessions")
    if options.delete:
        lines = [f"deleted {found['deleted']}"]
    elif options.id:
        lines = [line for turn in found["turns"] for line in _said(turn)]
    else:
        rows = (
            (r["session_id"], paint(r["touched_at"], "dim"), r["title"]) for r in found["sessions"]
        )
        lines = ["  ".join(row) for row in rows] or ["no sessions yet"]
    tell(options, found, lines)
    return 0


def _said(turn: dict[str, Any]) -> Iterator[str]:
    yield paint(f"{turn['turn']}. {turn['at']} {turn['status']}", "dim")
    yield wrapped(turn["message"], "  ", "bold")
    yield wrapped(turn["reply"], "  ")


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
        yield f"  {hit['state']:8} {place} {paint(hit['because'], 'dim')}"


def refresh(options: argparse.Namespace) -> int:
    """Ask for every section of the user's apps, or of one, and wait until each is new."""
    api = client(options)
    installed = [a for a in api.get("/v1/extensions")["extensions"] if a["installed"]]
    apps = [a for a in installed if options.app in ("", a["app_id"])]
    if not apps:
        there = ", ".join(a["app_id"] for a in installed) or "no app"
        raise CliError(f"{options.app or 'none'} is not installed for this user, who has {there}")
    for app in apps:
        api.put(f"/v1/extensions/{app['app_id']}/installation", {"refresh": True})
    wanted = {(a["app_id"], s["section"]) for a in apps for s in a["sections"]}
    started = time.monotonic()
    report: list[dict[str, Any]] = []
    fresh: list[dict[str, Any]] = []
    while len(fresh) < len(wanted) and (past := time.monotonic() - started) < REFRESH_S:
        time.sleep(0.5 if report else 0)
        sections = api.get("/v1/inspect", message="")["sections"]
        report = [s for s in sections if (s["app_id"], s["section"]) in wanted]
        fresh = [s for s in report if s["failures"] or _is_younger(s, past)]
    names = (f"{s['app_id']}.{s['section']} {s['age']} {s['last_error']}" for s in report)
    lines = [
        f"{mark(not s['failures'])} {name}\n  {paint(s['line'], 'dim')}"
        for s, name in zip(report, names, strict=True)
    ]
    tell(options, {"sections": report}, lines)
    late = len(fresh) < len(wanted)
    if late:
        told = "some sections were not refreshed in time: is the refresh loop running?"
        print(told, file=sys.stderr)
    return 1 if late or any(s["failures"] for s in report) else 0


def _is_younger(section: dict[str, Any], seconds: float) -> bool:
    return section["age_s"] is not None and section["age_s"] <= seconds
