"""Outbound HTTP as a handler meets it."""

import asyncio

import pytest

from tests.hasty_loop import HastyLoop
from webbee_kernel.sdk import Extension
from webbee_kernel.testing import ExtensionHarness


@pytest.mark.parametrize(("asked", "granted"), [(100_000, 180), (181, 180), (90, 90)])
def test_i_longrun_http_cap_180s(asked: float, granted: int) -> None:
    http = ExtensionHarness(Extension("app")).context().http

    async def wait() -> float:
        gone = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()
            await writer.wait_closed()
            gone.set()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        async with server:
            started = asyncio.get_running_loop().time()
            with pytest.raises(TimeoutError):
                await http.get(
                    f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", timeout=asked
                )
            took = asyncio.get_running_loop().time() - started
            await gone.wait()  # giving up also hangs up
            return took

    with asyncio.Runner(loop_factory=HastyLoop) as runner:
        took = runner.run(wait())
    assert took == pytest.approx(granted, abs=0.5)
