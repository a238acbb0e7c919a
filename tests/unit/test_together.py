"""All due sections of a user in one call: none of them at the others' expense."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from webbee_kernel.sdk import Context, Extension
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import CallRequest, user_dict


class Office:
    """Four sections: one counts, one fails, one waits forever, one blocks its thread."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.harness = ExtensionHarness(self.extension())

    def extension(self) -> Extension:
        ext = Extension("office")

        @ext.skeleton("counts")
        async def counts(ctx: Context) -> dict[str, Any]:
            before = await ctx.skeleton.get("counts")
            await asyncio.sleep(0)
            return {"response": {"n": (before or {"n": 0})["n"] + 1}}

        @ext.skeleton("fails")
        async def fails(ctx: Context) -> dict[str, Any]:
            raise RuntimeError("nobody's business")

        @ext.skeleton("waits")
        async def waits(ctx: Context) -> dict[str, Any]:
            await asyncio.Event().wait()
            return {}

        @ext.skeleton("blocks")
        async def blocks(ctx: Context) -> dict[str, Any]:
            self.released.wait(60)
            return {"response": {"n": 0}}

        return ext

    def run(self, *sections: str) -> dict[str, Any]:
        """The results of these sections."""
        stored = {"office": {"counts": {"n": 6}}}
        request = CallRequest(
            "skeletons",
            user_dict(self.harness.user),
            "",
            "skeletons",
            {"sections": {"office": list(sections), "gone": ["x"]}, "snapshots": stored},
            deadline_s=0.5,
        )
        outcome = self.harness.run(self.harness.host.execute(request))
        assert outcome.ok
        assert outcome.data["gone"]["x"]["code"] == "UNKNOWN_TOOL"
        found: dict[str, Any] = outcome.data["office"]
        return found


@pytest.fixture
def office() -> Iterator[Office]:
    made = Office()
    try:
        yield made
    finally:
        made.released.set()


def test_each_section_reads_its_own_snapshot_and_says_what_came_of_it(office: Office) -> None:
    found = office.run("counts", "fails", "waits")
    assert found["counts"] == {"data": {"n": 7}}
    assert found["fails"] == {"code": "INTERNAL", "error": "RuntimeError"}
    assert found["waits"]["code"] == "BACKEND_TIMEOUT"


@pytest.mark.parametrize("order", [("blocks", "counts"), ("counts", "blocks", "fails")])
def test_a_section_that_blocks_the_thread_takes_no_other_with_it(
    office: Office, order: tuple[str, ...]
) -> None:
    found = office.run(*order)
    assert found["counts"] == {"data": {"n": 7}}
    assert found["blocks"]["code"] == "BACKEND_TIMEOUT"
    assert office.run("counts")["counts"] == {"data": {"n": 7}}
