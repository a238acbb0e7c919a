"""`webbee eval`: does what people say reach the function meant, with the arguments meant?

It stands in the table `utterances.toml` of an extension's folder (docs/extensions.md shows one). No
handler runs: each call is recorded and answered with nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from webbee_kernel.bootstrap import make_model
from webbee_kernel.catalogue import FunctionInfo
from webbee_kernel.extensions.registry import LoadedExtension, load_folder
from webbee_kernel.llm.protocol import Model
from webbee_kernel.sdk import ActionResult
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.tool_retrieval import ranked, shortlist
from webbee_kernel.turn.tool_search import matching_stems

from ..checking.descriptions import TABLE, Case, table_of
from ..models import settings_of
from ..terminal import CliError, mark, tell, waiting

Said = tuple[str, Case]
"""An app, and a case of its table."""
Called = tuple[str, dict[str, Any]]
"""A function, and its arguments."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case: the function meant, empty where none is, whether the prompt shows it,
    and why it is not right, empty where that function was called, with the arguments meant, and no
    other, but for reads of its app before."""

    case: Case
    wanted: str
    shown: bool
    why: str = ""


def evaluate(options: argparse.Namespace) -> int:
    """Say every utterance of the extensions' tables to the model; exit status 1 where fewer are
    understood than `--least` wants."""
    folder = Path(options.into)
    apps = list(load_folder(folder).loaded.values())
    wanted = Path(options.extension).name  # an id, or the path of its folder
    cases = [c for app in apps if wanted in ("", app.app_id) for c in cases_of(app)]
    if not cases:
        where = folder / wanted
        raise CliError(f"no {TABLE} with a [[case]] in {where}: docs/extensions.md shows one")
    model = make_model(settings_of(options.model, {}))
    with waiting(f"saying {len(cases)}"):
        results = list(run(apps, cases, model))
    meant = [r for r in results if r.wanted]
    understood, shown = sum(not r.why for r in results), sum(r.shown for r in meant)
    lines = [
        f"{mark(not r.why)} {r.case.say} → {r.wanted or 'nothing'}"
        + (f"\n    {r.why}" if r.why else "")
        for r in results
    ]
    whole = f"{understood} of {len(results)} understood by {options.model}"
    lines += [f"{whole}; of {len(meant)} with a function {shown} have it in the prompt"]
    counts = {"cases": len(results), "understood": understood}
    counts |= {"in_the_prompt": shown, "meant": len(meant)}
    missed = [{**r.case.model_dump(), "why": r.why} for r in results if r.why]
    tell(options, {**counts, "model": options.model, "missed": missed}, lines)
    return 0 if understood >= float(options.least) * len(results) else 1


def cases_of(app: LoadedExtension) -> list[Said]:
    """The table of one extension; CliError names what is wrong in it."""
    path = (app.folder or Path()) / TABLE
    cases, wrong = table_of(path, app.functions)
    for found in wrong:
        raise CliError(f"{path}:{found.line}: {found.message}")
    return [(app.app_id, case) for case in cases]


def run(
    apps: Sequence[LoadedExtension], cases: Sequence[Said], model: Model | None = None
) -> Iterator[Result]:
    """Each case in a session of its own, with all the apps installed."""
    made: list[Called] = []
    kernel = TestKernel([_recording(app, made) for app in apps], model=model)
    functions = kernel.registry.catalogue().functions(kernel.registry.loaded)
    for number, (app_id, case) in enumerate(cases):
        made.clear()
        body = kernel.chat(case.say, session_id=f"case-{number}").body
        waiting = body.get("confirmation", {}).get("calls", ())
        calls = made + [(f"{c['app_id']}.{c['fn_name']}", c["arguments"]) for c in waiting]
        wanted = f"{app_id}.{case.call}" if case.call else ""
        shown = wanted in {_name(f) for f in shortlist(functions, case.say).shown}
        yield Result(case, wanted, shown, _why(case, wanted, calls, functions, is_shown=shown))


def _recording(app: LoadedExtension, made: list[Called]) -> LoadedExtension:
    """The same app whose functions only write down how they were called."""
    for chat in app.ext.chats:
        for name, function in list(chat.functions.items()):
            chat.functions[name] = replace(function, func=_recorder(f"{app.app_id}.{name}", made))
    return app


def _recorder(name: str, made: list[Called]) -> Any:
    async def record(ctx: Any, params: Any = None, **arguments: Any) -> ActionResult:
        given = arguments if params is None else params.model_dump(mode="json", exclude_unset=True)
        made.append((name, given))
        return ActionResult.success({}, "Done.")

    return record


def _why(
    case: Case,
    wanted: str,
    calls: Sequence[Called],
    functions: Sequence[FunctionInfo],
    *,
    is_shown: bool,
) -> str:
    """What is not as it was meant; empty where all is. Reads of its app that look for a record
    before are as it was meant."""
    called = list(dict.fromkeys(name for name, _ in calls))
    if not wanted:
        return f"{called[0]} was called" if called else ""
    if not is_shown or wanted not in called:
        instead = f"{called[0]} was called" if called else "nothing was called"
        what = instead if is_shown else "the prompt does not show it"
        return f"{what} ({_words(case.say, wanted, functions)})"
    app = wanted.partition(".")[0]
    reads = {_name(f) for f in functions if f.action_type == "read" and f.app_id == app}
    before = called[: called.index(wanted)]
    if others := [c for c in called if c != wanted and not (c in before and c in reads)]:
        return f"{', '.join(others)} was called too"
    given = next(a for name, a in calls if name == wanted)
    wrong = {k: v for k, v in case.arguments.items() if not _same(given.get(k), v)}
    return "; ".join(f"{k} is {given.get(k)!r}, not {v!r}" for k, v in wrong.items())


def _words(say: str, wanted: str, functions: Sequence[FunctionInfo]) -> str:
    """Which words of the function the utterance brings to it, and which to the one before it."""
    words = {_name(f): ", ".join(matching_stems(f, say)) for f in functions}
    first = _name(ranked(functions, say)[0])
    own = f"it shares {words[wanted] or 'no word with what was said'}"
    return own if first == wanted else f"{own}; {first} shares {words[first] or 'none'}"


def _name(function: FunctionInfo) -> str:
    return f"{function.app_id}.{function.fn_name}"


def _same(given: Any, wanted: Any) -> bool:
    if isinstance(given, str) and isinstance(wanted, str):
        return given.strip().casefold() == wanted.strip().casefold()
    return bool(given == wanted)
