"""The Telegram bot: recorded updates against a Telegram on loopback and a whole local Webbee."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from local.world import World, local_world

HERE = Path(__file__).parent
BOB = 123456789
NUMBERS = itertools.count(870000001)
RECORDED = json.loads((HERE / "recorded.json").read_text("utf-8"))

spec = importlib.util.spec_from_file_location("telegram_bot", HERE.parent / "bot.py")
assert spec and spec.loader
bot_module: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bot_module)


class Exchange:
    """A Telegram that keeps what was sent, and a person who types and presses."""

    def __init__(self, url: str, webbee: str) -> None:
        self.sent: list[dict[str, Any]] = []
        self.telegram = bot_module.Telegram("700000000:token", url)
        self.bot = bot_module.Bot(self.telegram, webbee, {str(BOB): "bob"})

    def update(self, kind: str) -> dict[str, Any]:
        self.number = next(NUMBERS)
        return {**copy.deepcopy(RECORDED[kind]), "update_id": self.number}

    def says(self, text: str, **more: Any) -> dict[str, Any]:
        """A message; the last that the bot sent for it."""
        update = self.update("text")
        update["message"] |= {"text": text, **more}
        self.bot.take(update)
        return self.messages()[-1]

    def presses(self, label: str) -> dict[str, Any]:
        """A button of the last message that has any."""
        shown = [m for m in self.messages() if "reply_markup" in m][-1]
        [data] = [d for text, d in buttons(shown) if text == label]
        return self.press(data)

    def press(self, data: str) -> dict[str, Any]:
        update = self.update("press")
        update["callback_query"] |= {"id": str(self.number), "data": data}
        self.bot.take(update)
        return self.messages()[-1]

    def messages(self) -> list[dict[str, Any]]:
        return [call for call in self.sent if call["method"] == "sendMessage"]


def buttons(message: dict[str, Any]) -> list[tuple[str, str]]:
    rows = message.get("reply_markup", {}).get("inline_keyboard", [])
    return [(b["text"], b["callback_data"]) for row in rows for b in row]


@pytest.fixture
def world() -> Iterator[World]:
    with local_world() as running:
        yield running


@pytest.fixture
def exchange(world: World) -> Iterator[Exchange]:
    class BotApi(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            token, _, method = self.path.removeprefix("/bot").partition("/")
            assert token == "700000000:token"
            played.sent.append({"method": method, **body})
            told = json.dumps({"ok": True, "result": {"message_id": 12}}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), BotApi) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        played = Exchange(f"http://127.0.0.1:{server.server_port}", world.url)
        yield played
        played.bot.close()
        server.shutdown()


def test_a_card_is_two_buttons_and_a_yes_runs_it_once(exchange: Exchange) -> None:
    exchange.says("add a task: water the fern")
    asked = exchange.says("delete the task water the fern")
    assert "Delete “water the fern”" in asked["text"]
    assert [label for label, _ in buttons(asked)] == ["Delete", "✗"]
    assert all(len(data.encode()) <= 64 for _, data in buttons(asked))  # Telegram's limit
    assert 'Deleted the task "water the fern"' in exchange.presses("Delete")["text"]
    assert "editMessageReplyMarkup" in [call["method"] for call in exchange.sent]
    again = exchange.press(buttons(asked)[0][1])
    assert 'Deleted the task "water the fern"' in again["text"]  # the same answer, nothing new


def test_a_no_runs_nothing(exchange: Exchange) -> None:
    exchange.says("add a task: keep the fern")
    exchange.says("delete the task keep the fern")
    exchange.presses("✗")
    assert "keep the fern" in exchange.says("show my tasks")["text"]


def test_a_which_one_is_a_button_each(exchange: Exchange) -> None:
    for name in ("prune the roses in front", "prune the roses behind"):
        exchange.says(f"add a task: {name}")
    exchange.says("show my tasks")
    asked = exchange.says("delete the task roses")
    labels = [label for label, _ in buttons(asked)]
    assert sorted(labels) == ["prune the roses behind", "prune the roses in front"]
    old = buttons(asked)[0][1]
    assert f"Delete “{labels[1]}”" in exchange.presses(labels[1])["text"]
    assert exchange.press(old)["text"] == "That question is over."


def test_an_update_that_comes_twice_runs_once(exchange: Exchange) -> None:
    update = exchange.update("text")
    update["message"]["text"] = "add a task: only this one"
    exchange.bot.take(update)
    exchange.bot.take(update)
    assert exchange.says("show my tasks")["text"].count("only this one") == 1


def test_strangers_and_groups_reach_nothing(exchange: Exchange) -> None:
    stranger = {"id": 5, "is_bot": False, "first_name": "Eve"}
    chat = {"id": 5, "type": "private"}
    assert (
        "add your id: 5"
        in exchange.says("show my mail", **{"from": stranger, "chat": chat})["text"]
    )
    before = len(exchange.sent)
    group = exchange.update("text")
    group["message"]["chat"] = {"id": -7, "type": "group"}
    exchange.bot.take(group)
    assert len(exchange.sent) == before


def test_a_webhook_without_the_secret_is_refused(exchange: Exchange) -> None:
    post = httpx.Client(timeout=60)
    with post, bot_module.listen(exchange.bot, 0, "s3cret") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        header = "x-telegram-bot-api-secret-token"
        assert post.post(url, json=exchange.update("text")).status_code == 403
        assert exchange.sent == []
        told = post.post(url, json=exchange.update("text"), headers={header: "s3cret"})
        assert told.status_code == 200 and exchange.messages()
        server.shutdown()


def test_what_is_too_long_for_a_message_is_several(exchange: Exchange) -> None:
    exchange.telegram.send(BOB, "x" * 9000, [("Yes", "yes:1")])
    parts = exchange.messages()
    assert [len(p["text"]) for p in parts] == [4096, 4096, 808]
    assert [bool(buttons(p)) for p in parts] == [False, False, True]
