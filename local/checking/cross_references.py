"""What two places of an extension must agree on: what the code asks for by name and what is
registered, a webhook and what it is given, a form and the function it calls, who writes and who
reads, who emits and who listens, a person's name and the model that declares it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from webbee_kernel.extensions.registry import LoadedExtension
from webbee_kernel.pii.keys import NameKey, name_key
from webbee_kernel.sdk import Extension, FunctionDef, ui
from webbee_kernel.sdk.definitions import ON_EVENT
from webbee_kernel.sdk.extension import ALERT_PREFIX

from ..terminal import near
from .rules import Finding, Function, Module, argument, dotted, literal, text

WRITES = ("create", "set", "update")
READS = ("query", "count", "get", "list", "query_all", "list_users")
KERNEL = "oauth_connected"
"""What the kernel emits for an app."""

PARSED = ("dict", "Dict", "Mapping", "JSON", "bytes", "list")
"""What a handler hopes a body to be that is text."""

Fields = Mapping[str, Mapping[str, bool]]
"""Function to its parameters, and whether each is required; without those that take any."""


def findings(modules: Sequence[Module]) -> Iterator[Finding]:
    """What two places of the source must agree on."""
    yield from _collections(modules)
    yield from _alerts(modules)
    for module in modules:
        yield from _undeclared_names(module)
        for function, declaration in module.handlers("webhook"):
            yield from _webhook(module, function, declaration)


def of_loaded(modules: Sequence[Module], loaded: LoadedExtension) -> Iterator[Finding]:
    """What the source asks for by name, and what the loaded extension has."""
    functions = loaded.functions
    fields = _fields(functions)
    callable_ = [*functions, *(f"__panel__{panel}" for panel in loaded.ext.panels)]
    known = {"section": loaded.ext.skeletons, "function": callable_, "action": callable_}
    for module, call, name in ((m, *row) for m in modules for row in m.calls()):
        last = name.rpartition("ui.")[2]
        if row := NAMES.get(last):
            rule, where, place, message = row
            requested, there = text(argument(call, where, place)), known.get(where, NODES)
            if requested and requested not in there:
                yield module.finding(call, rule, message.format(requested) + near(requested, there))
        if last == "Call":
            yield from _arguments(module, call, fields)
        elif last == "Form":
            yield from _form(module, call, fields)
        yield from _secrets_and_settings(module, call, name, loaded.ext)
        yield from _model(module, call, name, loaded.ext)
        yield from _panels(module, call, loaded.ext)
    yield from _events(modules, loaded)


def _fields(functions: Mapping[str, FunctionDef]) -> Fields:
    """Of functions whose model drops what it has not: of others it is not known what they take."""
    models = {name: function.params_model for name, function in functions.items()}
    return {
        name: {f.alias or n: f.is_required() for n, f in model.model_fields.items()}
        for name, model in models.items()
        if model and model.model_config.get("extra") != "allow"
    }


def _webhook(module: Module, node: Function, call: ast.Call) -> Iterator[Finding]:
    """Header names in lower case, a body of text, a key that is compared, a status that is one."""
    headers, body = ([*node.args.args, None, None, None])[1:3]
    hint = body.annotation if body else None
    if body and hint and ast.unparse(hint).strip("'").startswith(PARSED):
        message = f"{body.arg} is the body as text: annotate it str, read json.loads({body.arg})"
        yield module.finding(hint, "webhook", message)
    reads = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    unread = headers is None or headers.arg not in reads
    if text(argument(call, "secret_header", 2)) and unread:
        message = "secret_header is believed unread: compare it with await ctx.secrets.get(…)"
        yield module.finding(call, "webhook", message)
    for inner in ast.walk(node):
        name = _header(inner, headers.arg) if headers else ""
        if name != name.lower():
            message = f"header names come in lower case: {name!r} is {name.lower()!r} here"
            yield module.finding(inner, "webhook", message)
        if isinstance(inner, ast.Return) and (key := _status(inner.value)):
            message = f"this is answered with 200: the key is 'status_code', not {key!r}"
            yield module.finding(inner, "webhook", message)


def _status(value: ast.expr | None) -> str:
    """The key under which an answer gives a status that nobody reads; empty where there is none."""
    if not isinstance(value, ast.Dict):
        return ""
    given = {text(k): literal(v) for k, v in zip(value.keys, value.values, strict=True)}
    codes = [k for k in ("status", "statusCode", "code") if given.get(k) in range(100, 600)]
    return codes[0] if codes and "status_code" not in given else ""


def _header(node: ast.AST, headers: str) -> str:
    """The name that `headers["…"]` or `headers.get("…")` asks for; else empty."""
    if isinstance(node, ast.Subscript) and dotted(node.value) == headers:
        return text(node.slice)
    if isinstance(node, ast.Call) and dotted(node.func) == f"{headers}.get":
        return text(argument(node, "key", 0))
    return ""


def _arguments(module: Module, call: ast.Call, fields: Fields) -> Iterator[Finding]:
    """`ui.Call("f", …)`: what `f` has no parameter for is dropped."""
    function = text(argument(call, "function", 0))
    known = fields.get(function)
    for given in call.keywords if known is not None else ():
        if given.arg and given.arg not in (known or {}):
            yield module.finding(given.value, "ui", _no_parameter(function, given.arg, known or {}))


def _form(module: Module, call: ast.Call, fields: Fields) -> Iterator[Finding]:
    """A form's inputs are the parameters of its function, and all that it requires."""
    function = text(argument(call, "action", 1))
    known = fields.get(function)
    children = argument(call, "children", 0)
    if known is None or children is None:
        return
    given = {p: name for c in ast.walk(children) for p, name in _input(c)}
    for param, name in given.items():
        if param not in known:
            yield module.finding(name, "ui", _no_parameter(function, param, known))
    missing = [n for n, required in known.items() if required and n not in given]
    # every input stands in the form itself
    is_whole = isinstance(children, ast.List) and all(
        isinstance(c, ast.Call) and dotted(c.func).startswith("ui.") for c in children.elts
    )
    if missing and given and is_whole and argument(call, "defaults", 3) is None:
        message = f"{function} requires {missing[0]!r}, which no input of this form gives"
        yield module.finding(call, "ui", message)


def _input(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The parameter that an input gives, and where it is named."""
    if isinstance(node, ast.Call):
        place = 1 if dotted(node.func).endswith("ui.Input") else None
        name = argument(node, "param_name", place)
        if name is not None and text(name):
            yield text(name), name


def _no_parameter(function: str, name: str, known: Mapping[str, bool]) -> str:
    takes = near(name, known) or f": it takes {', '.join(known) or 'none'}"
    return f"{function} has no parameter {name!r}{takes}"


def _collections(modules: Sequence[Module]) -> Iterator[Finding]:
    """A collection that is read and never written, beside one of nearly the same name that is."""
    accesses = [
        (module, call, call.func.attr, name)
        for module in modules
        for call, _ in module.calls()
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in (*WRITES, *READS)
        and isinstance(call.func.value, ast.Attribute)
        and call.func.value.attr == "store"
        and (name := _collection(call))
    ]
    # the declarations `ext.index("parcels", "number")`
    indexed = [
        (module, call, "query", text(call.args[0]))
        for module in modules
        for call, name in module.calls()
        if name.endswith(".index") and len(call.args) == 2 and all(map(text, call.args))
    ]
    accesses += indexed
    written = sorted({name for _, _, method, name in accesses if method in WRITES})
    for module, call, method, name in accesses:
        if method in READS and name not in written and (suggestion := near(name, written)):
            message = f"nothing is ever written into {name!r}{suggestion}"
            yield module.finding(call, "collection", message)
    for module, call, method, name in accesses:
        order = text(argument(call, "order_by", 2)).removeprefix("-") if method == "query" else ""
        indexed_fields = sorted(text(other.args[1]) for _, other, _, of in indexed if of == name)
        if order not in indexed_fields and (suggestion := near(order, indexed_fields)):
            message = f"no index of {name!r} keeps {order!r}{suggestion}"
            yield module.finding(call, "collection", message)


def _collection(call: ast.Call) -> str:
    """`parcels` of `"parcels"`, `"parcels/1"` and `f"parcels/{number}"`."""
    given = call.args[0] if call.args else None
    start = given.values[0] if isinstance(given, ast.JoinedStr) and given.values else given
    name, slash, _ = text(start).partition("/")
    return name if slash or start is given else ""


def _alerts(modules: Sequence[Module]) -> Iterator[Finding]:
    """A field that an alert reads by nearly the name its section gives it."""
    sections = [row for m in modules for row in m.handlers("skeleton")]
    made = {call: [d for d in ast.walk(n) if isinstance(d, ast.Dict)] for n, call in sections}
    fields = {
        _declared_name(call): sorted({text(k) for d in dicts for k in d.keys if k is not None})
        for call, dicts in made.items()
    }
    for module, node, call in ((m, *row) for m in modules for row in m.handlers("tool")):
        tool = _declared_name(call)
        section = tool.removeprefix(ALERT_PREFIX)
        known = fields.get(section, []) if tool != section else []
        for inner in ast.walk(node):
            requested = _header(inner, "new") or _header(inner, "old")
            if requested not in known and (suggestion := near(requested, known)):
                message = f"the section {section!r} has no field {requested!r}{suggestion}"
                yield module.finding(inner, "alert", message)


def _declared_name(call: ast.Call) -> str:
    """The name that a decorator gives a function; empty where it cannot be read."""
    return text(argument(call, "name", 0))


def _events(modules: Sequence[Module], loaded: LoadedExtension) -> Iterator[Finding]:
    """Of the app's own events those that nothing emits; of others those whose app is misspelt."""
    app_id, folder = loaded.app_id, loaded.folder or Path()
    emitted = {e for module in modules for e in _emitted_events(module, app_id)}
    siblings = {path.parent.name for path in folder.parent.glob("*/main.py")}
    for module in modules:
        for node, event_type in _listened_events(module):
            app, _, name = event_type.rpartition(".")
            if app in ("", app_id):
                known = {*emitted, f"{app_id}.{KERNEL}"}
                full_name = f"{app_id}.{name}"
                unknown = {"*", f"{app_id}.*"} & {name, *emitted}
                if not unknown and full_name not in known:
                    message = f"nothing here emits {full_name!r}{near(full_name, known)}"
                    yield module.finding(node, "event", message)
            elif app not in siblings and (suggestion := near(app, siblings)):
                message = f"{event_type!r}: no extension beside this is called {app!r}{suggestion}"
                yield module.finding(node, "event", message)


def _listened_events(module: Module) -> Iterator[tuple[ast.AST, str]]:
    for _, listener in module.handlers("on_event"):
        yield listener, text(argument(listener, "event_type", 0)) or "*"
    for _, panel in module.handlers("panel"):
        refresh = text(argument(panel, "refresh", 4))
        if refresh.startswith(ON_EVENT):
            for name in refresh.removeprefix(ON_EVENT).split(","):
                yield panel, name.strip()


def _emitted_events(module: Module, app_id: str) -> Iterator[str]:
    """Types as they are emitted; `*` where one is made while the code runs."""
    for _, call in module.handlers("function"):
        if event := argument(call, "event", 4):
            event_type = text(event) or "*"
            yield event_type if "." in event_type else f"{app_id}.{event_type}"
    for call, name in module.calls():
        if name.rpartition(".")[2] in ("emit", "emits"):
            yield text(argument(call, "event_type", 0)) or "*"


NODES = frozenset(n for n in ui.__all__ if n[0].isupper()) - {"UINode", "UIAction", "Node"}
NAMES = {
    "ctx.skeleton.get": ("section", "section", 0, "the app has no section {!r}"),
    "Call": ("ui", "function", 0, "the app has no function {!r} to call"),
    "Form": ("ui", "action", 1, "the app has no function {!r} to call"),
    "Node": ("ui", "type", 0, "the page draws no node {!r}"),
}
"""What calls ask for by name: the rule, the argument and its place, and what is said."""


def _secrets_and_settings(
    module: Module, call: ast.Call, name: str, ext: Extension
) -> Iterator[Finding]:
    """Secrets and settings that are read, and those that a sign-in reads."""
    head, _, method = name.rpartition(".")
    requested, provider = text(argument(call, "name", 0)), text(argument(call, "provider", 0))
    if head.endswith("ctx.secrets") and requested and requested not in ext.secrets:
        message = f'secret {requested!r} is not declared: ext.secret("{requested}", "what it is")'
        yield module.finding(call, "secret", message + near(requested, ext.secrets))
    elif head.endswith("ctx.secrets") and requested and method in ("set", "delete"):
        if ext.secrets[requested].write_mode == "user":
            message = f'secret {requested!r} is its user\'s: write_mode="both" lets you {method} it'
            yield module.finding(call, "secret", message)
    if name in ("ctx.config.get", "ctx.config.get_section"):
        key, defaults = text(argument(call, "key", 0)).partition(".")[0], ext.config_defaults or {}
        if key not in defaults and (suggestion := near(key, defaults)):
            yield module.finding(call, "config", f"config_defaults has no {key!r}{suggestion}")
    if method == "oauth" and provider:
        needs = (f"{provider}_client_id", f"{provider}_client_secret")
        if missing := [w for w in needs if w not in ext.secrets]:
            message = f'declare ext.secret("{missing[0]}", …, scope="app"): the sign-in reads it'
            yield module.finding(call, "oauth", message)


def _model(module: Module, call: ast.Call, name: str, ext: Extension) -> Iterator[Finding]:
    head, _, method = name.rpartition(".")
    if not head.endswith("ctx.cache") or method not in ("get", "set", "get_or_fetch"):
        return
    given = argument(call, "value" if method == "set" else "model", 1)
    model = given.func if method == "set" and isinstance(given, ast.Call) else given
    requested = dotted(model).rpartition(".")[2] if model is not None else ""
    classes = {c.name for c in module.each(ast.ClassDef)}
    is_class = requested in classes or (requested in module.aliases and requested[:1].isupper())
    if is_class and requested not in {m.__name__ for m in ext.cache_models.values()}:
        message = f"{requested} is no model of the cache: decorate it with @ext.cache_model(…)"
        yield module.finding(call, "cache-model", message)


def _panels(module: Module, call: ast.Call, ext: Extension) -> Iterator[Finding]:
    panels = argument(call, "refresh_panels")
    for item in panels.elts if isinstance(panels, ast.List) else ():
        if (requested := text(item)) and requested not in ext.panels:
            suggestion = near(requested, ext.panels)
            yield module.finding(item, "panel", f"there is no panel {requested!r}{suggestion}")


PERSONS = frozenset(
    "person customer client patient guest employee driver owner author assignee contact recipient"
    " sender manager member participant attendee buyer seller tenant student teacher doctor user"
    " colleague applicant candidate passenger holder beneficiary payer reporter signer debtor"
    " creditor landlord lender borrower".split()
)
"""English nouns of people: under such a key stands a name as often as not."""
OTHERS = frozenset("id ids count total number type status at url".split())
"""Beside such a noun: what stands there is no name."""


def _undeclared_names(module: Module) -> Iterator[Finding]:
    """Keys under which a name stands and that the gate does not know, in results without a
    `data_model` that declares them."""
    for node, call in module.handlers("function"):
        if argument(call, "data_model") is not None:
            continue
        for node_ in (n for n in ast.walk(node) if isinstance(n, ast.Dict)):
            for key, value in zip(node_.keys, node_.values, strict=True):
                if key is not None and _is_personal(text(key)) and not _is_plain(value):
                    message = "may hold a person's name: declare data_model=… with a PersonName"
                    yield module.finding(key, "pii", f"{text(key)!r} {message}")


def _is_personal(key: str) -> bool:
    words = set(re.sub(r"(?<=[a-z])(?=[A-Z])|[-_]", " ", key).lower().split())
    is_name = words & PERSONS and not words & OTHERS
    return bool(is_name) and name_key(key) is NameKey.NO


def _is_plain(value: ast.AST) -> bool:
    """A number, a flag or a literal is nobody's name."""
    return isinstance(value, ast.Constant | ast.Compare | ast.BoolOp) or (
        isinstance(value, ast.Call) and dotted(value.func) in ("len", "sum", "int", "bool")
    )
