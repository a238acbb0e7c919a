"""What the kernel logs, read by a test."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def everything_logged(form: logging.Formatter | None = None) -> Iterator[io.StringIO]:
    """What the kernel's loggers write, whatever level and handlers a function set up before."""
    text = io.StringIO()
    handler, logger = logging.StreamHandler(text), logging.getLogger("webbee")
    handler.setFormatter(form)
    apart = logging.getLogger("webbee.extension")  # which a local run gives a handler of its own
    level, was = logger.level, (apart.propagate, apart.handlers)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    apart.propagate, apart.handlers = True, []
    try:
        yield text
    finally:
        apart.propagate, apart.handlers = was
        logger.setLevel(level)
        logger.removeHandler(handler)
