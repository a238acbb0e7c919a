"""What an author's test loads is gone behind it: another test may have an app of that name."""

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest


def _loaded() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.startswith("webbee_ext.")}


@pytest.fixture(autouse=True)
def other_apps() -> Iterator[None]:
    """The apps that were loaded before a test are loaded behind it, too."""
    before = _loaded()
    yield
    for name in _loaded().keys() - before.keys():
        del sys.modules[name]
    sys.modules.update(before)
