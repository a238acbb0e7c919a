"""Books on a shelf: documents, sections, panels, lifecycle. A flat folder, as published extensions
are."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - the idiom of published folders

import handlers
import views
from app import chat, ext

__all__ = ["chat", "ext", "handlers", "views"]
