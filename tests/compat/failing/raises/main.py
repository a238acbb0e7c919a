"""Raises at import, in another module of the folder."""

import app  # noqa: F401
