"""The gallery shows every node there is a constructor for."""

import json
import re
from pathlib import Path

from webbee_kernel.sdk import ui
from webbee_kernel.testing import ExtensionHarness

NO_NODES = {"Call", "DataColumn", "Node", "Open", "Send", "UIAction", "UINode"}


def test_every_node_is_there() -> None:
    tree = json.dumps(ExtensionHarness(Path(__file__).parents[1]).panel("nodes"))
    assert set(ui.__all__) - NO_NODES == set(re.findall(r'\{"type": "(\w+)", "props"', tree))
