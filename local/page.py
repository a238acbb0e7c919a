"""`make page`: write the page's `document.html`, the sources in their small form."""

from __future__ import annotations

import minify  # type: ignore[import-untyped]

from webbee_kernel.page import FOLDER, SMALL, assembled, script


def small() -> str:
    """The document as it should be kept. minify.MinifyError names a line where a module cannot be
    read or two declare one name."""
    style = minify.string("text/css", (FOLDER / "style.css").read_text("utf-8"))
    return assembled(style, minify.string("application/javascript", script()))


def main() -> None:
    """Write it and say how large it is."""
    SMALL.write_text(small(), "utf-8")
    print(f"wrote {SMALL.name}, {SMALL.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
