"""What runs otherwise than it reads: missing awaits, loops without an end, blocking calls, shared
state."""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
LEAVES = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
PLAIN_TESTS = (
    *(ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp),
    *(ast.boolop, ast.cmpop, ast.unaryop, ast.operator, ast.expr_context),
)
"""Conditions that ask nobody anything."""

CLOCKS = ("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today", "time.time")
TASKS = ("asyncio.create_task", "asyncio.ensure_future")
CHANGES = frozenset(
    "append extend insert add update setdefault pop popitem remove discard clear appendleft popleft"
    " push put sort reverse".split()
)
CONTAINERS = frozenset(
    "list dict set deque defaultdict OrderedDict Counter WeakValueDictionary TTLCache LRUCache"
    " Queue SimpleQueue".split()
)


def findings(module: Module) -> Iterator[Finding]:
    """Every rule of this page."""
    yield from _awaited_values(module)
    yield from _bare_results(module)
    yield from _endless(module)
    yield from _calls(module)
    yield from _shared(module)
    yield from _swallowed(module)


def _awaited_values(module: Module) -> Iterator[Finding]:
    """`await response.json()`: an answer of `ctx.http` is all there. The type checker tells of
    other plain values; of JSON it knows no type."""
    for node in module.each(ast.Await) if not module.imports("aiohttp") else ():
        if isinstance(node.value, ast.Call) and dotted(node.value.func).endswith(".json"):
            told = f"{dotted(node.value.func)}() is no coroutine: take the await away"
            yield module.found(node, "await", told)


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
        inside = (n for statement in node.body for n in ast.walk(statement))
        if goes_on and not any(isinstance(n, LEAVES) for n in inside):
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
    assigned = [s for s in module.tree.body if isinstance(s, ast.Assign | ast.AnnAssign)]
    made = {dotted(t): s.value for s in assigned for t in _targets(s)}
    decorators = {
        dotted(d.func if isinstance(d, ast.Call) else d)
        for n in module.nodes
        for d in getattr(n, "decorator_list", ())
    }
    for node in module.nodes:
        functions = [f for f in module.around(node) if isinstance(f, FUNCTIONS)]
        if not functions or functions[-1].name in decorators:
            continue
        if isinstance(node, ast.Global):
            shared = set(node.names)
        else:
            shared = {n for n in _changed(node) if n.partition(".")[0] in made}
            shared = {n.partition(".")[0] for n in shared if "." in n or _is_container(made[n])}
            shared = {n for n in shared if not any(_is_local(f, n) for f in functions)}
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


def _is_container(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return dotted(value.func).rpartition(".")[2] in CONTAINERS
    literals = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    return isinstance(value, literals)


def _targets(node: ast.AST) -> list[ast.expr]:
    """What a statement assigns or deletes."""
    if isinstance(node, ast.Assign | ast.Delete):
        return list(node.targets)
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def _changed(node: ast.AST) -> Iterator[str]:
    """The names whose values a statement or call changes in place; `name.attribute` where it sets
    an attribute."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in CHANGES and isinstance(node.func.value, ast.Name):
            yield node.func.value.id
    for target in _targets(node):
        if isinstance(target, ast.Subscript):
            yield dotted(target.value)
        elif isinstance(target, ast.Attribute):
            yield dotted(target)


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
