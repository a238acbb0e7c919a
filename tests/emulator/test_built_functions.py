"""What `sam build` makes, under Lambda's runtime client and emulator: the production path from
init and event to item, in every language, and with what `sam local` is given."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from local.template import environment, load_template
from tests.alarms import embedded
from tests.emulator.conftest import LOGICAL_IDS, Cloud, recorded
from tests.emulator.runtime import ROOT, Built, Emulator
from tests.processes import ran
from webbee_kernel import language
from webbee_kernel.api.process_pool import ProcessEnded
from webbee_kernel.config import ALL_TABLES, Settings
from webbee_kernel.observability import METRICS


def chat(cloud: Cloud, message: str, session: str, **more: Any) -> dict[str, Any]:
    said = json.dumps({"message": message, "session_id": session, **more})
    return dict(cloud.http(recorded("http_chat") | {"body": said}))


def test_a_turn_runs_a_tool_in_the_other_function_and_is_stored(cloud: Cloud) -> None:
    cloud.messages()
    said = "add a task: send the Q3 budget to finance"
    answer = chat(cloud, said, "first", request_id="r-1")
    assert answer["status"] == "ok"
    assert [(c["app_id"], c["status"]) for c in answer["calls"]] == [("tasks", "ok")]
    assert chat(cloud, said, "first", request_id="r-1") == answer  # answered once

    kept = [i["sk"]["S"] for i in cloud.items("SessionsTable") if "#first" in i["pk"]["S"]]
    assert kept == ["turn#1"]
    assert any("Q3 budget" in str(item) for item in cloud.items("StoreTable"))
    assert len(cloud.items("AuditTable")) >= 1
    asked = [json.loads(m["body"]) for m in cloud.messages()]
    wanted = [w for m in asked for w in m.get("wanted", ())]
    reasons = {reason for app_id, _, reason in wanted if app_id == "tasks"}
    assert reasons in ({"new"}, {"effect"})  # whether another test was here before


def lines(cloud: Cloud, function: str) -> list[dict[str, Any]]:
    """What a function wrote as JSON, log lines and metrics."""
    written = cloud.functions[function].logs().splitlines()
    return [json.loads(text) for text in written if text.startswith("{")]


def test_one_correlation_id_goes_from_api_to_handler_and_nothing_says_who(cloud: Cloud) -> None:
    cloud.messages()
    chat(cloud, "add a task: call +49 30 901820 about hunter2", "logged", request_id="one-turn")
    cloud.drain()

    api = recorded("http_chat")["requestContext"]["requestId"]
    of_turn = [found for found in lines(cloud, "tool_dispatch") if found.get("turn") == "one-turn"]
    assert {found["correlation_id"] for found in of_turn} == {api}
    assert {(found["session"], found["step"]) for found in of_turn} == {("logged", "0")}
    assert len({found["user"] for found in of_turn}) == 1
    for emulator in cloud.functions.values():
        logs = emulator.logs()
        assert "hunter2" not in logs
        assert "alice" not in logs
        assert "Traceback" not in logs


def test_each_function_writes_its_metrics_in_the_embedded_format(cloud: Cloud) -> None:
    chat(cloud, "show my tasks", "measured")
    cloud.invoke("skeleton_refresh", recorded("eventbridge_tick"))
    cloud.drain()

    emitted: dict[str, set[str]] = {}
    for function, emulator in cloud.functions.items():
        points = [p for line in emulator.logs().splitlines() for p in embedded(line, 0)]
        own = [p for p in points if p.namespace == "Webbee/webbee"]
        assert {dict(p.dimensions)["function"] for p in own} == {function}
        emitted[function] = {p.name for p in own}

    phases = "TurnMs ReadMs ClassifyMs CallsMs NarrateMs RecordMs".split()
    assert {"Turns", "PromptCharacters", *phases} <= emitted["chat_turn"]
    assert {"DynamoDBCalls"} <= emitted["tool_dispatch"]
    assert {"UsersQueued", "OldestDueSeconds", "DynamoDBCalls"} <= emitted["skeleton_refresh"]
    for function, names in emitted.items():
        assert all(function in METRICS[name].functions for name in names)


EVENTS = sorted((ROOT / "events").glob("*.json"))
ENV: dict[str, dict[str, str]] = json.loads((ROOT / "env.json").read_text("utf-8"))


def test_every_function_has_events() -> None:
    assert {path.name.partition("-")[0] for path in EVENTS} == set(LOGICAL_IDS)


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_a_documented_event_is_answered_by_the_built_function(cloud: Cloud, path: Path) -> None:
    answer: Any = cloud.invoke(path.name.partition("-")[0], json.loads(path.read_text("utf-8")))
    assert answer.get("statusCode", 200) == 200, answer
    assert answer.get("batchItemFailures", []) == []


@pytest.mark.parametrize("function", LOGICAL_IDS)
def test_env_json_starts_the_function_and_holds_what_the_template_has(function: str) -> None:
    given = ENV[LOGICAL_IDS[function]]
    declared = environment(load_template(), LOGICAL_IDS[function])
    assert given.keys() <= declared.keys()  # sam ignores others
    settings = Settings.from_env(given, function)  # type: ignore[arg-type]
    for noun in ALL_TABLES:
        assert settings.table(noun) in ("", f"{noun.capitalize()}Table")  # what `make aws` creates


SPEAKS = """
import json, sys
from webbee_kernel import language
tag = sys.argv[1]
own = language.of(tag)
print(json.dumps([
    own.date("2026-10-15"), own.money(1234.5, "EUR"), own.say("items", n=2),
    language.numbers(own.number(1234567.5), tag)[0].value,
    language.dates(own.date("2026-10-15"), tag)[0].value,
    language.stem("tasks", tag), language.__file__,
]))
"""


@pytest.mark.parametrize("tag", language.tags())
def test_the_built_layer_speaks_every_language_as_the_sources_do(built: Built, tag: str) -> None:
    path = f"import sys; sys.path[:0] = [{str(built.opt / 'python')!r}]\n"
    *said, home = json.loads(ran(built.python, "-I", "-c", path + SPEAKS, tag).stdout)
    own = language.of(tag)
    assert home.startswith(str(built.opt))
    words = [own.date("2026-10-15"), own.money(1234.5, "EUR"), own.say("items", n=2)]
    assert said == [*words, 1234567.5, [2026, 10, 15], language.stem("tasks", tag)]


def test_the_built_layer_holds_the_locales_of_the_languages_and_no_others(built: Built) -> None:
    held = {p.stem for p in (built.opt / "python/babel/locale-data").glob("*.dat")}
    assert held == {"root", *language.tags()}


WHERE = """
import json, sys
import handler
print(json.dumps({"standard": sys.base_prefix, "path": sys.path, "files": [m.__file__ for m in list(sys.modules.values()) if getattr(m, "__file__", None)]}))
"""


@pytest.mark.parametrize("function", LOGICAL_IDS)
def test_a_handler_imports_from_its_folder_the_layers_and_the_runtime_only(
    built: Built, environment: Callable[[str], dict[str, str]], function: str
) -> None:
    slot = Emulator(built, LOGICAL_IDS[function], environment(function))
    found = json.loads(ran(built.python, "-c", WHERE, cwd=slot.task, env=slot.environment()).stdout)

    homes = [built.root, built.python.parent.parent, Path(found["standard"])]
    homes = [home.resolve() for home in homes]
    files = [Path(f) for f in found["files"]]
    assert [f for f in files if not any(f.resolve().is_relative_to(home) for home in homes)] == []
    kernel = [f for f in files if "webbee_kernel" in str(f)]
    assert kernel and all(f.is_relative_to(built.opt) for f in kernel)
    theirs = [str(ROOT / folder) for folder in ("layers", "extensions", "functions")]
    assert not any(folder in entry for entry in found["path"] for folder in theirs)
    assert str(ROOT) not in found["path"]


@pytest.mark.parametrize(
    ("function", "variable", "value", "why"),
    [
        ("chat_turn", "WEBBEE_TABLE_SESSIONS", "", "is missing"),
        ("chat_turn", "WEBBEE_MODEL", "gpt", "must be offline, bedrock:<id> or"),
        ("tool_dispatch", "WEBBEE_EXTENSIONS_DIR", "", "is missing"),
        ("skeleton_refresh", "WEBBEE_DUE_SHARDS", "many", "should be a valid integer"),
        ("skeleton_refresh", "WEBBEE_TABLE_SKELETON", "", "is missing"),
    ],
)
def test_a_wrong_variable_stops_the_function_at_init_with_one_line_that_names_it(
    built: Built,
    environment: Callable[[str], dict[str, str]],
    function: str,
    variable: str,
    value: str,
    why: str,
) -> None:
    with Emulator(built, LOGICAL_IDS[function], environment(function) | {variable: value}) as slot:
        with pytest.raises(ProcessEnded) as failure:
            slot.invoke(recorded("eventbridge_tick"))
        logs = slot.logs()
    assert failure.value.kind.endswith("SettingsError")
    assert failure.value.message.startswith(f"environment variable {variable}")
    assert why in failure.value.message
    assert "\n" not in failure.value.message
    assert len([line for line in logs.splitlines() if variable in line]) >= 1


THIEF = Path(__file__).parents[1] / "attacks" / "extensions"


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize("tenancy", ["process", "environment"])
def test_the_process_keeps_no_key_where_code_looks_for_it(
    built: Built, environment: Callable[[str], dict[str, str]], tenancy: str
) -> None:
    """Behind both walls between tenants that a deployment of several may have."""
    env = environment("tool_dispatch")
    env |= {"WEBBEE_EXTENSIONS_DIR": str(THIEF), "WEBBEE_TENANCY": tenancy}
    rummage = {"app_id": "thief", "name": "rummage", "arguments": {}}
    with Emulator(built, LOGICAL_IDS["tool_dispatch"], env) as cell:
        answer = cell.invoke(recorded("invoke_call") | rummage)
    assert (answer["status"], answer["data"]) == ("ok", {"found": {}})
