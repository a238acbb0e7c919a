"""What a catalogue costs: characters of a function, the part of a turn's input that a model service
can read from its cache, and CPU of choosing out of 2,000 functions."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.finding.services import service
from benchmarks.finding.sessions import Turn, play, shares
from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo
from webbee_kernel.extensions.registry import load_folder
from webbee_kernel.llm.embedded import EmbeddedModel
from webbee_kernel.llm.protocol import ModelRequest
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.llm.tools import characters
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.rules import arguments
from webbee_kernel.turn.tool_retrieval import shortlist

EXTENSIONS = Path(__file__).parent.parent / "extensions"

SAVED_BAR = 0.35
CACHED_BAR = 0.80
CPU_BAR_MS = 15.0
CLIFF_BAR = 1.5

TALK = (
    "show my tasks",
    "add a task: call the plumber tomorrow",
    "what notes do I have?",
    "add a note: buy milk",
    "list my notes again",
    "what is due today?",
    "mark the first task as done",
)

TALKS = (
    (
        "list my repositories",
        "show the branches of webshop",
        "and the commits of main",
        "delete the branch old",
        "rename the repository webshop to storefront",
    ),
    (
        "which documents are in the folder Plans?",
        "who may read the one called Budget?",
        "send a mail to the board with its link",
        "was that mail delivered?",
        "what did we spend on it last month?",
    ),
    (
        "Which recovery points do we have of last week?",
        "delete the one of Monday",
        "какие аккаунты входят в нашу организацию?",
        "transcribe the call of this morning",
        "open an incident about it",
    ),
)
"""About one app, about several that have to do with each other, about one after the other."""

SERVICES = """workmail sesv2 customer-profiles codecommit rekognition comprehend backup gamelift
    devicefarm organizations workdocs wickr connectcases ce transcribe ssm-contacts ssm-incidents
    route53domains mturk groundstation ivs sns lightsail wellarchitected license-manager personalize
    kendra workspaces transfer iotsitewise""".split()
"""Of AWS; their first 2,000 functions are the large catalogue."""

SAID = (
    "Delete last Monday's recovery point",
    "Which voice enrollment jobs are running?",
    "удали точку восстановления за прошлый понедельник",
    "Rename the repository webshop to storefront",
    "какие аккаунты входят в нашу организацию?",
)


def before(function: FunctionInfo) -> tuple[int, int]:
    """Characters of a function up to 0.1: as they were counted against the budget, raw schema and
    all, and as they were sent: references written out, without titles."""
    raw = json.dumps(function.input_schema, ensure_ascii=False, default=str)
    counted = len(function.tool_name) + len(function.description) + sum(map(len, function.examples))
    effect = {"write": " Changes data."}.get(function.action_type, "")
    if function.action_type == "destructive":
        effect = " Destructive; the user is asked to confirm it first."
    examples = "; ".join(json.dumps(e, ensure_ascii=False) for e in function.examples[:4])
    description = f"{function.description}{effect}{' Users say: ' if examples else ''}{examples}"
    schema = _untitled(function.input_schema, function.input_schema.get("$defs", {}))
    kept = {k: schema[k] for k in ("type", "properties", "required") if schema.get(k)}
    sent = json.dumps({"properties": {}, **kept, "type": "object"}, ensure_ascii=False, default=str)
    return counted + len(raw), len(function.tool_name) + len(description) + len(sent)


def _untitled(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_untitled(n, definitions) for n in node]
    if not isinstance(node, Mapping):
        return node
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    node = {**definitions.get(name, {}), **{k: v for k, v in node.items() if k != "$ref"}}
    plain = {
        k: _untitled(v, definitions)
        for k, v in node.items()
        if k not in ("$defs", "title", "properties")
    }
    if named := node.get("properties"):
        plain["properties"] = {k: _untitled(v, definitions) for k, v in named.items()}
    return plain


def saved() -> bool:
    """Characters of the shipped extensions' functions, with what the apps' lines say for them;
    whether the bar holds."""
    catalogue = load_folder(EXTENSIONS).catalogue()
    functions = catalogue.functions(catalogue.apps)
    counted, sent = (sum(column) for column in zip(*map(before, functions), strict=True))
    lines = sum(len(arguments(app)) for app in catalogue.apps.values())
    now = shortlist(functions, "", apps=catalogue.apps).characters + lines
    print(f"{len(functions)} functions of the shipped extensions, characters a function\n")
    for what, total in (("counted before", counted), ("sent before", sent), ("now, both", now)):
        print(f"{what:>16} {total / len(functions):>8.0f} {total / sent - 1:>+8.1%}")
    print(f"\nbar: {-SAVED_BAR:.0%} of what was sent\n")
    return bool(now <= sent * (1 - SAVED_BAR))


def cacheable() -> bool:
    """What of a turn's input is the same in every turn of every user with these apps and stands
    first: the classifier's tools and system part. The narrator's system part is below the least
    size that services cache."""
    requests: list[ModelRequest] = []
    offline = EmbeddedModel()

    def answer(request: ModelRequest) -> Any:
        requests.append(request)
        return asyncio.run(offline.complete(request))

    kernel = TestKernel(list(load_folder(EXTENSIONS).loaded.values()), model=_threaded(answer))
    shares: list[float] = []
    stable: set[tuple[str, str]] = set()
    for message in TALK:
        requests.clear()
        kernel.chat(message)
        first = next(r for r in requests if r.role == "classifier")
        stable.add((first.system, json.dumps([t.name for t in first.tools])))
        same = sum(_stable(r) for r in requests if r.role == "classifier")
        shares.append(same / sum(_stable(r) + len(r.prompt) for r in requests))
    print(f"{len(TALK)} turns with the shipped extensions, part of the input that is cacheable\n")
    print("  " + "  ".join(f"{share:.0%}" for share in shares))
    print(f"\nbar: {CACHED_BAR:.0%} in every turn, one stable part (here {len(stable)})\n")
    return min(shares) >= CACHED_BAR and len(stable) == 1


def cut() -> bool:
    """The same of a catalogue that is cut to what was said: over the turns of a session but its
    first, how much of all input begins as in the turn before, in both orders of services."""
    catalogue = Catalogue({name: service(name) for name in SERVICES})
    count = len(catalogue.functions(catalogue.apps))
    print(
        f"Sessions among {count:,} functions, part of the input that begins as in the turn before"
    )
    print("\n           system first   tools first   new letters a turn")
    every: list[Turn] = []
    for name, said in zip(("one app", "several", "changing"), TALKS, strict=True):
        turns = list(play(catalogue, [[(message, ()) for message in said]]))
        every += turns
        later = turns[1:]
        new = sum(t.sent - t.system_first for t in later) / len(later)
        first, tools = shares(turns).values()
        print(f"  {name:>8} {first:>12.1%} {tools:>13.1%} {new:>20,.0f}")
    share = shares(every)["system first"]
    print(f"\nbar: {CACHED_BAR:.0%} over all, system part first (here {share:.1%})\n")
    return share >= CACHED_BAR


def _stable(request: ModelRequest) -> int:
    return len(request.system) + sum(map(characters, request.tools))


def _threaded(answer: Any) -> FunctionModel:
    """The embedded model is a coroutine; a scripted one is asked without waiting."""

    def ask(request: ModelRequest) -> Any:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            return pool.submit(answer, request).result()

    return FunctionModel(ask)


def chosen() -> bool:
    """CPU of choosing what a prompt shows; whether it stays under its bar and has no cliff."""
    apps = [service(name) for name in SERVICES]
    functions = [f for app in apps for f in app.functions][:2_000]
    by_id = {app.app_id: app for app in apps}
    many, few = _scattered(functions, 420), _scattered(functions[:1_000], 210)
    named = {f.app_id: AppInfo(f.app_id, description=f.description[:200]) for f in many}
    rows = [
        (f"{len(functions):,} functions of {len(apps)} apps", _cpu(functions, by_id)),
        (f"{len(many):,} functions of 420 apps", large := _cpu(many, named)),
        (f"{len(few):,} functions of 210 apps", small := _cpu(few, named)),
    ]
    print("Choosing what the prompt shows, CPU ms (median, after the first)\n")
    for what, ms in rows:
        print(f"{what:>34} {ms:>7.1f}")
    cliff = large / small / (len(many) / len(few))
    print(f"\nbars: {CPU_BAR_MS} ms; 420 apps a function at most {CLIFF_BAR} times 210 ", end="")
    print(f"(here {cliff:.2f})")
    return max(ms for _, ms in rows) <= CPU_BAR_MS and cliff <= CLIFF_BAR


def _scattered(functions: Sequence[FunctionInfo], apps: int) -> list[FunctionInfo]:
    """The same functions as if they were of so many apps."""
    return [
        FunctionInfo(f"app-{n % apps:03}", f"{f.fn_name[:50]}_{n}", f.description)
        for n, f in enumerate(functions)
    ]


def _cpu(functions: Sequence[FunctionInfo], apps: Mapping[str, AppInfo]) -> float:
    times = []
    for message in (*SAID, *SAID, *SAID):
        started = time.process_time()
        shortlist(functions, message, apps=apps)
        times.append((time.process_time() - started) * 1000)
    return statistics.median(times[len(SAID) :])


def main() -> int:
    """Print all four; 1 when a bar is missed."""
    return 0 if all([saved(), cacheable(), cut(), chosen()]) else 1
