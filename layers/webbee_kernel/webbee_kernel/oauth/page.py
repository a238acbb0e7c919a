"""The two small pages of a sign-in: the question before it is finished, and how it ended. No
script; all text is escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from typing import Final

from webbee_kernel import language

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


def question(tag: str, provider: str, app: str, user: str, state: str, code: str) -> str:
    """Asks the person to finish: a link that somebody else sent must not connect their account to
    his user. `tag` is a language's, or what a browser says of them."""
    say = language.of(tag).say
    hidden = "".join(
        f'<input type="hidden" name="{n}" value="{escape(v)}">'
        for n, v in (("state", state), ("code", code))
    )
    form = f'<form method="post">{hidden}<button>{escape(say("oauth_go"))}</button></form>'
    asked = escape(say("oauth_ask", user="{user}")).format(user=f"<b>{escape(user)}</b>")
    title = say("oauth_ask_title", provider=provider.title(), app=app)
    return _document(tag, title, asked, form)


def connected(tag: str, what: str) -> str:
    """It worked."""
    say = language.of(tag).say
    return _document(tag, say("oauth_done_title"), escape(say("oauth_done", what=what)))


def not_connected(tag: str, why: str, **said: str) -> str:
    """It did not; `why` is `over`, `declined` or `failed`."""
    say = language.of(tag).say
    return _document(tag, say("oauth_failed_title"), escape(say(f"oauth_{why}", **said)))


def _document(tag: str, title: str, text: str, form: str = "") -> str:
    lang = language.of(tag).tag
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    return (
        f'<!doctype html><html lang="{lang}"><head>{head}</head>'
        f"<body><main><h1>{escape(title)}</h1><p>{text}</p>{form}</main></body></html>"
    )
