"""Writes from the code docs/reference.md, every decorator, client method, node and error, and
docs/openapi.json, the routes of `chat_turn`, with the copy that the layer serves.

python -m local.reference
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast, get_overloads, get_type_hints

import orjson

from webbee_kernel import testing
from webbee_kernel.api.chat_turn import ChatService
from webbee_kernel.api.router import Handler, Route
from webbee_kernel.bootstrap import bootstrap, make_kernel
from webbee_kernel.config import Settings
from webbee_kernel.extensions.registry import Registry
from webbee_kernel.sdk import ChatExtension, Context, Extension, Sentences, exceptions, ui
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import ExtensionHarness, TestKernel

from .checking.rules import RULES
from .openapi import document
from .project import ROOT

PAGE = ROOT / "docs" / "reference.md"
OPENAPI = ROOT / "docs" / "openapi.json"
SERVED = ROOT / "layers" / "webbee_kernel" / "webbee_kernel" / "api" / "openapi.json"

PLAIN = ("index", "oauth")
"""What declares something and decorates nothing."""

HEAD = """# Reference

Written by `make python ARGS='-m local.reference'` from the code; a test compares.
[extensions.md](extensions.md) says what to use when.
"""


def page() -> str:
    """The whole page."""
    parts = [
        HEAD,
        *_decorators(),
        *_context(),
        *_ui(),
        f"## Sentences\n\n{_doc(Sentences)}\n",
        _entry("Sentences", Sentences.__init__, level=0),
        _entry("Sentences.say", Sentences.say, level=0) + "\n",
        *_errors(),
        *_testing(),
        *_rules(),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _decorators() -> Iterator[str]:
    yield "## Decorators\n\nOf `ext = Extension(…)` and `chat = ChatExtension(ext)`.\n"
    yield _entry("Extension", Extension.__init__, Extension)
    yield _entry("ChatExtension", ChatExtension.__init__, ChatExtension)
    yield _entry("@chat.function", ChatExtension.function)
    for name, method in inspect.getmembers(Extension, inspect.isfunction):
        if not name.startswith("_"):
            at = "ext." if name in PLAIN else "@ext."
            yield _entry(at + name, method)


def _context() -> Iterator[str]:
    yield "## ctx\n\nWhat is awaited is `async`. JSON values go in and come out everywhere.\n"
    for name, protocol in get_type_hints(Context).items():
        if name in ("app_id", "kernel"):
            continue
        yield f"### ctx.{name}\n\n{_doc(protocol)}\n"
        for method, function in vars(protocol).items():
            if inspect.isfunction(function) and not method.startswith("_"):
                yield _entry(f"ctx.{name}.{method}", _told(protocol, method), level=0)
            elif isinstance(function, property):
                yield f"- `{method}` {_doc(function)}".rstrip()
        yield ""
    yield "### ctx\n"
    for method, function in inspect.getmembers(Context, inspect.isfunction):
        if not method.startswith("_"):
            yield _entry(f"ctx.{method}", function, level=0)
    yield "\n`Document` has `id collection data created_at updated_at user_id etag`, `.get()` and"
    yield "`[key]`; `Page` has `data cursor has_more total`; an answer of `ctx.http` has"
    yield "`status_code headers body ok`, `.text()` and `.json()`, and raises for no status.\n"


def _ui() -> Iterator[str]:
    yield "## ui\n\nA panel returns a tree of these, a function's result may carry one (`ui=`)."
    yield "[gallery](examples/gallery/main.py) makes each of them:\n"
    yield "![Every node](nodes.png)\n"
    yield "| node | what it is | props |\n|---|---|---|"
    for name in sorted(n for n in ui.__all__ if n not in ("UINode", "UIAction")):
        made = getattr(ui, name)
        given = _signature(made).parameters.values()
        props = ", ".join(f"`{_plain(str(p))}`" for p in given)
        yield f"| `{name}` | {_cell(_doc(made))} | {_cell(props)} |"
    yield ""


def _errors() -> Iterator[str]:
    yield f"## Errors\n\n{_doc(exceptions)}\n"
    for name, kind in vars(exceptions).items():
        if inspect.isclass(kind):
            yield f"- `{name}` {_doc(kind)}"
    yield ""


def _testing() -> Iterator[str]:
    yield f"## webbee_kernel.testing\n\n{_doc(testing)}\n"
    for kind in (ExtensionHarness, TestKernel):
        yield _entry(kind.__name__, kind.__init__, kind)
        if kind.__init__.__doc__:
            yield f"{_doc(kind.__init__)}\n"
        for name, method in vars(kind).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                yield _entry(f".{name}", method, level=0)
        yield ""


def _rules() -> Iterator[str]:
    yield "## Rules of webbee check\n"
    yield "An error fails, is refused or harms; a warning works less well than it could. A line"
    yield "that ends in `# check: ignore[rule]` is left alone by that rule. The type checker's"
    yield "findings bear its own names.\n"
    yield "| rule | level | finds |\n|---|---|---|"
    for rule in RULES.values():
        yield f"| `{rule.name}` | {rule.level} | {_cell(rule.finds)} |"
    yield ""


def _entry(
    name: str, function: Callable[..., object], documented: object = None, level: int = 3
) -> str:
    """A heading with the signature and the text below, or one item of a list."""
    is_async = inspect.iscoroutinefunction(function)
    back = str(inspect.signature(function).return_annotation)
    shown = name + _plain(str(_signature(function)))
    if not level:
        told = "" if back in ("None", "Any") else f" → `{_plain(back)}`"
        return f"- {'`await` ' if is_async else ''}`{shown}`{told}  \n  {_doc(function)}".rstrip()
    text = _doc(documented or function)
    return f"### {name}\n\n```python\n{shown}\n```\n\n{text}\n"


def _told(protocol: type, method: str) -> Callable[..., object]:
    """A method; of several forms the first."""
    function: Callable[..., object] = vars(protocol)[method]
    name = f"{protocol.__qualname__}.{method}"
    named = SimpleNamespace(__module__=protocol.__module__, __qualname__=name)
    return next(iter(get_overloads(cast("Callable[..., object]", named))), function)


def _signature(function: Callable[..., object]) -> inspect.Signature:
    """Without `self`, and what comes back."""
    found = inspect.signature(function)
    taken = [p for p in found.parameters.values() if p.name != "self"]
    return found.replace(parameters=taken, return_annotation=found.empty)


def _plain(shown: str) -> str:
    """`dict | None` of `'dict[str, Any] | None'`: what it is, without what it holds."""
    unquoted = re.sub(r"(?<=: )'([^']*)'", r"\1", shown)
    return re.sub(r"(?<=dict|list)\[[^\[\]]*(?:\[[^\]]*\])?\]", "", unquoted)


def _doc(documented: object) -> str:
    """The docstring as paragraphs of one line each; examples in it stay as they are."""
    text = inspect.getdoc(documented) or ""
    paragraphs = (p for p in text.split("\n\n") if not p.startswith("May import"))
    return "\n\n".join(p if p.startswith("    ") else " ".join(p.split("\n")) for p in paragraphs)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def all_routes() -> dict[Route, Handler]:
    """Every route with its handler, of a service that has no extensions and stores nothing."""
    settings = Settings.from_env({})
    app = bootstrap(settings, stores=memory_stores())
    kernel = make_kernel(app, registry=Registry({}))
    return ChatService(settings, app=app, kernel=kernel).router.handlers


def interface() -> tuple[str, str]:
    """The description of the API: as people read it, and in the small form that is served."""
    made = document(all_routes())
    return orjson.dumps(made, option=orjson.OPT_INDENT_2).decode() + "\n", orjson.dumps(
        made
    ).decode()


def main() -> None:
    """Write all three."""
    read, served = interface()
    for path, text in ((PAGE, page()), (OPENAPI, read), (SERVED, served)):
        path.write_text(text, "utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
