"""Settings: read once from a mapping, refused with the variable's name; the operator's prices."""

from pathlib import Path

import pytest

from webbee_kernel.api.turns import with_cost
from webbee_kernel.config import ALL_TABLES, TABLES, FunctionName, Settings
from webbee_kernel.errors import SettingsError

FULL = {f"WEBBEE_TABLE_{noun.upper()}": f"t-{noun}" for noun in ALL_TABLES} | {
    "WEBBEE_EXTENSIONS_DIR": "extensions"
}


def test_personal_data_is_closed_unless_someone_opens_it() -> None:
    for told, opens in (("", False), ("false", False), ("no", False), ("1", True), ("True", True)):
        assert Settings.from_env({"IMPERAL_FACT_LEDGER_EXPOSE_PII": told}).expose_pii is opens, told
    assert not Settings.from_env({}).expose_pii


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WEBBEE_TURN_SECONDS", "0"), ("WEBBEE_TURN_SECONDS", "300.1"), ("WEBBEE_ANSWER_SECONDS", "28.1"), ("WEBBEE_TURN_SECONDS", "nan"), ("WEBBEE_TURN_SECONDS", "soon"),
        ("WEBBEE_CALL_SECONDS", "181"), ("WEBBEE_SESSION_DAYS", "0"), ("WEBBEE_DUE_SHARDS", "257"), ("WEBBEE_ABSENT_AFTER_DAYS", "-1"), ("WEBBEE_MODEL", "gpt"),
        ("WEBBEE_MODEL", "bedrock:"), ("WEBBEE_MODEL", "openai:http://x"), ("WEBBEE_SECRETS_PREFIX", "webbee"), ("WEBBEE_SECRETS_PREFIX", "/a b"),
        ("WEBBEE_MODEL_NARRATOR", "openai:http://host/v1"), ("WEBBEE_MODEL_KEY_SECRET", "no-slash"), ("WEBBEE_MODEL_EFFORT", "extreme"), ("WEBBEE_MODEL_CACHE", "2h"),
        ("WEBBEE_MODEL_OUTPUT_TOKENS", "8"), ("WEBBEE_MODEL_WINDOW", "100"), ("WEBBEE_MODEL_TEMPERATURE", "2.5"),
        ("WEBBEE_MODEL_PRICES", '{"m": {"input": -1, "output": 1}}'), ("WEBBEE_MODEL_PRICES", '{"m": {"input": 1}}'), ("WEBBEE_MODEL_PRICES", "3"),
        *(("IMPERAL_FACT_LEDGER_EXPOSE_PII", unclear) for unclear in ("maybe", "2", "true ", "да")),
        ("WEBBEE_MODEL_STOP", '["a", "b", "c", "d", "e"]'), ("WEBBEE_MODEL_STOP", '[" "]'), ("WEBBEE_MODEL_TOOL_CHOICE", "required"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_in_one_line_with_its_variable(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({name: value})
    assert caught.value.field == name
    assert str(caught.value).startswith(f"environment variable {name}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("role", list(TABLES))
def test_a_function_needs_its_tables_and_says_which_is_missing(role: FunctionName) -> None:
    settings = {**FULL, "WEBBEE_DISPATCH": "another-function"}
    assert Settings.from_env(settings, role)
    for noun in TABLES[role]:
        variable = f"WEBBEE_TABLE_{noun.upper()}"
        with pytest.raises(SettingsError, match=variable) as caught:
            Settings.from_env({k: v for k, v in settings.items() if k != variable}, role)
        assert caught.value.field == variable


def test_chat_needs_extensions_and_every_table_only_where_it_runs_them_itself() -> None:
    own = {f"WEBBEE_TABLE_{noun.upper()}" for noun in TABLES["chat_turn"]}
    few = {k: v for k, v in FULL.items() if k in own}
    assert Settings.from_env({**few, "WEBBEE_DISPATCH": "tool-dispatch"}, "chat_turn")
    homeless = {k: v for k, v in FULL.items() if k != "WEBBEE_EXTENSIONS_DIR"}
    for env, lacks in ((few, "WEBBEE_TABLE_STORE"), (homeless, "WEBBEE_EXTENSIONS_DIR")):
        with pytest.raises(SettingsError, match=lacks):
            Settings.from_env(env, "chat_turn")


def test_what_users_have_without_choosing() -> None:
    both = ["mail", "notes"]
    told = {"": both, "*": both, "mail": ["mail"], "notes, mail": both, "none": []}
    for install, has in told.items():
        settings = Settings.from_env({"WEBBEE_INSTALL": install})
        assert [app for app in both if settings.installed_by_default(app)] == has, install
    spaced = {"WEBBEE_OPTIONS": "Confirm=all, Install=mail+notes , Tenants=a"}
    settings = Settings.from_env(spaced)
    assert (settings.confirm, settings.tenant_ids) == ("all", ("a",))
    assert all(map(settings.installed_by_default, both))


def test_nothing_but_the_entry_points_and_the_log_level_reads_the_environment() -> None:
    kernel = Path(__file__).parents[2] / "layers/webbee_kernel/webbee_kernel"
    readers = {
        p.relative_to(kernel).as_posix()
        for p in kernel.rglob("*.py")
        if "os.environ" in p.read_text("utf-8")
    }
    assert {r for r in readers if not r.startswith("api/")} == {
        "bootstrap.py",
        "aws/clients.py",  # what every AWS client reads there: region and addresses
    }


def test_the_policy_is_text_or_that_of_a_file_and_else_stops_the_function(tmp_path: Path) -> None:
    file, broken = tmp_path / "policy.md", tmp_path / "broken"
    file.write_text("Refunds: at most 50 €.\nAsk first.", "utf-8")
    broken.write_bytes(b"\xff\xfe\xff")
    assert Settings.from_env({}).policy_text() == ""
    for value, text in (("Be brief.", "Be brief."), (f"file:{file}", file.read_text("utf-8"))):
        assert Settings.from_env({"WEBBEE_POLICY": value}).policy_text() == text
    for value in ("file:", f"file:{tmp_path / 'none'}", f"file:{broken}", "x" * 24_001):
        with pytest.raises(SettingsError, match="WEBBEE_POLICY") as caught:
            Settings.from_env({"WEBBEE_POLICY": value}).policy_text()
        assert "\n" not in str(caught.value)


PRICES = '{"bedrock:m-1": {"input": 3, "output": 15, "cached": 0.3}}'


def test_tokens_are_priced_by_kind_and_only_requests_to_known_models_cost() -> None:
    prices = Settings.from_env({"WEBBEE_MODEL_PRICES": PRICES}).model_prices
    known = prices["bedrock:m-1"]
    assert known.of(1_000, 400, 100) == pytest.approx((600 * 3 + 400 * 0.3 + 100 * 15) / 1e6)
    asked = {"model": "bedrock:m-1", "input_tokens": 1_000, "cached_tokens": 0, "output_tokens": 0}
    assert with_cost(asked, prices)["cost"] == pytest.approx(0.003)
    for other in ({**asked, "model": "offline"}, {"kind": "store"}, {"model": "bedrock:m-1"}):
        assert with_cost(other, prices) == other
