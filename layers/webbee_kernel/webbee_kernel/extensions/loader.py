"""Loader: each extension folder in a module namespace of its own.

Extensions are flat folders whose modules share names (`app.py`, `handlers.py`). Every module of an
extension is loaded as `webbee_ext.<app>.<module>` with its own `__import__`, so a plain `import
handlers` finds the extension's own file, also when a handler imports late, and never another
extension's. Its `print` is a line of the log.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import linecache
import logging
import re
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ..text import one_line
from . import redaction

ROOT = "webbee_ext"
MAX_PRINT = 2_000
KERNEL = Path(__file__).resolve().parents[1]
LIBRARY = Path(logging.__file__).resolve().parents[1]
Frame = tuple[str, int, str, str]
"""File, line, function and source."""
_print_log = logging.getLogger("webbee.extension")
_lock = threading.RLock()


def load_main(app_id: str, folder: Path) -> ModuleType:
    """Import `<folder>/main.py` afresh and return the module; raises what its import raises."""
    # a namespace of its own: all extensions have an `app.py`
    package = f"{ROOT}.{app_id.replace('-', '_dash_')}"
    with _lock:
        if ROOT not in sys.modules:
            root = ModuleType(ROOT)
            # a path makes it a package; an empty one, a package without a folder
            root.__path__ = []
            sys.modules[ROOT] = root
            sys.meta_path.insert(0, _Finder())
        prefix = package + "."
        before = {n: m for n, m in sys.modules.copy().items() if n.startswith(prefix)}
        # what stands in sys.modules is not loaded again
        for name in before:
            del sys.modules[name]
        # the folder as a package, without an __init__.py
        home = ModuleType(package)
        home.__path__ = [str(folder)]
        home.__package__ = package
        sys.modules[package] = home
        path = list(sys.path)
        try:
            return importlib.import_module(f"{package}.main")
        except BaseException:
            sys.modules.update(before)  # a version in use goes on importing its own modules
            raise
        finally:
            # a folder that puts itself there would lend its modules to all others
            sys.path[:] = path


def app_of_module(name: str) -> str:
    """The app that a module was loaded for; empty for any other module."""
    root, _, rest = name.partition(".")
    return rest.partition(".")[0].replace("_dash_", "-") if root == ROOT else ""


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules below `webbee_ext.<app>` and gives them our loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(ROOT + ".") or path is None:
            return None
        # Python's own finder, our loader
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Runs a module with the extension's own `__import__`."""

    def exec_module(self, module: ModuleType) -> None:
        package = ".".join(module.__name__.split(".")[:2])
        module.__dict__["__builtins__"] = {
            **vars(builtins),
            "__import__": _importer(package),
            "print": _printer(package),
        }
        super().exec_module(module)


def _printer(package: str) -> Any:
    """A `print` that writes one log line under the app's name."""
    app_id = app_of_module(package)

    def extension_print(
        *values: Any, sep: str | None = " ", file: Any = None, **options: Any
    ) -> None:
        # a file of its own is none of our business
        if file not in (None, sys.stdout, sys.stderr):
            builtins.print(*values, sep=sep, file=file, **options)
            return
        # one line: it can forge no other entry of the log
        text = (" " if sep is None else sep).join(map(str, values))
        line = redaction.mask_line(one_line(text, MAX_PRINT))
        redaction.trace().lines.append(line)
        _print_log.info("app=%s | %s", app_id, line)

    return extension_print


def _importer(package: str) -> Any:
    """An `__import__` that looks into the extension's folder first."""

    def extension_import(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        if level or not _is_own(package, name, fromlist):
            found = builtins.__import__(name, globals, locals, fromlist, level)
            # late imports inside handlers go through it, too
            return _importlib(package) if found is importlib else found
        module = importlib.import_module(f"{package}.{name}")
        if fromlist:
            return builtins.__import__(module.__name__, globals, locals, fromlist)
        # `import a.b` binds `a`
        return sys.modules[f"{package}.{name.partition('.')[0]}"]

    return extension_import


def _importlib(package: str) -> ModuleType:
    """`importlib` whose `import_module` looks into the extension's folder first, as its `import`
    does."""

    def import_module(name: str, of: str | None = None, /, **options: Any) -> ModuleType:
        is_own = not name.startswith(".") and _is_own(package, name)
        of = of or options.get("package")
        return importlib.import_module(f"{package}.{name}" if is_own else name, of)

    module = ModuleType("importlib")
    module.__dict__.update({**vars(importlib), "import_module": import_module})
    return module


def _is_own(package: str, name: str, fromlist: Sequence[str] = ()) -> bool:
    """Whether a name is a module of this extension. The kernel and the standard library win, unless
    only the extension's file of that name has the imported names."""
    top = name.partition(".")[0]
    if top in ("webbee_kernel", "imperal_sdk"):
        return False
    # a file called `json.py` must not take the place of Python's
    is_standard = top in sys.stdlib_module_names
    if is_standard and not fromlist:
        return False
    home = sys.modules[package].__path__
    if f"{package}.{top}" not in sys.modules:
        if importlib.machinery.PathFinder.find_spec(f"{package}.{top}", home) is None:
            return False
    if not is_standard:
        return True
    standard = importlib.import_module(name)
    return not all(hasattr(standard, name_) for name_ in fromlist if name_ != "*")


MAX_REASON = 500
"""Characters of a load failure in health, the catalogue and the inspector."""


_FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:()'\"]+/)+")


def reason_of(error: BaseException, folder: Path) -> str:
    """`ImportError: no module named x (main.py:3)`, without the operator's paths."""
    text = error.msg if isinstance(error, SyntaxError) else redaction.text_of(error)
    # paths of the operator's machine stay there
    text = _FOLDERS.sub("", text.replace(f"{folder.resolve().parent}/", ""))
    file, line = place_of(error, folder)
    return one_line(f"{type(error).__name__}: {text}", MAX_REASON) + (
        f" ({file}:{line})" if file else ""
    )


def place_of(error: BaseException, folder: Path) -> tuple[str, int]:
    """File and line in the extension's folder where loading failed; `("", 0)` where unknown."""
    if isinstance(error, SyntaxError) and (name := own_file(error.filename or "", folder)):
        return name, error.lineno or 1
    frames = [*own_frames(error, folder)]
    return frames[-1][:2] if frames else ("", 0)


def def_line(code: CodeType) -> int:
    """The line of a function's `def`: its code begins with the first decorator."""
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    defs = (n for n, line in enumerate(lines) if re.match(r"\s*(async\s+)?def\s", line))
    return code.co_firstlineno + next(defs, 0)


def return_line(func: Callable[..., Any], path: str) -> int:
    """The line of the `return` that gave what stands at this path of a result: the only one, or
    the only one that names the path's last key. Of the `def` where that is not known."""
    code = func.__code__
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(func)))
    except (OSError, SyntaxError):  # the file is gone, or another one by now
        return def_line(code)
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    key = re.sub(r"(\[\d+\])+$", "", path).rpartition(".")[2]
    keyed = [r for r in returns if any(getattr(n, "value", "") == key for n in ast.walk(r))]
    found = keyed or returns
    return code.co_firstlineno + found[0].lineno - 1 if len(found) == 1 else def_line(code)


def frames_of(error: BaseException, folder: Path) -> list[str]:
    """The extension's own lines that were running, the outermost first: `main.py:3 <module>: …`."""
    return [frame_line(*frame) for frame in own_frames(error, folder)]


def frame_line(file: str, number: int, name: str, source: str) -> str:
    """A frame as text."""
    return f"{file}:{number} {name}: {source}".rstrip(": ")


def own_frames(error: BaseException, folder: Path | None) -> Iterator[Frame]:
    """The extension's own frames, the outermost first."""
    for frame in traceback.extract_tb(error.__traceback__):
        if file := own_file(frame.filename, folder):
            yield file, frame.lineno or 0, frame.name, frame.line or ""


def own_file(name: str, folder: Path | None) -> str:
    """The file's path in the extension's folder, its name for an extension made in a test; empty
    for files of the kernel and libraries."""
    path = Path(name)
    if folder is not None:
        root = folder.resolve()
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
    # an extension that a test made has no folder
    foreign = path.is_relative_to(KERNEL) or "site-packages" in path.parts or not path.exists()
    return "" if foreign or path.is_relative_to(LIBRARY) else path.name
