"""The extension object, in a module whose name every other extension uses too."""

from imperal_sdk import ChatExtension, Extension

WHOSE = "shelf"

ext = Extension(
    "shelf-extension",  # drifted from the folder's name, as in the wild
    version="2.1.0",
    display_name="Shelf",
    description="Keeps the books you own, read and lend, and says which are out.",
    icon="icon.svg",
    config_defaults={"lend": {"days": 14}},
)
chat = ChatExtension(ext, tool_name="tool_shelf_chat", description="Books you own")
