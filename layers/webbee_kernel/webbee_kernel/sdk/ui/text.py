"""Words, pictures and sounds."""

from __future__ import annotations

from .base import Node, UIAction, UINode


def Header(
    text: str,
    level: int = 2,
    subtitle: str = "",
) -> UINode:
    """A heading, level 1 to 4."""
    return Node(
        "Header",
        text=text,
        level=level,
        subtitle=subtitle,
    )


def Text(
    content: str,
    variant: str = "body",
    *,
    tone: str = "",
    truncate: bool = False,
) -> UINode:
    """A paragraph: `variant` body, caption, muted or code; `tone` warning."""
    return Node(
        "Text",
        content=content,
        variant=variant,
        tone=tone,
        truncate=truncate or None,
    )


def Markdown(
    content: str,
) -> UINode:
    """Text with Markdown's marks; its links open in a tab of their own."""
    return Node(
        "Markdown",
        content=content,
    )


def Code(
    content: str,
    language: str = "",
    *,
    line_numbers: bool = False,
) -> UINode:
    """Source text as it stands."""
    return Node(
        "Code",
        content=content,
        language=language,
        line_numbers=line_numbers or None,
    )


def Html(
    content: str,
    sandbox: bool = True,
    *,
    max_height: int = 0,
    theme: str = "dark",
) -> UINode:
    """Markup, shown as source: the page runs nobody's markup."""
    return Node(
        "Html",
        content=content,
        sandbox=sandbox,
        max_height=max_height or None,
        theme=theme,
    )


def Badge(
    label: str = "",
    color: str = "gray",
    *,
    value: object = None,
    size: str = "",
    dot: bool = False,
) -> UINode:
    """A small label."""
    return Node(
        "Badge",
        label=label,
        color=color,
        value=value,
        size=size,
        dot=dot or None,
    )


def Avatar(
    fallback: str = "?",
    src: str = "",
    *,
    size: str = "md",
) -> UINode:
    """A person's picture or initials."""
    return Node(
        "Avatar",
        fallback=fallback,
        src=src,
        size=size,
    )


def Icon(
    name: str,
    size: int = 16,
    *,
    color: str = "",
) -> UINode:
    """An icon by name."""
    return Node(
        "Icon",
        name=name,
        size=size,
        color=color,
    )


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
    return Node(
        "Image",
        src=src,
        alt=alt,
        width=width,
        height=height,
        on_click=on_click,
        object_fit=object_fit,
        caption=caption,
    )


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
    return Node(
        "Video",
        src=src,
        poster=poster,
        title=title,
        autoplay=autoplay or None,
        controls=controls,
        loop=loop or None,
        muted=muted or None,
        width=width,
        height=height,
    )


def Audio(
    src: str,
    title: str = "",
    *,
    controls: bool = True,
    autoplay: bool = False,
    loop: bool = False,
) -> UINode:
    """A sound."""
    return Node(
        "Audio",
        src=src,
        title=title,
        controls=controls,
        autoplay=autoplay or None,
        loop=loop or None,
    )


def Link(
    label: str = "",
    href: str = "",
    *,
    on_click: UIAction | None = None,
) -> UINode:
    """Goes to `href`, or does `on_click`."""
    return Node(
        "Link",
        label=label,
        href=href,
        on_click=on_click,
    )
