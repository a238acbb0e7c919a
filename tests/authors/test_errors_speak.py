"""What an extension raises is told where its author stands, and nowhere else."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from webbee_kernel.api.function import AuthorFormatter
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ChatExtension, Context, Extension, User
from webbee_kernel.testing import USER, ExtensionHarness, TestKernel
from webbee_kernel.turn.messages import as_text

MAIN = """
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("ledger")
chat = ChatExtension(ext)
ext.secret("token", "Token of the bank", write_mode="both")


@chat.function("add", "Add a row", action_type="write", examples=["добавь строку", "eine Zeile"])
async def add(ctx: Context) -> ActionResult:
    print("adding")
    ctx.log.info("begun", rows=3)
    return row({"token": await ctx.secrets.get("token")})


def row(values):
    raise KeyError(f"no amount in {values}")


@ext.skeleton("rows")
async def rows(ctx):
    return {"response": {"share": 1 / 0}}


@ext.panel("sheet")
async def sheet(ctx):
    return undefined_name


@ext.on_event("paid")
async def paid(ctx, data):
    raise ValueError("not paid")


@ext.webhook("moved")
async def moved(ctx, request):
    return {}


@ext.schedule("evening", "0 18 * *")
async def evening(ctx, user):
    return None


@ext.panel("list")
async def listed():
    return None
"""
FRAMES = (
    'main.py:13 add: return row({"token": await ctx.secrets.get("token")})',
    'main.py:17 row: raise KeyError(f"no amount in {values}")',
)
DEVELOPER = User("dev", role="developer", tenant_id="test")


@pytest.fixture
def folder(written: Callable[..., Path]) -> Path:
    return written("ledger", MAIN)


def test_harness_and_page_tell_developers_text_line_frames_and_no_secret(folder: Path) -> None:
    harness = ExtensionHarness(folder, secrets={"token": "hunter2"}, user=DEVELOPER)
    result = harness.call("add")
    told = """KeyError: "no amount in {'token': '[secret]'}" (ledger/main.py:17)"""
    assert (result.error_code, str(result.error).endswith(told)) == ("INTERNAL", True)
    (fault,), (event,) = harness.faults, harness.events("fault")
    assert fault.frames == FRAMES and "no amount in" in repr(result)
    assert event.data["text"].endswith(f"(ledger/main.py:17), {event.data['incident']}")
    assert (event.data["frames"], event.data["log"]) == ([*FRAMES], ["adding", "begun (rows=3)"])
    untold = ExtensionHarness(folder, user=USER)
    untold.call("add")
    assert untold.events("fault") == ()


HANDLERS = {
    "a section": (lambda h: h.skeleton("rows"), r"ZeroDivisionError: .* by zero \(\w+/main.py:22\)"),
    "a panel": (lambda h: h.panel("sheet"), r"NameError: name 'undefined_name' .*\(\w+/main.py:27\)"),
    "too many for a webhook": (lambda h: h.webhook("moved"), r"takes 2 positional .*/main.py:36\)"),
    "too few for a job": (lambda h: h.schedule("evening"), r"missing 1 required .*/main.py:41\)"),
    "none for a panel": (lambda h: h.panel("list"), r"takes 0 positional .*/main.py:46\)"),
    "a wrong cron": (lambda h: h.travel(60), r"'0 18 \* \*' is no cron of five fields"),
}  # fmt: skip


@pytest.mark.parametrize(("work", "told"), HANDLERS.values(), ids=HANDLERS)
def test_other_handlers_speak_too_and_what_they_do_not_take_by_their_own_line(
    folder: Path, work: Callable[[ExtensionHarness], object], told: str
) -> None:
    with pytest.raises(AssertionError, match=told):
        work(ExtensionHarness(folder))


def test_listeners_speak_in_the_log_and_the_authors_terminal_has_plain_lines_with_the_apps_name(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    harness = ExtensionHarness(folder)
    harness.run(harness.context().extensions.emit("paid", {}))
    (fault,) = harness.faults
    assert (fault.what, fault.line) == ("event paid", 32)
    told = f"incident={fault.incident} | event failed at ledger/main.py:32: not paid"
    assert told in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO, "webbee.extension"):
        harness.call("add")
    lines = [AuthorFormatter().format(record)[9:] for record in caplog.records]
    assert lines[:2] == ["[ledger] adding", "[ledger] begun (rows=3)"]
    assert lines[2].startswith("[ledger] WARNING function failed at ledger/main.py:17: ")
    assert lines[2].splitlines()[1:] == [f"    {frame}" for frame in FRAMES]


def test_the_kernels_own_lines_are_plain_there_too_with_class_and_places() -> None:
    told = ("incident=%s | request failed", ("0af3",))
    record = logging.LogRecord("webbee.api", logging.ERROR, "f.py", 1, *told, None)
    try:
        raise ValueError("what nobody may read")
    except ValueError:
        record.exc_info = sys.exc_info()
    first, error, place = AuthorFormatter().format(record).splitlines()
    assert first[9:] == "[webbee.api] ERROR incident=0af3 | request failed"
    assert error == "    ValueError" and place.startswith("    test_errors_speak.py:")


SLIPS_HEAD = """
import asyncio
import threading

from webbee_kernel.sdk import ActionResult, ChatExtension, Extension

ext = Extension("slips")
chat = ChatExtension(ext)
ext.oauth("acme")
ext.secret("acme_client_id", "Client id", scope="app")
ext.secret("acme_client_secret", "Client secret", scope="app")
ended = threading.Event()


class Client:
    size = 1


async def turned():
    while not ended.is_set():
        await asyncio.sleep(0.01)


@chat.function("plain", "Add rows")
def plain(ctx):
    return ActionResult.success({}, "Added.")
"""
ENDLESS = {
    "blocks": ("ended.wait()", "    ended.wait()"),
    "waits": ("await turned()", "        await asyncio.sleep(0.01)"),
}
"""What a handler does, and the line in which it then is."""
RETURNED = "return ActionResult.success({}, 'Rows.')"
SLIPS = {
    "forgets": (
        RETURNED.format('{"rows": [{"count": ctx.store.count("rows")}]}'),
        "rows[0].count is StoreClient.count(), which needs an await",
    ),
    "holds": (
        RETURNED.format('{"rows": [{"n": 1}, {"client": Client()}]}'),
        "rows[1].client is of type Client: return the fields that matter as a dict, or str(…)",
    ),
    "raw": (
        'return {"pictures": [b"PNG"]}',
        "pictures[0] is of type bytes: return base64.b64encode(…).decode() of it",
    ),
    "lazy": (
        'for n in (): return {}\n    return {"rows": (n for n in range(3))}',
        "rows is of type generator: put it in list(…)",
    ),
    "uncalled": ('return {"read": ctx.time.timestamp}', ".timestamp, which is not called: write "),
    "number": ("return 5", "a handler returns an ActionResult or a dict, not int: ActionResult"),
    "circles": (
        "rows = {}; rows['rows'] = rows; " + RETURNED.format("rows"),
        "… nests deeper than 100 levels",
    ),
    "plain": ("", "plain must be async def: the kernel awaits it"),
    "fetch": (
        'await ctx.http.get("https://example.com", header={})',
        "does not take header: give any of params, headers, json",
    ),
    "connect": (
        RETURNED.format('{"url": await ctx.oauth_authorize_url("acme")}'),
        "give one of google, microsoft, yahoo, or describe it in WEBBEE_OAUTH_PROV",
    ),
}
"""What a handler does, and what its author is told of it."""
BODIES = {name: does for name, (does, _) in (SLIPS | ENDLESS).items() if does}
SLIPPING = SLIPS_HEAD + "".join(
    f'\n\n@chat.function("{name}", "Rows")\nasync def {name}(ctx):\n    {does}\n'
    for name, does in BODIES.items()
)


def line(text: str) -> int:
    return SLIPPING.splitlines().index(text) + 1


@pytest.fixture
def slips(written: Callable[..., Path]) -> Path:
    return written("slips", SLIPPING)


@pytest.mark.parametrize("function", SLIPS)
def test_a_slip_is_told_with_what_to_do_and_where(slips: Path, function: str) -> None:
    harness, does = ExtensionHarness(slips), SLIPS[function][0].splitlines()
    assert SLIPS[function][1] in str(harness.call(function).error)
    assert not does or harness.faults[0].line == line(f"    {does[-1].strip()}")


@pytest.mark.parametrize("function", ENDLESS)
def test_what_does_not_end_is_told_with_the_line_where_it_is(
    slips: Path, caplog: pytest.LogCaptureFixture, function: str
) -> None:
    harness = ExtensionHarness(slips, call_seconds=0.2)
    harness.call(function)
    loaded = harness.registry.loaded["slips"].functions[function]
    loaded.func.__globals__["ended"].set()
    at = line(ENDLESS[function][1])
    assert f"still running at its deadline, at slips/main.py:{at}" in caplog.text


def test_what_is_no_result_is_told_where_it_is_returned_and_to_whoever_compares(
    slips: Path, caplog: pytest.LogCaptureFixture
) -> None:
    harness = ExtensionHarness(slips, user=DEVELOPER)
    result = harness.call("number")
    told = "number failed: ResultError: a handler returns an ActionResult or a dict, not int"
    assert str(result.error).startswith(told)
    assert repr(result.data).startswith(f"<no data: {told}")
    with pytest.raises(KeyError, match="count: <no data: number failed"):
        result.data["count"]
    at = f"slips/main.py:{line('    return 5')}"
    assert f"function failed at {at}: a handler returns" in caplog.text
    (event,) = harness.events("fault")
    assert f"not int: ActionResult.success(data, summary) ({at})" in event.data["text"]


def test_a_provider_is_given_to_the_harness_as_to_the_deployment(slips: Path) -> None:
    acme = '{"acme": {"authorize_url": "https://a.example/in", "token_url": "https://a.example/t"}}'
    given = {"acme_client_id": "c", "acme_client_secret": "s"}
    harness = ExtensionHarness(slips, secrets=given, env={"WEBBEE_OAUTH_PROVIDERS": acme})
    assert harness.call("connect").data["url"].startswith("https://a.example/in?")
    with pytest.raises(AssertionError, match="no event is 'alrt': give one of alert, fault"):
        harness.events("alrt")


def adding() -> FunctionModel:
    """A model that adds a row, and says nothing."""

    def answer(request: ModelRequest) -> ModelResponse:
        calls = () if "RESULT" in request.prompt else (ToolCall("ledger__add", {}),)
        return ModelResponse("", tool_calls=calls)

    return FunctionModel(answer)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("add a row", "did not work – something broke inside the app"),
        ("добавь строку", "не получилось – внутри приложения что-то сломалось"),
        ("füge bitte eine Zeile hinzu", "hat nicht geklappt – in der App ist etwas kaputtgegangen"),
    ],
)
def test_a_person_reads_of_a_crash_once_in_their_language_with_the_number_of_the_log(
    folder: Path, message: str, told: str
) -> None:
    body = TestKernel([folder], model=adding()).chat(message).body
    number = body["calls"][0]["incident"]
    assert body["reply"].startswith(f"ledger – Add a row: {told}")
    [receipt] = body["receipts"]
    assert receipt["status"] == "failed" and told in receipt["text"]
    # what it had written before is not known
    parts = ("Part of it may have been done", "Часть могла быть", "Ein Teil kann schon getan sein")
    assert any(part in receipt["text"] for part in parts)
    assert body["reply"].count(number) == receipt["text"].count(number) == 1
    assert "KeyError" not in as_text(body)


def test_the_author_reads_the_error_on_his_machine_and_no_model_does(folder: Path) -> None:
    model = adding()
    kernel = TestKernel([folder], model=model, env={"WEBBEE_DEVELOP": "true"})
    told = kernel.chat("add a row", user=DEVELOPER).body["reply"]
    assert "did not work – KeyError: " in told and "ledger/main.py:17)" in told
    assert model.requests and not any("no amount" in str(asked) for asked in model.requests)
    assert "KeyError" not in kernel.chat("add a row", session_id="s2").body["reply"]


@pytest.mark.filterwarnings("always:coroutine")
def test_a_function_that_returns_nothing_is_told_to_its_author_and_not_as_nothing_found(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ext = Extension("thing", display_name="Thing")

    @ChatExtension(ext).function("polish", "Polish", action_type="write", examples=["polish it"])
    async def polish(ctx: Context) -> None:
        _ = ctx.store.count("rags")

    body = TestKernel([ext]).chat("polish it").body
    told = "Thing – Polish: done"
    assert body["reply"] == told
    assert [(r["status"], r["text"]) for r in body["receipts"]] == [("done", told)]
    assert "app=thing function=polish | polish returned neither data nor a summary" in caplog.text
    kernel = TestKernel([ext], env={"WEBBEE_DEVELOP": "true"})
    told = kernel.chat("polish it", user=DEVELOPER).body["reply"]
    assert "returned neither data nor a summary" in told
    assert "polish: coroutine 'StoreClient.count' was never awaited: put an await" in caplog.text


def test_an_action_type_in_the_place_of_the_parameters_is_refused() -> None:
    """It would have been a read, which asks nobody."""
    register = ChatExtension(Extension("thing")).function
    with pytest.raises(ValueError, match="say action_type='destructive'"):
        register("burn", "Burn it", "destructive")  # type: ignore[arg-type]
