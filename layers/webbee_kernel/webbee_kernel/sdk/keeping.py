"""What an extension declares about that which it keeps: cached models, indexes of documents."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from .definitions import IndexDef

M = TypeVar("M", bound=type[BaseModel])

MAX_INDEXES = 4
_FIELD = re.compile(r"[^#\s\x00-\x1f+]{1,64}")


class Keeping:
    """The shapes of an app's cache and store."""

    def __init__(self) -> None:
        self.cache_models: dict[str, type[BaseModel]] = {}
        self.indexes: dict[str, tuple[IndexDef, ...]] = {}

    def cache_model(self, name: str) -> Callable[[M], M]:
        """Register a Pydantic model for typed `ctx.cache` values under a stable name."""

        def register(model: M) -> M:
            if not (isinstance(model, type) and issubclass(model, BaseModel)):
                raise TypeError(f"@ext.cache_model({name!r}) wants a pydantic BaseModel class")
            self.cache_models[name] = model
            return model

        return register

    def index(self, collection: str, field: str, *, counted: bool = False) -> None:
        """Keep the documents of a collection by one top-level field, and count them: a query with
        `order_by` or `where` of it, and `count`, read what they answer, however many there are.

        `counted` keeps how many documents have each value, for fields of few values (at most 100).
        An index orders by the first 200 bytes of a text and 40 digits of a number. A write costs
        one unit more for each index (two where the value changes), and twice that with two for the
        count where it changes a count. Documents from before the declaration come in as the
        collection is read. Raises ValueError for a fifth index of a collection.
        """
        if not _FIELD.fullmatch(field):
            raise ValueError(
                f"index of {collection!r} by {field!r}: a field has 1 to 64 characters, no space, #"
                " or +"
            )
        others = tuple(i for i in self.indexes.get(collection, ()) if i.field != field)
        if len(others) >= MAX_INDEXES:
            raise ValueError(f"{collection!r} has {MAX_INDEXES} indexes: it can have no more")
        self.indexes[collection] = (*others, IndexDef(collection, field, counted))
