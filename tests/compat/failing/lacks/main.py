"""Lacks a requirement."""

import a_library_that_is_not_there  # noqa: F401
