"""Models: what one can do, asked as the kernel asks it (`webbee models check`), what was learned of
it, kept beside a run's data in `models.json`, and servers of this machine, for `make run` to offer.

The adapters themselves learn which parts of a request a model refuses; the check makes them meet
each part once, and reads what they have learned.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
from pydantic import TypeAdapter, ValidationError

from webbee_kernel.bootstrap import make_model
from webbee_kernel.config import ModelOptions, Settings
from webbee_kernel.errors import ModelUnavailable, SettingsError
from webbee_kernel.llm.options import create_model, options_of
from webbee_kernel.llm.protocol import Exchange, ModelRequest, ModelResponse, Reasoning, ToolSpec

from .deployability import credentials
from .project import COMMAND
from .terminal import CliError, mark, paint, tell, waiting

PORTS: Mapping[int, str] = {
    11434: "Ollama",
    1234: "LM Studio",
    8000: "vLLM",
    8001: "vLLM",
    8080: "llama.cpp",
}
"""Ports on which these servers listen unless told otherwise, by their own documentation."""

TIMEOUT_S = 0.5
_MODEL = re.compile(r"[\w./:@+-]{1,200}", re.ASCII)  # what is printed for a shell


def settings_of(model: str, env: Mapping[str, str]) -> Settings:
    """The settings of an environment with this model in it. CliError where it cannot be had."""
    try:
        settings = Settings.from_env({**env, "WEBBEE_MODEL": model})
        make_model(settings)
        if model.startswith("bedrock:"):
            credentials()
    except (SettingsError, LookupError) as error:
        why = str(error).removeprefix("environment variable WEBBEE_MODEL: ")
        raise CliError(f"the model {model}: {why}") from None
    return settings


def names_at(base_url: str) -> list[str]:
    """The models that a server lists, none where it does not answer as one does."""
    with suppress(httpx2.HTTPError, ValueError, LookupError, TypeError):
        answer = httpx2.get(f"{base_url}/models", timeout=TIMEOUT_S).raise_for_status()
        names = [str(row["id"]) for row in answer.json()["data"]]
        return [name for name in names if _MODEL.fullmatch(name)]
    return []


def offers(own_port: int, ports: Mapping[int, str] = PORTS) -> list[str]:
    """A sentence for each server that runs on a usual port of this machine, with what to type."""
    others = {port: name for port, name in ports.items() if port != own_port}
    addresses = {port: f"http://127.0.0.1:{port}/v1" for port in others}
    with ThreadPoolExecutor(max(1, len(others))) as all_at_once:
        listed = all_at_once.map(names_at, addresses.values())
        found = dict(zip(others, listed, strict=True))
    told = []
    for port, names in found.items():
        if model := next((name for name in names if "embed" not in name.lower()), ""):
            given = f"openai:{addresses[port]}#{model}"
            command = f"{COMMAND} dev --model {shlex.quote(given)}"
            told.append(f"{others[port]} runs here. To use it: {command}")
    return told


KEPT: Final = Path(".webbee")
"""Where local starts keep their data unless they are told otherwise."""
FILE: Final = "models.json"
VARIABLE: Final = "WEBBEE_MODEL_SETTINGS"
_SETTINGS: Final = TypeAdapter(dict[str, ModelOptions])


def kept(folder: Path | None) -> dict[str, ModelOptions]:
    """What is kept there; nothing where the file cannot be read."""
    with suppress(OSError, ValidationError):
        return _SETTINGS.validate_json((folder / FILE).read_bytes()) if folder else {}
    return {}


def keep(folder: Path, name: str, learned: ModelOptions) -> None:
    """Keep what was learned of a model beside what is known of others."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / FILE).write_text(told({**kept(folder), name: learned}) + "\n", "utf-8")


def told(settings: Mapping[str, ModelOptions]) -> str:
    """Settings as `WEBBEE_MODEL_SETTINGS` holds them."""
    return _SETTINGS.dump_json(dict(settings), exclude_unset=True).decode()


def variable(model: str, known: ModelOptions | None) -> dict[str, str]:
    """What a local start adds to its environment: what was learned of the model, behind what the
    environment says itself."""
    if known is None:
        return {}
    given = _SETTINGS.validate_json(os.environ.get(VARIABLE) or "{}")
    return {VARIABLE: told({**given, model: given.get(model, ModelOptions()).over(known)})}


def learn(model: str, folder: Path | None, settings: Settings, say: Callable[[str], None]) -> None:
    """Probe a model quickly, unless it is known, and take over what it shows: the functions of this
    process are built anew when their environment changes. What a person should mend is said; it is
    kept where the kernel can work with it, else the next start asks again."""
    if model == "offline" or model in kept(folder):
        return
    found, learned = asyncio.run(ask(model, settings, quickly=True))
    wrong = [finding for finding in found if not finding.ok and finding.level == "error"]
    for finding in wrong:
        say(" ".join((f"{model}: {finding.about}: {finding.found}", finding.do)).strip())
    if learned:
        os.environ |= variable(model, learned)
    if learned and folder and not wrong:
        keep(folder, model, learned)


ASKED_S: Final = 120.0
WINDOWS: Final = (2_000, 5_000, 12_000)
"""Tokens of a prompt, at four characters each; the second is what three apps need."""
NEEDED: Final = 5_000
LEAST: Final = 2_048
"""Tokens of the smallest window that a setting may name."""
WORD: Final = "heron"
LINE: Final = "Line {n}: the lake lies still, and nothing of note is to be seen on it.\n"
SYSTEM: Final = (
    "You help people with the weather. Call a function where one fits; otherwise answer in one"
    " short sentence."
)
WEATHER: Final = ToolSpec(
    "probe__weather",
    "probe",
    "weather",
    "Tell the weather in a city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "read",
    ("what is the weather in Riga?",),
)
QUESTION: Final = "What is the weather in Riga?"
RESULT: Final = 'RESULT: app=probe fn=weather status=ok data={"city": "Riga", "degrees": 17}'


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table. `level` is `error` where the kernel cannot work so; `do` is empty
    where nothing is to be done."""

    about: str
    ok: bool
    found: str
    do: str = ""
    level: str = "warning"


def check(options: argparse.Namespace) -> int:
    """Print what there is to know of a model, and keep it; 1 where the kernel cannot work with
    it."""
    name = options.model
    if name in ("", "offline"):
        raise CliError("name a model: bedrock:<id> or openai:<base-url>#<model>")
    settings = settings_of(name, os.environ)
    with waiting(f"asking {name}"):
        found, learned = asyncio.run(ask(name, settings))
    bad = any(not f.ok and f.level == "error" for f in found)
    if learned and not bad:
        keep(KEPT, name, learned)
    width = max(len(f.about) for f in found)
    lines = [
        f"{mark(f.ok, f.level)} {f.about:<{width}}  {f.found}"
        + (f"\n  {'':<{width}}  {paint(f.do, 'dim')}" if f.do else "")
        for f in found
    ]
    settings_told = told({name: learned}) if learned else "{}"
    if learned:
        where = f"Kept in {KEPT / FILE} for local starts. For a stack:"
        lines.append(paint(f"\n{'Its settings:' if bad else where}", "dim"))
        lines.append(f"ModelOptions='{json.dumps({'ModelSettings': settings_told})}'")
    rows, known = [asdict(f) for f in found], json.loads(settings_told)
    tell(options, {"model": name, "usable": not bad, "findings": rows, "settings": known}, lines)
    return int(bad)


async def ask(
    name: str, settings: Settings, *, quickly: bool = False
) -> tuple[list[Finding], ModelOptions | None]:
    """What the model shows, in the order in which it is asked, only the first where it does not
    answer at all; and its settings, where it does. `quickly`: a few requests."""
    options = options_of(settings, "classifier")
    model: Any = create_model(name, settings, options)
    tokens = options.output_tokens
    try:
        await model.complete(_asking("Say ok.", tokens))
        found = [Finding("answers", True, "yes")]
        if not quickly:
            found.append(await _streams(model, tokens))
        found += [finding async for finding in _calls(model, tokens)]
        if not quickly:
            strict = options.model_copy(update={"tool_choice": "required"})
            found.append(await _choice(create_model(name, settings, strict), tokens))
        window, length = await _window(model, tokens, WINDOWS[1:2] if quickly else WINDOWS)
    except ModelUnavailable as error:  # the first request: the others tell of their own
        return [Finding("answers", False, _why(error), level="error")], None
    if model.thinks_aloud:
        why = "its replies are held back until they are whole: switch its thinking off"
        found.append(Finding("thinks aloud", False, "yes, without an opening tag", why))
    if refuses := tuple(sorted(model.refused_parts)):
        instead = "the kernel asks without: output_tokens means that 1,024 are asked for"
        found.append(Finding("refuses", False, ", ".join(refuses), instead))
    shown: dict[str, Any] = {"window": length, "refuses": refuses}
    known = {option: value for option, value in shown.items() if value}
    if model.thinks_aloud or not model.is_buffered:
        known["thinks_aloud"] = model.thinks_aloud
    return [*found, window], ModelOptions.model_validate(known)


async def _streams(model: Any, tokens: int) -> Finding:
    heard: list[str] = []
    try:
        await model.stream(_asking("Count from 1 to 20, in digits.", tokens), heard.append)
    except ModelUnavailable as error:
        return Finding("streams", False, _why(error), "answers come whole")
    if len(heard) < 2 and not model.thinks_aloud:
        return Finding("streams", False, "no: an answer came in one piece", "answers come later")
    return Finding("streams", True, "yes")


async def _calls(model: Any, tokens: int) -> AsyncIterator[Finding]:
    """Whether it calls a function, and goes on with what that returned. The answer is sent back
    without its text, so that `content: null` is met as well."""
    choose = "choose a model with tool use, or give its server the parser of its calls"
    try:
        answer: ModelResponse = await model.complete(_asking(QUESTION, tokens, tools=(WEATHER,)))
    except ModelUnavailable as error:
        yield Finding("calls a function", False, _why(error), choose, "error")
        return
    given = [c.arguments for c in answer.tool_calls if c.name == WEATHER.name]
    if not given:
        yield Finding("calls a function", False, "no: it answered in words", choose, "error")
        return
    right = isinstance(given[0], dict) and "riga" in str(given[0].get("city")).lower()
    wrong = "its arguments were not those that were asked for"
    yield Finding("calls a function", right, "yes" if right else wrong, "" if right else choose)
    results = (RESULT,) * len(answer.tool_calls)
    exchange = Exchange(
        RESULT, calls=answer.tool_calls, results=results, reasoning=answer.reasoning
    )
    later = _asking(
        f"{QUESTION}\n{RESULT}",
        tokens,
        tools=(WEATHER,),
        opening=QUESTION,
        exchanges=(exchange,),
    )
    about = "reads what it returned"
    try:
        told = await model.complete(later)
    except ModelUnavailable as error:
        yield Finding(about, False, _why(error), "choose another model", "error")
        return
    if answer.reasoning:
        yield _carried(answer.reasoning, model.refused_parts)
    if "17" in told.text:
        yield Finding(about, True, "yes")
    else:
        yield Finding(about, False, "no: it did not tell it", "choose a stronger model")


def _carried(reasoning: Reasoning, refused: frozenset[str]) -> Finding:
    """What became of the reasoning that came with its call when it was asked again."""
    if "no_reasoning" in refused:
        return Finding("reasoning", True, "wanted back in clear text, and goes back")
    if not reasoning.message and not reasoning.calls:
        return Finding("reasoning", True, "in clear text, which stays behind")
    if "reasoning" in refused:
        return Finding("reasoning", False, "signed, but refused when it comes back", "left out")
    return Finding("reasoning", True, "signed or encrypted, and goes back")


async def _choice(model: Any, tokens: int) -> Finding:
    """A call is required where none fits: who follows has one."""
    asked = _asking("Say ok.", tokens, tools=(WEATHER,))
    try:
        answer = await model.complete(asked)
    except ModelUnavailable as error:
        return Finding("tool_choice", False, _why(error))
    if "tool_choice" in model.refused_parts:
        return Finding("tool_choice", False, "refused", "the kernel does not need it")
    if not answer.tool_calls:
        return Finding("tool_choice", False, "taken, not followed", "the kernel does not need it")
    return Finding("tool_choice", True, "followed")


async def _window(model: Any, tokens: int, sizes: Sequence[int]) -> tuple[Finding, int]:
    """The longest prompt whose beginning it still knows at the end, and the window that this shows;
    0 where none of these prompts was too long for it."""
    read, why, window = 0, "", 0
    for size in sizes:
        try:
            answer = await model.complete(_remembering(size, tokens))
        except ModelUnavailable as error:
            why = f"{size:,} tokens: {_why(error)}"
            told = [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]{2,9}", error.words)]
            named = min((n for n in told if LEAST <= n < size), default=read)
            window = named if error.cause == "window" else 0
            break
        if WORD not in answer.text.lower():
            why = f"of {size:,} the beginning was lost, without a word of it"
            counted = answer.usage.input_tokens  # what was cut off is not counted
            window = counted if read < counted < size else read
            break
        read = size
    known = f"reads {read:,} tokens" if read else f"reads fewer than {sizes[0]:,} tokens"
    if not why:
        return Finding("window", True, f"{known} and maybe more"), 0
    enough = read >= NEEDED
    do = "the prompt is made to fit; a window of 16,000 tokens or more holds all (Ollama: num_ctx)"
    level = "error" if not read and window < LEAST and len(sizes) > 1 else "warning"
    finding = Finding("window", enough, f"{known}; {why}", "" if enough else do, level)
    return finding, max(window, LEAST)


def _remembering(size: int, tokens: int) -> ModelRequest:
    lines, length = [f"The password is {WORD}.\n"], 0
    while length < 4 * size:
        lines.append(LINE.format(n=len(lines)))
        length += len(lines[-1])
    question = "What is the password? Answer with that word alone."
    return _asking("".join(lines) + question, tokens, system="")


def _asking(prompt: str, tokens: int, *, system: str = SYSTEM, **more: Any) -> ModelRequest:
    return ModelRequest("classifier", system, prompt, max_tokens=tokens, timeout_s=ASKED_S, **more)


def _why(error: ModelUnavailable) -> str:
    """What the kernel says of a failure, and the server's own words."""
    return f"{error} ({error.words})" if error.words else str(error)
