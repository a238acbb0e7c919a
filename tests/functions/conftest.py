from __future__ import annotations

from collections.abc import Iterator

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, BOB, Person, deployed


@pytest.fixture
def stack() -> Iterator[Stack]:
    """A fresh deployment whose model does as it is told."""
    with deployed() as running:
        yield running


@pytest.fixture
def alice(stack: Stack) -> Person:
    return Person(stack, ALICE)


@pytest.fixture
def bob(stack: Stack) -> Person:
    return Person(stack, BOB)
