"""What the source alone shows: limits and invariants that it breaks where it stands, and what runs
otherwise than it reads. Nothing of the extension runs here."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, get_type_hints

from webbee_kernel.catalogue import MAX_RULES
from webbee_kernel.channels.cache import check_key, check_ttl
from webbee_kernel.extensions.redaction import without_secrets
from webbee_kernel.invariants import INVARIANTS
from webbee_kernel.sdk import Context
from webbee_kernel.text import one_line

from . import results
from .rules import FUNCTIONS, Finding, Function, Module, argument, dotted, literal, text

Where = Callable[[Module, ast.Call], bool]


def anywhere(module: Module, call: ast.Call) -> bool:
    """Wherever it stands."""
    return True


def awaited(module: Module, call: ast.Call) -> bool:
    """In a coroutine, beside which others wait."""
    return isinstance(module.function_of(call), ast.AsyncFunctionDef)


def present(module: Module, call: ast.Call) -> bool:
    """While a function runs, and without a moment of its own."""
    return module.function_of(call) is not None and not call.args


def dropped(module: Module, call: ast.Call) -> bool:
    """What it returns is kept by nobody."""
    return isinstance(module.parents.get(id(call)), ast.Expr)


def of(*kinds: str) -> Where:
    """In handlers of these kinds."""
    return lambda module, call: module.is_in(call, *kinds)


@dataclass(frozen=True, slots=True)
class Call:
    """Calls that break a rule where they stand so, and what is said. A name that ends in `.*` means
    all of a module."""

    rule: str
    names: str
    where: Where
    told: str

    def is_meant(self, name: str) -> bool:
        """Whether a call of this name is one of them."""
        return any(
            fnmatchcase(name, one) or ("." in one and name.endswith(f".{one}"))
            for one in self.names.split()
        )


THREAD = "await asyncio.to_thread(…)"
BLOCKING = {
    "time.sleep": "await asyncio.sleep",
    "requests.* urllib.request.* urllib3.* http.client.* httpx.get httpx.post httpx.put"
    " httpx.delete httpx.request httpx.Client": "ctx.http",
    "boto3.*": "the clients of ctx",
    "subprocess.run subprocess.call subprocess.check_call subprocess.check_output os.system": (
        "asyncio.create_subprocess_exec"
    ),
    "socket.create_connection": "asyncio.open_connection",
    "smtplib.* imaplib.* ftplib.* psycopg2.connect pymysql.connect": THREAD,
    "sqlite3.connect": f"ctx.store, or {THREAD}",
    "input": "a parameter of the function",
}
"""Calls that block, and what does not."""
BLOCKS = "{name} blocks every other call of this process: use "
CACHE: dict[str, Callable[[Any], None]] = {
    "I-CACHE-KEY-SAFETY": check_key,
    "I-CACHE-TTL-CAP-300S": check_ttl,
}
"""What raises for a key and a time to live that the cache does not take."""
CALLS = (
    *(Call("blocking", names, awaited, BLOCKS + instead) for names, instead in BLOCKING.items()),
    Call(
        "clock",
        "datetime.datetime.now datetime.datetime.utcnow datetime.date.today time.time",
        present,
        "{name} is not the kernel's clock: use ctx.time, which tests move",
    ),
    Call(
        "task",
        "asyncio.create_task asyncio.ensure_future",
        dropped,
        "{name} may be dropped or frozen with the call: use await ctx.background_task(…)",
    ),
    Call("await", "asyncio.gather", dropped, "nobody waits for {name}: put an await before it"),
    Call(
        "I-SKELETON-LLM-ONLY",
        "skeleton.get",
        of("function", "panel", "schedule", "signal", "webhook", "expose", "on_event"),
        INVARIANTS["I-SKELETON-LLM-ONLY"].sentence,
    ),
    Call(
        "system",
        "ctx.as_user ctx.store.list_users ctx.store.query_all ctx.store.for_user"
        " ctx.secrets.for_user ctx.notify.for_user",
        of("function", "panel", "skeleton", "on_event"),
        "{name} raises SystemContextRequired here: it works in schedules, signals, webhooks, hooks",
    ),
    Call(
        "nobody",
        "ctx.notify ctx.notify.send",
        of("schedule", "webhook", "signal"),
        "there is no user here to tell: await ctx.notify.for_user(user_id).send(…)",
    ),
    Call(
        "environment",
        "os.getenv os.environ.get",
        anywhere,
        "use ctx.config or ctx.secrets: the environment is the deployment's, not the user's",
    ),
    Call("print", "print", anywhere, "use ctx.log: it names the app and the request"),
)

WITHOUT_EFFECT = {
    "function": "chain_callable background long_running inputs outputs ui_builder effects",
    "panel": "center_overlay stale_while_revalidate cache_ttl",
    "Extension": "capabilities migrations_dir actions_explicit system",
    "ChatExtension": "tool_name model max_rounds",
    "secret": "rotation_hint_days",
    "emits": "schema_ref",
    "background_task": "long_running",
    "complete": "model",
}
"""Arguments that the platform's SDK knows and this kernel only accepts, by what takes them."""

IMPORTS = {"requests": "ctx.http", "urllib.request": "ctx.http", "boto3": "the clients of ctx"}
"""Libraries that block, and what does not."""

VALUES = (
    *(ast.FormattedValue, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp),
    *(ast.Attribute, ast.Subscript),
)
TESTS = (ast.If, ast.While, ast.IfExp)
"""Where a value is needed, and where one is only looked at: no coroutine is meant in either."""
UNBOUNDED = ("itertools.count", "itertools.cycle")
LEAVES = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
PLAIN_TESTS = (
    *(ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp),
    *(ast.boolop, ast.cmpop, ast.unaryop, ast.operator, ast.expr_context),
)
"""Conditions that ask nobody anything."""
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
    for call, name in module.calls():
        yield from _call(module, call, name)
    yield from _unawaited(module)
    yield from results.findings(module)
    for node in module.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _import(module, node)
        elif isinstance(node, ast.Await):
            yield from _await(module, node)
        elif isinstance(node, ast.ExceptHandler):
            yield from _swallowed(module, node)
        elif _is_endless(module, node):
            message = "this loop never ends: bound it by for … in range(…), or leave it by break"
            yield module.finding(node, "endless", message)
    yield from _shared(module)
    yield from _defaults(module)
    yield from _written_down(module)


def _call(module: Module, node: ast.Call, name: str) -> Iterator[Finding]:
    for row in CALLS:
        if row.is_meant(name) and row.where(module, node):
            yield module.finding(node, row.rule, row.told.format(name=name))
    if name.endswith((".cache.set", ".cache.get_or_fetch", ".cache.get", ".cache.delete")):
        yield from _cache(module, node)
    last = name.rpartition(".")[2]
    prompt = one_line(text(argument(node, "system_prompt"))) if last == "ChatExtension" else ""
    if len(prompt) > MAX_RULES:
        message = f"system_prompt has {len(prompt):,} characters and is cut at {MAX_RULES:,}"
        yield module.finding(node, "system-prompt", message)
    for keyword in node.keywords:
        if keyword.arg and keyword.arg in WITHOUT_EFFECT.get(last, "").split():
            message = f"{keyword.arg} has no effect here: {last} accepts it for the platform's SDK"
            yield module.finding(keyword.value, "no-effect", message)


def _cache(module: Module, node: ast.Call) -> Iterator[Finding]:
    """What the cache would refuse while it runs, in its own words."""
    key = _written(node.args[0]) if node.args else None
    given = (key, literal(argument(node, "ttl_seconds")))
    for (rule, refuse), value in zip(CACHE.items(), given, strict=True):
        try:
            refuse(value) if value is not None else None
        except (TypeError, ValueError) as error:
            yield module.finding(node, rule, str(error).removeprefix(f"{rule}: "))


def _written(node: ast.expr) -> object:
    """A constant, or an f-string with a letter for what is filled in: what stands around it is
    known."""
    if not isinstance(node, ast.JoinedStr):
        return literal(node)
    constant = (part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
    return "".join(map(str, constant))


def _import(module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for name in names:
        if name in IMPORTS:
            message = f"{name} blocks the process: use {IMPORTS[name]}"
            yield module.finding(node, "blocking-import", message)
        if name.startswith("webbee_kernel") and not name.startswith("webbee_kernel.sdk"):
            message = f"{name} is the kernel's own: an extension imports webbee_kernel.sdk"
            yield module.finding(node, "imports", message)


def _await(module: Module, node: ast.Await) -> Iterator[Finding]:
    """`await response.json()`: an answer of `ctx.http` is all there. The type checker tells of
    other plain values; of JSON it knows no type."""
    name = dotted(node.value.func) if isinstance(node.value, ast.Call) else ""
    if name.endswith(".json") and not module.imports("aiohttp"):
        yield module.finding(node, "await", f"{name}() is no coroutine: take the await away")


def _unawaited(module: Module) -> Iterator[Finding]:
    """Coroutines that are taken for what they would answer."""
    coroutines = _of_context() | _of_module(module)
    for call, name in module.calls():
        if name in coroutines and _is_taken_for_value(module, call):
            message = f"{name}() is a coroutine until it is awaited: put an await before it"
            yield module.finding(call, "await", message)


def _of_context() -> frozenset[str]:
    """What `ctx` answers once it is awaited: `ctx.store.count`."""
    places = {"ctx": Context}
    places |= {f"ctx.{name}": kind for name, kind in get_type_hints(Context).items()}
    return frozenset(
        f"{place}.{name}"
        for place, kind in places.items()
        for name, member in vars(kind).items()
        if inspect.iscoroutinefunction(member)
    )


def _of_module(module: Module) -> frozenset[str]:
    """The module's own coroutine functions; a generator is none."""
    yields = (ast.Yield, ast.YieldFrom)
    own = (n for n in module.tree.body if isinstance(n, ast.AsyncFunctionDef))
    return frozenset(f.name for f in own if not any(isinstance(n, yields) for n in ast.walk(f)))


def _is_taken_for_value(module: Module, node: ast.expr) -> bool:
    """Whether an expression is used as what it would answer; of one that is given a name, whether
    all uses of the name are such."""
    parent = module.parents.get(id(node))
    if isinstance(parent, VALUES) or (isinstance(parent, TESTS) and parent.test is node):
        return True
    if isinstance(parent, ast.Dict | ast.List):
        return _is_taken_for_value(module, parent)
    if isinstance(parent, ast.Call):
        return node in parent.args[:1] and module.callee(parent).endswith(results.SUCCESS)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return False
    name, function = parent.targets[0].id, module.function_of(node)
    named = [n for n in ast.walk(function or node) if isinstance(n, ast.Name) and n.id == name]
    used = [n for n in named if isinstance(n.ctx, ast.Load)]
    is_given_once = len(named) == len(used) + 1
    return is_given_once and bool(used) and all(_is_taken_for_value(module, n) for n in used)


def _written_down(module: Module) -> Iterator[Finding]:
    """Keys and passwords that stand in the source, where everybody reads them."""
    for node in module.each(ast.Constant):
        if isinstance(node.value, str) and without_secrets(node.value)[1]:
            message = "this looks like a secret: declare ext.secret(…), read it by ctx.secrets"
            yield module.finding(node, "written", message)


def _swallowed(module: Module, node: ast.ExceptHandler) -> Iterator[Finding]:
    """What catches everything also catches its own end."""
    types = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    caught = {dotted(t).rpartition(".")[2] if t else "BaseException" for t in types}
    raises = any(isinstance(n, ast.Raise) for n in ast.walk(node))
    is_awaited = isinstance(module.function_of(node), ast.AsyncFunctionDef)
    if caught & {"BaseException", "CancelledError"} and not raises and is_awaited:
        message = "this also swallows the call's end: catch Exception instead"
        yield module.finding(node, "swallowed", message)


def _is_endless(module: Module, node: ast.AST) -> bool:
    """Whether it is a loop that nothing in it can end."""
    if isinstance(node, ast.While):
        is_true = isinstance(node.test, ast.Constant) and bool(node.test.value)
        goes_on = is_true or _is_unchanged(node)
    elif isinstance(node, ast.For | ast.AsyncFor) and isinstance(node.iter, ast.Call):
        goes_on = module.callee(node.iter) in UNBOUNDED
    else:
        return False
    inside = (n for statement in node.body for n in ast.walk(statement))
    return goes_on and not any(isinstance(n, LEAVES) for n in inside)


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
            changed = ((n, n.partition(".")[0]) for n in _changed(node))
            own = {of for n, of in changed if of in made and ("." in n or _is_container(made[n]))}
            shared = {n for n in own if not any(_is_local(f, n) for f in functions)}
        if shared:
            kept = f"{', '.join(sorted(shared))} is changed and kept for the next call"
            message = f"{kept}, maybe another tenant's: use ctx.store or ctx.cache"
            yield module.finding(node, "shared-state", message)


def _defaults(module: Module) -> Iterator[Finding]:
    """Containers that are defaults of parameters and changed: they are made once for all calls."""
    for node in (n for n in module.nodes if isinstance(n, FUNCTIONS)):
        named, alone = [*node.args.posonlyargs, *node.args.args], node.args.kwonlyargs
        given = [*zip(named[::-1], node.args.defaults[::-1], strict=False)]
        changed = {name for inner in ast.walk(node) for name in _changed(inner)}
        for arg, default in (*given, *zip(alone, node.args.kw_defaults, strict=True)):
            if arg.arg in changed and _is_container(default):
                kept = f"{arg.arg} is made once and kept for all calls, of other tenants, too"
                yield module.finding(arg, "shared-state", f"{kept}: make it in the function")


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
