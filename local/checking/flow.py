"""What runs otherwise than it reads: missing awaits, loops without an end, blocking calls, shared
state."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import get_type_hints

from webbee_kernel.sdk.context import Context

from .finding import FUNCTIONS, Finding, Module, decorator, dotted

INSTEAD = {
    "time.sleep": "await asyncio.sleep",
    "requests": "ctx.http",
    "urllib.request": "ctx.http",
    "urllib3": "ctx.http",
    "http.client": "ctx.http",
    "httpx.get": "ctx.http",
    "httpx.post": "ctx.http",
    "httpx.put": "ctx.http",
    "httpx.delete": "ctx.http",
    "httpx.request": "ctx.http",
    "httpx.Client": "ctx.http",
    "boto3": "the clients of ctx",
    "subprocess.run": "asyncio.create_subprocess_exec",
    "subprocess.call": "asyncio.create_subprocess_exec",
    "subprocess.check_call": "asyncio.create_subprocess_exec",
    "subprocess.check_output": "asyncio.create_subprocess_exec",
    "os.system": "asyncio.create_subprocess_exec",
    "socket.create_connection": "asyncio.open_connection",
    "smtplib": "await asyncio.to_thread(…)",
    "imaplib": "await asyncio.to_thread(…)",
    "ftplib": "await asyncio.to_thread(…)",
    "sqlite3.connect": "ctx.store, or await asyncio.to_thread(…)",
    "psycopg2.connect": "await asyncio.to_thread(…)",
    "pymysql.connect": "await asyncio.to_thread(…)",
    "input": "a parameter of the function",
}
"""What blocks every other call of the process, and what does not."""

PLAIN = ("json", "text")
"""Methods of an answer of `ctx.http`."""
BARE = ("int", "float", "str", "bool", "bytes", "list", "tuple", "set", "None")
"""Types that are no result of a handler."""
UNBOUNDED = ("itertools.count", "itertools.cycle")
PLAIN_TESTS = (
    *(ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp),
    *(ast.boolop, ast.cmpop, ast.unaryop, ast.operator, ast.expr_context),
)
"""Conditions that ask nobody anything."""

CLOCKS = ("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today", "time.time")
TASKS = ("asyncio.create_task", "asyncio.ensure_future")
COLLECTORS = frozenset(
    "gather wait wait_for shield create_task ensure_future background_task as_completed run"
    " run_coroutine_threadsafe timeout iscoroutine append extend add get_or_fetch".split()
)
"""Calls that take a coroutine that is awaited elsewhere."""

CHANGES = frozenset(
    "append extend insert add update setdefault pop popitem remove discard clear appendleft popleft"
    " push put sort reverse".split()
)
CONTAINERS = frozenset(
    "list dict set deque defaultdict OrderedDict Counter WeakValueDictionary TTLCache LRUCache"
    " Queue SimpleQueue".split()
)


def _async_methods() -> frozenset[str]:
    """`store.get`, `progress` …: what of a context must be awaited, read from its protocols."""
    found = {n for n, f in vars(Context).items() if inspect.iscoroutinefunction(f)}
    for client, protocol in get_type_hints(Context).items():
        methods = vars(protocol).items()
        found |= {f"{client}.{n}" for n, f in methods if inspect.iscoroutinefunction(f)}
    return frozenset(found)


AWAITED = _async_methods()


def findings(module: Module) -> Iterator[Finding]:
    """Every rule of this page."""
    yield from _unawaited(module)
    yield from _awaited_values(module)
    yield from _bare_results(module)
    yield from _endless(module)
    yield from _calls(module)
    yield from _shared(module)
    yield from _swallowed(module)


def _unawaited(module: Module) -> Iterator[Finding]:
    own = {
        n.name
        for n in module.tree.body
        if isinstance(n, ast.AsyncFunctionDef)
        and not any(isinstance(y, ast.Yield) for y in ast.walk(n))
    }
    for call, name in module.calls():
        first, _, rest = name.partition(".")
        if (name in own or (first in ("ctx", "context") and rest in AWAITED)) and (
            _forgotten(module, call)
        ):
            yield module.found(
                call,
                "await",
                f"{name} is never awaited: write await {name}(…), it does nothing yet",
            )


def _forgotten(module: Module, call: ast.Call) -> bool:
    """Whether nobody can await what a call returns."""
    for outer in module.around(call):
        if isinstance(outer, ast.Await | ast.Lambda | ast.Yield):
            return False
        if isinstance(outer, ast.Call) and dotted(outer.func).rpartition(".")[2] in COLLECTORS:
            return False
        if isinstance(outer, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            return not _awaited_later(module, outer)
        if isinstance(outer, ast.Return):
            function = module.function_of(outer)
            return isinstance(function, ast.AsyncFunctionDef)
        if isinstance(outer, ast.stmt):
            return True
    return True


def _awaited_later(module: Module, made: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> bool:
    targets = made.targets if isinstance(made, ast.Assign) else [made.target]
    names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    function = module.function_of(made)
    if function is None or not names:
        return True
    awaits = (
        n
        for n in ast.walk(function)
        if isinstance(n, ast.Await)
        or (isinstance(n, ast.Call) and dotted(n.func).rpartition(".")[2] in COLLECTORS)
    )
    return any(isinstance(n, ast.Name) and n.id in names for a in awaits for n in ast.walk(a))


def _awaited_values(module: Module) -> Iterator[Finding]:
    """`await response.json()`: an answer of `ctx.http` is all there, its methods are plain ones."""
    for node in ast.walk(module.tree):
        if not (isinstance(node, ast.Await) and isinstance(node.value, ast.Call)):
            continue
        called = node.value.func
        if isinstance(called, ast.Attribute) and called.attr in PLAIN:
            of = called.value
            function = module.function_of(node)
            if _is_answer(of) or (isinstance(of, ast.Name) and of.id in _answers(function)):
                told = f"{ast.unparse(called)}() is no coroutine: take the await away"
                yield module.found(node, "await", told)


def _is_answer(node: ast.AST) -> bool:
    """`await ctx.http.get(…)`."""
    call = node.value if isinstance(node, ast.Await) else None
    return isinstance(call, ast.Call) and ".http." in f".{dotted(call.func)}"


def _answers(function: ast.FunctionDef | ast.AsyncFunctionDef | None) -> set[str]:
    """Variables of a function that hold an answer of `ctx.http`."""
    made = (n for n in ast.walk(function) if isinstance(n, ast.Assign)) if function else ()
    return {dotted(target) for n in made if _is_answer(n.value) for target in n.targets}


def _bare_results(module: Module) -> Iterator[Finding]:
    """Handlers that say to return what is no result; of the others the type checker tells."""
    for node in ast.walk(module.tree):
        hint = getattr(node, "returns", None)
        if hint is not None and decorator(node, "function", "skeleton") and dotted(hint) in BARE:
            told = f"{dotted(hint)} is no result: return ActionResult.success(…) or a dict"
            yield module.found(hint, "return", told)


def _endless(module: Module) -> Iterator[Finding]:
    """A loop that nothing in it can end."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.While):
            goes_on = _is_always_true(node.test) or _is_unchanged(node)
        elif isinstance(node, ast.For | ast.AsyncFor) and isinstance(node.iter, ast.Call):
            goes_on = module.called(node.iter) in UNBOUNDED
        else:
            continue
        if goes_on and not _leaves(node.body, inside=True):
            told = "this loop never ends: nothing in it breaks, returns or raises; bound it with"
            yield module.found(node, "endless", f"{told} for … in range(…), or leave it by a break")


def _is_always_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _is_unchanged(loop: ast.While) -> bool:
    """Whether a condition is one of plain names and numbers, of which the loop changes none and
    hands none to anybody who could."""
    if not all(isinstance(n, PLAIN_TESTS) for n in ast.walk(loop.test)):
        return False
    names = {n.id for n in ast.walk(loop.test) if isinstance(n, ast.Name)}
    for node in (n for statement in loop.body for n in ast.walk(statement)):
        if isinstance(node, ast.Name) and node.id in names:
            return False
        if isinstance(node, ast.Global | ast.Nonlocal):
            return False
    return bool(names)


def _leaves(body: list[ast.stmt], *, inside: bool) -> bool:
    """Whether a statement leaves the loop. `inside`: a `break` here is the loop's own."""
    for node in body:
        if isinstance(node, ast.Return | ast.Raise) or (inside and isinstance(node, ast.Break)):
            return True
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(node)):
            return True
        own = inside and not isinstance(node, ast.While | ast.For | ast.AsyncFor)
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        blocks += [b.body for b in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
        if any(_leaves(block, inside=own) for block in blocks):
            return True
    return False


def _calls(module: Module) -> Iterator[Finding]:
    for call, name in module.calls():
        function = module.function_of(call)
        instead = _instead(name)
        if instead and isinstance(function, ast.AsyncFunctionDef):
            yield module.found(
                call, "blocking", f"{name} blocks every other call of this process: use {instead}"
            )
        if name in CLOCKS and function is not None and not call.args:
            yield module.found(
                call, "clock", f"{name} is not the kernel's clock: use ctx.time, which tests move"
            )
        if name in TASKS and isinstance(module.parents.get(id(call)), ast.Expr):
            yield module.found(
                call,
                "task",
                f"{name} may be dropped or frozen with the call: use await ctx.background_task(…)",
            )


def _instead(name: str) -> str:
    """By the whole name, or by the module it is in."""
    parts = name.split(".")
    prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((INSTEAD[p] for p in prefixes if p in INSTEAD), "")


def _shared(module: Module) -> Iterator[Finding]:
    """State of the module that a function changes: every tenant of the process shares it."""
    made = {n: v for s in module.tree.body for n, v in _assigned(s)}
    containers = {n for n, v in made.items() if _is_container(v)}
    decorators = {
        dotted(d.func if isinstance(d, ast.Call) else d)
        for n in ast.walk(module.tree)
        for d in getattr(n, "decorator_list", ())
    }
    for node in ast.walk(module.tree):
        functions = [f for f in module.around(node) if isinstance(f, FUNCTIONS)]
        if not functions or functions[-1].name in decorators:
            continue
        shared = {
            name
            for name, by_attribute in _changed(node).items()
            if name in made and (by_attribute or name in containers)
            if not any(_is_local(f, name) for f in functions)
        }
        if isinstance(node, ast.Global):
            shared = set(node.names)
        if shared:
            yield module.found(
                node,
                "shared-state",
                f"{', '.join(sorted(shared))} is changed by a call and kept for the next, which may"
                " be another tenant's: use ctx.store or ctx.cache",
            )


def _is_local(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether the name is an argument or a variable of the function."""
    return any(
        (isinstance(n, ast.arg) and n.arg == name)
        or (isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store))
        for n in ast.walk(function)
    )


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value
    elif (
        isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.value
    ):
        yield statement.target.id, statement.value


def _is_container(value: ast.expr) -> bool:
    if isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
        return True
    return isinstance(value, ast.Call) and (dotted(value.func).rpartition(".")[2] in CONTAINERS)


def _changed(node: ast.AST) -> dict[str, bool]:
    """The names whose values a statement or call changes in place, and whether by an attribute."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_change = node.func.attr in CHANGES and isinstance(node.func.value, ast.Name)
        return {dotted(node.func.value): False} if is_change else {}
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign | ast.Delete):
        targets = list(node.targets)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    return {
        dotted(t.value): isinstance(t, ast.Attribute)
        for t in targets
        if isinstance(t, ast.Subscript | ast.Attribute)
    }


def _swallowed(module: Module) -> Iterator[Finding]:
    """A handler that catches everything also catches its own end."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ExceptHandler):
            continue
        types = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        caught = {dotted(t).rpartition(".")[2] if t else "BaseException" for t in types}
        if not caught & {"BaseException", "CancelledError"}:
            continue
        raises = any(isinstance(n, ast.Raise) for n in ast.walk(node))
        if not raises and isinstance(module.function_of(node), ast.AsyncFunctionDef):
            yield module.found(
                node, "swallowed", "this also swallows the call's end: catch Exception instead"
            )
