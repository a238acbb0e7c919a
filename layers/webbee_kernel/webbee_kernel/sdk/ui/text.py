"""Words, pictures and sounds."""

from __future__ import annotations

from .base import UIAction, UINode, said


def Header(text: str, level: int = 2, subtitle: str = "") -> UINode:
    """A heading, level 1 to 4."""
    return said("Header", locals(), "level")


def Text(content: str, variant: str = "body", *, tone: str = "", truncate: bool = False) -> UINode:
    """A paragraph: `variant` body, caption, muted or code; `tone` warning."""
    return said("Text", locals())


def Markdown(content: str) -> UINode:
    """Text with Markdown's marks; its links open in a tab of their own."""
    return said("Markdown", locals())


def Code(content: str, language: str = "", *, line_numbers: bool = False) -> UINode:
    """Source text as it stands."""
    return said("Code", locals())


def Html(content: str, sandbox: bool = True, *, max_height: int = 0, theme: str = "dark") -> UINode:
    """Markup, shown as source: the page runs nobody's markup."""
    return said("Html", locals(), "sandbox")


def Badge(
    label: str = "", color: str = "gray", *, value: object = None, size: str = "", dot: bool = False
) -> UINode:
    """A small label."""
    return said("Badge", locals(), "value")


def Avatar(fallback: str = "?", src: str = "", *, size: str = "md") -> UINode:
    """A person's picture or initials."""
    return said("Avatar", locals())


def Icon(name: str, size: int = 16, *, color: str = "") -> UINode:
    """An icon by name."""
    return said("Icon", locals(), "size")


def Image(
    src: str,
    alt: str = "",
    *,
    width: str = "",
    height: str = "",
    on_click: UIAction | None = None,
    object_fit: str = "",
    caption: str = "",
) -> UINode:
    """A picture; `alt` is what it shows."""
    return said("Image", locals())


def Video(
    src: str,
    poster: str = "",
    *,
    title: str = "",
    autoplay: bool = False,
    controls: bool = True,
    loop: bool = False,
    muted: bool = False,
    width: str = "",
    height: str = "",
) -> UINode:
    """A film."""
    return said("Video", locals(), "controls")


def Audio(
    src: str, title: str = "", *, controls: bool = True, autoplay: bool = False, loop: bool = False
) -> UINode:
    """A sound."""
    return said("Audio", locals(), "controls")


def Link(label: str = "", href: str = "", *, on_click: UIAction | None = None) -> UINode:
    """Goes to `href`, or does `on_click`."""
    return said("Link", locals())
