"""Webbee kernel: exact, bounded memory for chat agents on AWS Lambda."""

from .base import compiled as _compiled

__version__ = "0.1.0"

_compiled.use(f"{__path__[0]}/{_compiled.NAME}")
