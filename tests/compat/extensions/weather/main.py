"""Forecasts of a service on the net: HTTP, secrets, cache, configuration, time."""

from app import chat, ext
from handlers import *  # noqa: F403 - published folders do this

__all__ = ["chat", "ext"]
