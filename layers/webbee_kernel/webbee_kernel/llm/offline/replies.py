"""What the offline model says itself, in English or Russian."""

from __future__ import annotations

from collections.abc import Iterable

from ..protocol import ToolSpec
from .schema import Argument
from .words import is_russian

ASKS = ("I need", "Уточните")
"""How every question of `ask` begins."""

_LABELS = {
    "id": ("which one", "о чём именно речь"),
    "ids": ("which ones", "о чём именно речь"),
    "to": ("the address to send it to", "адрес получателя"),
    "body": ("the text", "текст"),
    "text": ("the text", "текст"),
    "title": ("what to call it", "как это назвать"),
    "subject": ("the subject", "тему"),
    "query": ("what to look for", "что искать"),
    "due": ("the date", "дату"),
}


def language_of(message: str, fallback: str) -> str:
    """`ru` for a message in Cyrillic, `en` for other letters, the user's language when there are
    none."""
    if is_russian(message):
        return "ru"
    return (
        "en" if any(c.isalpha() for c in message) else ("ru" if fallback.startswith("ru") else "en")
    )


def ask(missing: Iterable[Argument], language: str) -> str:
    """What has to be said for the call to be possible."""
    russian = language == "ru"
    wanted = []
    for argument in missing:
        name = "id" if argument.kind == "id" and argument.name not in _LABELS else argument.name
        described = argument.description.partition(".")[0] or argument.name.replace("_", " ")
        wanted.append(_LABELS[name][russian] if name in _LABELS else described)
    listed = ", ".join(dict.fromkeys(wanted))
    return (
        f"{ASKS[1]}, пожалуйста: {listed}." if russian else f"{ASKS[0]} one more thing: {listed}."
    )


def unknown(tools: Iterable[ToolSpec], language: str) -> str:
    """Nothing matched: that, and what there is."""
    apps = _apps(tools)
    if language == "ru":
        return "Не знаю, как с этим помочь. " + (
            f"Я работаю с приложениями: {apps}." if apps else "Ни одно приложение не подключено."
        )
    return "I don't know how to help with that. " + (
        f"I work with these apps: {apps}." if apps else "No app is connected."
    )


def capabilities(tools: Iterable[ToolSpec], language: str) -> str:
    """The answer to a greeting and to "what can you do"."""
    apps = _apps(tools)
    if language == "ru":
        return (
            f"Здравствуйте! Я работаю с приложениями: {apps}."
            if apps
            else "Здравствуйте! Ни одно приложение не подключено."
        )
    return f"Hello! I work with these apps: {apps}." if apps else "Hello! No app is connected."


def gave_up(problems: Iterable[str], language: str) -> str:
    """The arguments were refused and cannot be mended here."""
    listed = "; ".join(dict.fromkeys(p for p in problems if p))
    if language == "ru":
        return (
            f"Не получилось выполнить просьбу: {listed}."
            if listed
            else "Не получилось выполнить просьбу."
        )
    return f"I could not do that: {listed}." if listed else "I could not do that."


def _apps(tools: Iterable[ToolSpec]) -> str:
    return ", ".join(dict.fromkeys(t.app_id for t in tools))
