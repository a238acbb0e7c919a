"""What the built cell gives extension code that looks for more than its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emulator.conftest import LOGICAL_IDS, recorded
from tests.emulator.runtime import Built, Emulator

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
