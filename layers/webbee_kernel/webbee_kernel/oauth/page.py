"""The two small pages of a sign-in: the question before it is finished, and how it ended. No
script; all text is escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from typing import Final

STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1.25rem}"
    "h1{font-size:1.4rem}p{margin:.75rem 0}b{overflow-wrap:anywhere}"
    "button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.5rem;"
    "background:#1f5fbf;color:#fff;cursor:pointer}"
    "button:focus-visible{outline:3px solid #e8a200;outline-offset:2px}"
)

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; style-src"
        f" 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}
"""The address holds a one-time code: nothing may learn it from a referrer, a frame or a script."""

_EN: Final = {
    "ask_title": "Connect {provider} to {app}?",
    "ask": (
        "It will be connected for {user}. Go on only if this is you and you began it yourself a"
        " moment ago."
    ),
    "go": "Connect",
    "done_title": "Connected",
    "done": "{what}. You can close this page and go back to the chat.",
    "failed_title": "Not connected",
    "over": (
        "This sign-in is over: it was finished already, or it was begun more than ten minutes ago."
        " Go back to the chat and start it again."
    ),
    "declined": (
        "{provider} reports: {reason}. Nothing was stored. Go back to the chat to start again."
    ),
    "failed": "{reason}. Nothing was stored. Go back to the chat and start again.",
}
_RU: Final = {
    "ask_title": "Подключить {provider} к {app}?",
    "ask": (
        "Подключится для {user}. Продолжайте, только если это вы и сами начали вход минуту назад."
    ),
    "go": "Подключить",
    "done_title": "Подключено",
    "done": "{what}. Эту страницу можно закрыть и вернуться в чат.",
    "failed_title": "Не подключено",
    "over": (
        "Этот вход уже завершён или начат больше десяти минут назад. Вернитесь в чат и начните"
        " снова."
    ),
    "declined": (
        "{provider} сообщает: {reason}. Ничего не сохранено. Вернитесь в чат, чтобы начать снова."
    ),
    "failed": "{reason}. Ничего не сохранено. Вернитесь в чат и начните снова.",
}


def question(language: str, provider: str, app: str, user: str, state: str, code: str) -> str:
    """Asks the person to finish: a link that somebody else sent must not connect their account to
    his user."""
    words = _words(language)
    hidden = "".join(
        f'<input type="hidden" name="{n}" value="{escape(v)}">'
        for n, v in (("state", state), ("code", code))
    )
    form = f'<form method="post">{hidden}<button>{escape(words["go"])}</button></form>'
    asked = escape(words["ask"]).format(user=f"<b>{escape(user)}</b>")
    return _document(
        language, words["ask_title"].format(provider=provider.title(), app=app), asked, form
    )


def connected(language: str, what: str) -> str:
    """It worked."""
    words = _words(language)
    return _document(language, words["done_title"], escape(words["done"].format(what=what)))


def not_connected(language: str, why: str, **said: str) -> str:
    """It did not; `why` is `over`, `declined` or `failed`."""
    words = _words(language)
    return _document(language, words["failed_title"], escape(words[why].format(**said)))


def _words(language: str) -> Mapping[str, str]:
    return _RU if language.lower().startswith("ru") else _EN


def _document(language: str, title: str, text: str, form: str = "") -> str:
    lang = "ru" if language.lower().startswith("ru") else "en"
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    return (
        f'<!doctype html><html lang="{lang}"><head>{head}</head>'
        f"<body><main><h1>{escape(title)}</h1><p>{text}</p>{form}</main></body></html>"
    )
