"""What an extension raises is told where its author stands, and nowhere else."""

from __future__ import annotations

import logging
import sys
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
"""
DEVELOPER = User("dev", role="developer", tenant_id="test")


def written(folder: Path, text: str) -> Path:
    """An extension in a folder of its own."""
    folder.mkdir()
    (folder / "main.py").write_text(text, "utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "ledger", MAIN)


def test_the_harness_tells_text_line_and_frames_without_secrets(folder: Path) -> None:
    harness = ExtensionHarness(folder, secrets={"token": "hunter2"})
    result = harness.call("add")
    assert result.error_code == "INTERNAL"
    assert result.error is not None
    assert result.error.endswith(
        """KeyError: "no amount in {'token': '[secret]'}" (ledger/main.py:17)"""
    )
    (fault,) = harness.faults
    assert fault.frames == (
        'main.py:13 add: return row({"token": await ctx.secrets.get("token")})',
        'main.py:17 row: raise KeyError(f"no amount in {values}")',
    )
    assert "no amount in" in repr(result)


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (lambda h: h.skeleton("rows"), r"ZeroDivisionError: division by zero \(\w+/main.py:22\)"),
        (lambda h: h.panel("sheet"), r"NameError: name 'undefined_name' .*\(\w+/main.py:27\)"),
    ],
)
def test_sections_and_panels_speak_too(folder: Path, work, told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        work(ExtensionHarness(folder))


def test_listeners_speak_in_the_log(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    harness = ExtensionHarness(folder)
    harness.run(harness.context().extensions.emit("paid", {}))
    (fault,) = harness.faults
    assert (fault.what, fault.line) == ("event paid", 32)
    assert (
        f"incident={fault.incident} | event failed at {folder.name}/main.py:32: not paid"
        in caplog.text
    )


def test_the_page_is_told_for_developers_only(folder: Path) -> None:
    told = ExtensionHarness(folder, user=DEVELOPER)
    told.call("add")
    (event,) = told.events("fault")
    assert event.data["text"].endswith(f"(ledger/main.py:17), {event.data['incident']}")
    assert len(event.data["frames"]) == 2
    assert event.data["log"] == ["adding", "begun (rows=3)"]
    untold = ExtensionHarness(folder, user=USER)
    untold.call("add")
    assert untold.events("fault") == ()


def test_the_authors_terminal_has_plain_lines_with_the_apps_name(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "webbee.extension"):
        ExtensionHarness(folder).call("add")
    lines = [AuthorFormatter().format(record)[9:] for record in caplog.records]
    assert lines[:2] == ["[ledger] adding", "[ledger] begun (rows=3)"]
    assert lines[2].startswith("[ledger] WARNING function failed at ledger/main.py:17: ")
    assert lines[2].splitlines()[1:] == [
        '    main.py:13 add: return row({"token": await ctx.secrets.get("token")})',
        '    main.py:17 row: raise KeyError(f"no amount in {values}")',
    ]


WRONG = """
from webbee_kernel.sdk import Extension

ext = Extension("wrong")


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


def test_a_handler_that_does_not_take_what_it_is_given_is_told_by_its_own_line(
    tmp_path: Path,
) -> None:
    harness = ExtensionHarness(written(tmp_path / "wrong", WRONG))
    with pytest.raises(AssertionError, match=r"takes 2 positional arguments.*\(\w+/main.py:8\)"):
        harness.webhook("moved")
    with pytest.raises(AssertionError, match=r"missing 1 required.*\(\w+/main.py:13\)"):
        harness.schedule("evening")
    with pytest.raises(AssertionError, match=r"takes 0 positional.*\(\w+/main.py:18\)"):
        harness.panel("list")
    with pytest.raises(AssertionError, match="'0 18 \\* \\*' is no cron of five fields"):
        harness.travel(60)


SLIPS = """
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension

ext = Extension("slips")
chat = ChatExtension(ext)
ext.oauth("acme")
ext.secret("acme_client_id", "Client id", scope="app")
ext.secret("acme_client_secret", "Client secret", scope="app")


@chat.function("forgets", "Count rows")
async def forgets(ctx):
    return ActionResult.success({"rows": [{"count": ctx.store.count("rows")}]}, "Counted.")


@chat.function("circles", "List rows")
async def circles(ctx):
    rows = {}
    rows["rows"] = rows
    return ActionResult.success(rows, "Listed.")


class Client:
    size = 1


@chat.function("holds", "Show rows")
async def holds(ctx):
    return ActionResult.success({"rows": [{"n": 1}, {"client": Client()}]}, "Shown.")


@chat.function("raw", "Show a picture")
async def raw(ctx):
    return {"pictures": [b"PNG"]}


@chat.function("lazy", "Show rows")
async def lazy(ctx):
    return {"rows": (n for n in range(3))}


@chat.function("uncalled", "Show the time")
async def uncalled(ctx):
    return {"read": ctx.time.timestamp}


@chat.function("number", "Count rows")
async def number(ctx):
    return 5


@chat.function("plain", "Add rows")
def plain(ctx):
    return ActionResult.success({}, "Added.")


@chat.function("fetch", "Fetch rows")
async def fetch(ctx):
    await ctx.http.get("https://example.com", header={})


@chat.function("connect", "Connect an account")
async def connect(ctx):
    return ActionResult.success({"url": await ctx.oauth_authorize_url("acme")}, "Open it.")
"""


@pytest.fixture
def slips(tmp_path: Path) -> Path:
    return written(tmp_path / "slips", SLIPS)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("forgets", "rows[0].count is StoreClient.count(), which needs an await"),
        (
            "holds",
            "rows[1].client is of type Client: return the fields that matter as a dict, or str(…)",
        ),
        ("raw", "pictures[0] is of type bytes: return base64.b64encode(…).decode() of it"),
        ("lazy", "rows is of type generator: put it in list(…)"),
        ("uncalled", ".timestamp, which is not called: write "),
        ("number", "a handler returns an ActionResult or a dict, not int: ActionResult.success("),
        ("circles", "… nests deeper than 100 levels"),
        ("plain", "plain must be async def: the kernel awaits it"),
        ("fetch", "does not take header: give any of params, headers, json"),
        ("connect", "give one of google, microsoft, yahoo, or describe it in WEBBEE_OAUTH_PROV"),
    ],
)
def test_a_slip_is_told_with_what_to_do(slips: Path, function: str, told: str) -> None:
    assert told in str(ExtensionHarness(slips).call(function).error)


ENDLESS = """
import asyncio
import threading

from webbee_kernel.sdk import ChatExtension, Extension

ext = Extension("endless")
chat = ChatExtension(ext)
ended = threading.Event()


@chat.function("blocks", "Block the thread")
async def blocks(ctx):
    ended.wait()
    return {"n": 1}


async def turned():
    while not ended.is_set():
        await asyncio.sleep(0.01)


@chat.function("waits", "Wait for what never comes")
async def waits(ctx):
    await turned()
    return {"n": 1}
"""


@pytest.mark.parametrize(("function", "line"), [("blocks", 14), ("waits", 20)])
def test_what_does_not_end_is_told_with_the_line_where_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, function: str, line: int
) -> None:
    harness = ExtensionHarness(written(tmp_path / "endless", ENDLESS), call_seconds=0.2)
    harness.call(function)
    loaded = harness.registry.loaded["endless"].functions[function]
    loaded.func.__globals__["ended"].set()
    assert f"still running at its deadline, at endless/main.py:{line}" in caplog.text


def test_what_is_no_result_is_told_where_the_handler_stands_and_to_whoever_compares(
    slips: Path, caplog: pytest.LogCaptureFixture
) -> None:
    harness = ExtensionHarness(slips, user=DEVELOPER)
    result = harness.call("number")
    told = "number failed: ResultError: a handler returns an ActionResult or a dict, not int"
    assert str(result.error).startswith(told)
    assert repr(result.data).startswith(f"<no data: {told}")
    with pytest.raises(KeyError, match="count: <no data: number failed"):
        result.data["count"]
    line = SLIPS.splitlines().index('@chat.function("number", "Count rows")') + 2
    assert f"function failed at slips/main.py:{line}: a handler returns" in caplog.text
    (event,) = harness.events("fault")
    assert (
        f"not int: ActionResult.success(data, summary) (slips/main.py:{line})" in event.data["text"]
    )


def test_a_provider_of_the_deployment_is_given_to_the_harness_as_to_the_deployment(
    slips: Path,
) -> None:
    acme = '{"acme": {"authorize_url": "https://a.example/in", "token_url": "https://a.example/t"}}'
    given = {"acme_client_id": "c", "acme_client_secret": "s"}
    harness = ExtensionHarness(slips, secrets=given, env={"WEBBEE_OAUTH_PROVIDERS": acme})

    assert harness.call("connect").data["url"].startswith("https://a.example/in?")
    with pytest.raises(AssertionError, match="no event is 'alrt': give one of alert, fault"):
        harness.events("alrt")


def test_the_kernels_own_lines_are_plain_there_too_with_class_and_places() -> None:
    record = logging.LogRecord(
        "webbee.api", logging.ERROR, "f.py", 1, "incident=%s | request failed", ("0af3",), None
    )
    try:
        raise ValueError("what nobody may read")
    except ValueError:
        record.exc_info = sys.exc_info()

    first, *places = AuthorFormatter().format(record).splitlines()
    assert first[9:] == "[webbee.api] ERROR incident=0af3 | request failed"
    assert places[0] == "    ValueError"
    assert places[1].startswith("    test_errors_speak.py:")
    assert len(places) == 2


def adding() -> FunctionModel:
    """A model that adds a row, and says nothing."""

    def answer(request: ModelRequest) -> ModelResponse:
        calls = () if "RESULT" in request.prompt else (ToolCall("ledger__add", {}),)
        return ModelResponse("", tool_calls=calls)

    return FunctionModel(answer)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("add a row", "ledger – Add a row: did not work – something broke inside the app"),
        ("добавь строку", "ledger – Add a row: не получилось – внутри приложения что-то сломалось"),
        (
            "füge bitte eine Zeile hinzu",
            "ledger – Add a row: hat nicht geklappt – in der App ist etwas kaputtgegangen",
        ),
    ],
)
def test_a_person_reads_of_a_crash_once_in_their_language_with_the_number_of_the_log(
    folder: Path, message: str, told: str
) -> None:
    body = TestKernel([folder], model=adding()).chat(message).body
    assert body["reply"].startswith(told)
    assert body["reply"].count(body["calls"][0]["incident"]) == 1
    [receipt] = body["receipts"]
    assert receipt["status"] == "failed"
    assert told.partition(": ")[2] in receipt["text"]
    assert receipt["text"].count(body["calls"][0]["incident"]) == 1
    assert "KeyError" not in as_text(body)


def test_the_author_reads_the_error_itself_on_the_own_machine_and_no_model_does(
    folder: Path,
) -> None:
    model = adding()
    kernel = TestKernel([folder], model=model, env={"WEBBEE_DEVELOP": "true"})
    told = kernel.chat("add a row", user=DEVELOPER).body["reply"]
    assert "did not work – KeyError: " in told and "ledger/main.py:17)" in told
    assert model.requests and not any("no amount" in str(asked) for asked in model.requests)
    assert "KeyError" not in kernel.chat("add a row", session_id="s2").body["reply"]


def test_a_function_that_returns_nothing_is_told_to_its_author_and_not_as_nothing_found(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ext = Extension("thing", display_name="Thing")

    @ChatExtension(ext).function("polish", "Polish", action_type="write", examples=["polish it"])
    async def polish(ctx: Context) -> None:
        """Forgets its result."""

    body = TestKernel([ext]).chat("polish it").body
    assert body["reply"] == "Thing – Polish: done"
    found = [(r["status"], r["text"]) for r in body["receipts"]]
    assert found == [("done", "Thing – Polish: done")]
    assert "app=thing function=polish | polish returned neither data nor a summary" in caplog.text


def test_an_action_type_in_the_place_of_the_parameters_is_refused() -> None:
    """It would have been a read, which asks nobody."""
    register = ChatExtension(Extension("thing")).function
    with pytest.raises(ValueError, match="say action_type='destructive'"):
        register("burn", "Burn it", "destructive")  # type: ignore[arg-type]
