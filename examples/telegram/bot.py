"""A Telegram bot in front of Webbee, on two public APIs only: Telegram's Bot API and Webbee's.

Whoever is named in the file of people chats with his own apps, in a private chat; a card that waits
for a yes has its two buttons, a "which one?" has its choices. All texts are sent as plain text: no
markup that an app or a stranger wrote is read by Telegram.

    TELEGRAM_TOKEN=… WEBBEE_URL=http://127.0.0.1:8000 python bot.py people.json
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

LONGEST = 4096
"""Characters of a message (Telegram's limit)."""
POLL_S = 50
"""Seconds for which Telegram holds a request for updates open."""
AGAIN_S = 3.0
"""Seconds before a turn that still runs is asked for again."""
PATIENCE_S = 300.0
FAILED = ("failed", "unknown", "not_run")

JSON = dict[str, Any]


class Webbee:
    """The API in the name of one person. Every request may be repeated: its id makes it one."""

    def __init__(self, url: str, token: str) -> None:
        headers = {"authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=40)

    def close(self) -> None:
        self._http.close()

    def say(self, session_id: str, message: str, request_id: str) -> JSON:
        """One message, and what it comes to."""
        body = {"message": message, "session_id": session_id, "request_id": request_id}
        return self._answer("/v1/chat", body)

    def decide(self, confirmation_id: str, accept: bool) -> JSON:
        """Yes or no to a card."""
        return self._answer(f"/v1/confirmations/{confirmation_id}", {"accept": accept})

    def _answer(self, path: str, body: JSON) -> JSON:
        """The answer; of a turn that takes long, as soon as it is there."""
        until = time.monotonic() + PATIENCE_S
        while True:
            response = self._http.post(path, json=body)
            told: JSON = response.json()
            if response.status_code != 202 or time.monotonic() > until:
                return told
            time.sleep(AGAIN_S)


class Telegram:
    """The few methods of the Bot API that are needed."""

    def __init__(self, token: str, url: str = "https://api.telegram.org") -> None:
        self._http = httpx.Client(base_url=f"{url}/bot{token}/", timeout=POLL_S + 10)

    def close(self) -> None:
        self._http.close()

    def call(self, method: str, **arguments: Any) -> Any:
        """What a method gives; raises for what Telegram refuses."""
        answer = self._http.post(method, json=arguments)
        answer.raise_for_status()
        return answer.json()["result"]

    def send(self, chat: int, text: str, buttons: Sequence[tuple[str, str]] = ()) -> None:
        """A message, in as many parts as it needs; the buttons, a row each, under the last."""
        parts = [text[at : at + LONGEST] for at in range(0, len(text), LONGEST)] or ["–"]
        # a preview would be fetched from an address before anybody has looked at it
        bare = {"link_preview_options": {"is_disabled": True}}
        for part in parts[:-1]:
            self.call("sendMessage", chat_id=chat, text=part, **bare)
        keyboard = [[{"text": label, "callback_data": data}] for label, data in buttons]
        shown = {"reply_markup": {"inline_keyboard": keyboard}} if keyboard else {}
        self.call("sendMessage", chat_id=chat, text=parts[-1], **bare, **shown)

    def updates(self) -> Iterator[JSON]:
        """Updates as they come, each confirmed by the request for the next."""
        offset = 0
        while True:
            for update in self.call("getUpdates", offset=offset, timeout=POLL_S):
                yield update
                offset = update["update_id"] + 1


class Bot:
    """Answers updates. `people` are tokens by the Telegram id of whom they belong to."""

    def __init__(self, telegram: Telegram, url: str, people: Mapping[str, str]) -> None:
        self._telegram = telegram
        self._people = {who: Webbee(url, token) for who, token in people.items()}
        self._turns: dict[int, int] = {}  # the turn whose choices are the last, by chat

    def close(self) -> None:
        """Close all connections."""
        for end in (self._telegram, *self._people.values()):
            end.close()

    def take(self, update: JSON) -> None:
        """Answer one update; what is neither a text nor a button is left alone."""
        if press := update.get("callback_query"):
            self._pressed(press)
        elif "text" in (message := update.get("message", {})):
            self._said(message, f"telegram-{update['update_id']}")

    def _said(self, message: JSON, request_id: str) -> None:
        chat, who = message["chat"], str(message["from"]["id"])
        if chat["type"] != "private":  # others would read what is one person's
            return
        if who not in self._people:
            told = f"I do not know you. Ask whoever runs this bot to add your id: {who}"
            self._telegram.send(chat["id"], told)
        else:
            answer = self._people[who].say(_session(chat["id"]), message["text"], request_id)
            self._tell(chat["id"], answer)

    def _pressed(self, press: JSON) -> None:
        """A button: a yes, a no, or a choice. It can be pressed once."""
        self._telegram.call("answerCallbackQuery", callback_query_id=press["id"])
        message, who = press.get("message", {}), str(press["from"]["id"])
        if who not in self._people or not message:
            return
        chat = message["chat"]["id"]
        self._telegram.call(
            "editMessageReplyMarkup", chat_id=chat, message_id=message["message_id"]
        )
        kind, _, what = str(press["data"]).partition(":")
        turn, _, number = what.partition(":")
        if kind != "pick":
            self._tell(chat, self._people[who].decide(what, kind == "yes"))
        elif turn != str(self._turns.get(chat)):  # its number would pick from another list
            self._telegram.send(chat, "That question is over.")
        else:
            request_id = f"telegram-press-{press['id']}"
            self._tell(chat, self._people[who].say(_session(chat), number, request_id))

    def _tell(self, chat: int, answer: JSON) -> None:
        self._turns[chat] = answer.get("turn", 0)
        self._telegram.send(chat, text_of(answer), buttons_of(answer))


def _session(chat: int) -> str:
    return f"telegram-{chat}"


def text_of(answer: JSON) -> str:
    """An answer as text: what failed, the card or the reply, what was done."""
    if "error" in answer:
        return str(answer["error"]["message"])
    receipts = answer.get("receipts", ())
    failed = [r["text"] for r in receipts if r["status"] in FAILED]
    done = [r["text"] for r in receipts if r["status"] == "done"]
    card = answer.get("confirmation")
    middle = [*_card(card)] if card else [answer.get("reply", "")]
    return "\n\n".join("\n".join(part) for part in (failed, middle, done) if any(part))


def _card(card: JSON) -> Iterator[str]:
    """A card: its question, and all that it would do."""
    yield card["question"]
    for call in card["calls"]:
        yield f"\n{call['app']} – {call['title']}"
        for field in call["fields"]:
            yield f"{field['name']}: {field.get('title') or field['value']}"


def buttons_of(answer: JSON) -> list[tuple[str, str]]:
    """What can be pressed: a card's verb and no, or the choices, which are picked by number."""
    if card := answer.get("confirmation"):
        return [(card["verb"], f"yes:{card['id']}"), ("✗", f"no:{card['id']}")]
    choices = answer.get("choices", ())
    return [(choice["label"], f"pick:{answer['turn']}:{n}") for n, choice in enumerate(choices, 1)]


def listen(bot: Bot, port: int, secret: str) -> ThreadingHTTPServer:
    """A server for Telegram's webhook, behind something that speaks HTTPS. What does not bear the
    secret that `setWebhook` was given is not from Telegram."""

    class Updates(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = self.headers.get("x-telegram-bot-api-secret-token", "")
            size = int(self.headers.get("content-length") or 0)
            known = compare_digest(given.encode(), secret.encode()) and size < 1_000_000
            if known:
                bot.take(json.loads(self.rfile.read(size)))
            self.send_response(200 if known else 403)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing: a log would hold what people say."""

    return ThreadingHTTPServer(("127.0.0.1", port), Updates)


def main() -> int:
    """Poll, or serve the webhook where TELEGRAM_SECRET and PORT are set."""
    people = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    telegram = Telegram(os.environ["TELEGRAM_TOKEN"])
    bot = Bot(telegram, os.environ["WEBBEE_URL"], people)
    if secret := os.environ.get("TELEGRAM_SECRET"):
        listen(bot, int(os.environ.get("PORT", "8080")), secret).serve_forever()
    for update in telegram.updates():
        try:
            bot.take(update)
        except (httpx.HTTPError, ValueError) as error:  # the next one may go through
            print(f"{type(error).__name__} | an update was not answered", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
