"""What runs otherwise than it reads: missing awaits, loops without an end, blocking calls, shared
state."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import get_type_hints

from webbee_kernel.sdk.context import Context

from .finding import FUNCTIONS, Finding, Function, Module, dotted

THREAD = "await asyncio.to_thread(…)"
INSTEAD = {
    "time.sleep": "await asyncio.sleep",
    **dict.fromkeys(("requests", "urllib.request", "urllib3", "http.client"), "ctx.http"),
    **{f"httpx.{n}": "ctx.http" for n in ("get", "post", "put", "delete", "request", "Client")},
    "boto3": "the clients of ctx",
    **{
        f"subprocess.{name}": "asyncio.create_subprocess_exec"
        for name in ("run", "call", "check_call", "check_output")
    },
    "os.system": "asyncio.create_subprocess_exec",
    "socket.create_connection": "asyncio.open_connection",
    **dict.fromkeys(
        ("smtplib", "imaplib", "ftplib", "psycopg2.connect", "pymysql.connect"), THREAD
    ),
    "sqlite3.connect": f"ctx.store, or {THREAD}",
    "input": "a parameter of the function",
}
"""What blocks every other call of the process, and what does not."""

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
        is_coroutine = name in own or (first in ("ctx", "context") and rest in AWAITED)
        if is_coroutine and _forgotten(module, call):
            told = f"{name} is never awaited: write await {name}(…), it does nothing yet"
            yield module.found(call, "await", told)


def _forgotten(module: Module, call: ast.Call) -> bool:
    """Whether nobody can await what a call returns, here or by the name that it gets."""
    for outer in module.around(call):
        if isinstance(outer, ast.Lambda | ast.Yield) or _is_taken(outer):
            return False
        if isinstance(outer, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            targets = outer.targets if isinstance(outer, ast.Assign) else [outer.target]
            names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            function = module.function_of(outer)
            taken = filter(_is_taken, ast.walk(function)) if function else ()
            later = {n.id for t in taken for n in ast.walk(t) if isinstance(n, ast.Name)}
            return function is not None and bool(names) and names.isdisjoint(later)
        if isinstance(outer, ast.Return):
            return isinstance(module.function_of(outer), ast.AsyncFunctionDef)
        if isinstance(outer, ast.stmt):
            return True
    return True


def _is_taken(node: ast.AST) -> bool:
    """Whether somebody awaits what stands in a node."""
    name = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Await) or name in COLLECTORS


def _awaited_values(module: Module) -> Iterator[Finding]:
    """`await response.json()`: an answer of `ctx.http` is all there. The type checker tells of
    other plain values; of JSON it knows no type."""
    for node in module.each(ast.Await):
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "json":
            if _is_answer(called.value, module.function_of(node)):
                told = f"{ast.unparse(called)}() is no coroutine: take the await away"
                yield module.found(node, "await", told)


def _is_answer(value: ast.expr, function: Function | None) -> bool:
    """Whether it is `await ctx.http.get(…)`, or a variable of the function that holds one."""
    if isinstance(value, ast.Name) and function:
        made = (n for n in ast.walk(function) if isinstance(n, ast.Assign))
        held = (n.value for n in made if value.id in map(dotted, n.targets))
        return any(_is_answer(one, None) for one in held)
    call = value.value if isinstance(value, ast.Await) else None
    return isinstance(call, ast.Call) and ".http." in f".{dotted(call.func)}"


def _bare_results(module: Module) -> Iterator[Finding]:
    """Handlers that say to return what is no result; of the others the type checker tells."""
    for function, _ in module.handlers("function", "skeleton"):
        if (hint := function.returns) is not None and dotted(hint) in BARE:
            told = f"{dotted(hint)} is no result: return ActionResult.success(…) or a dict"
            yield module.found(hint, "return", told)


def _endless(module: Module) -> Iterator[Finding]:
    """A loop that nothing in it can end."""
    for node in module.nodes:
        if isinstance(node, ast.While):
            is_true = isinstance(node.test, ast.Constant) and bool(node.test.value)
            goes_on = is_true or _is_unchanged(node)
        elif isinstance(node, ast.For | ast.AsyncFor) and isinstance(node.iter, ast.Call):
            goes_on = module.called(node.iter) in UNBOUNDED
        else:
            continue
        if goes_on and not _leaves(node.body, inside=True):
            told = "this loop never ends: nothing in it breaks, returns or raises; bound it with"
            yield module.found(node, "endless", f"{told} for … in range(…), or leave it by a break")


def _is_unchanged(loop: ast.While) -> bool:
    """Whether a condition is one of plain names and numbers, of which the loop changes none and
    hands none to anybody who could."""
    if not all(isinstance(n, PLAIN_TESTS) for n in ast.walk(loop.test)):
        return False
    names = {n.id for n in ast.walk(loop.test) if isinstance(n, ast.Name)}
    inside = [n for statement in loop.body for n in ast.walk(statement)]
    reaches_out = any(isinstance(n, ast.Global | ast.Nonlocal) for n in inside)
    used = {n.id for n in inside if isinstance(n, ast.Name)}
    return bool(names) and not reaches_out and names.isdisjoint(used)


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
        parts = name.split(".")
        prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
        instead = next((INSTEAD[p] for p in prefixes if p in INSTEAD), "")
        if instead and isinstance(function, ast.AsyncFunctionDef):
            told = f"{name} blocks every other call of this process: use {instead}"
            yield module.found(call, "blocking", told)
        if name in CLOCKS and function is not None and not call.args:
            told = f"{name} is not the kernel's clock: use ctx.time, which tests move"
            yield module.found(call, "clock", told)
        if name in TASKS and isinstance(module.parents.get(id(call)), ast.Expr):
            told = f"{name} may be dropped or frozen with the call"
            yield module.found(call, "task", f"{told}: use await ctx.background_task(…)")


def _shared(module: Module) -> Iterator[Finding]:
    """State of the module that a function changes: every tenant of the process shares it."""
    made = {n: v for s in module.tree.body for n, v in _assigned(s)}
    containers = {n for n, v in made.items() if _is_container(v)}
    decorators = {
        dotted(d.func if isinstance(d, ast.Call) else d)
        for n in module.nodes
        for d in getattr(n, "decorator_list", ())
    }
    for node in module.nodes:
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


def _is_local(function: Function, name: str) -> bool:
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
    for node in module.each(ast.ExceptHandler):
        types = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        caught = {dotted(t).rpartition(".")[2] if t else "BaseException" for t in types}
        if not caught & {"BaseException", "CancelledError"}:
            continue
        raises = any(isinstance(n, ast.Raise) for n in ast.walk(node))
        if not raises and isinstance(module.function_of(node), ast.AsyncFunctionDef):
            told = "this also swallows the call's end: catch Exception instead"
            yield module.found(node, "swallowed", told)
