"""BFCL's multi-turn conversations on the kernel: does each call run, do states agree?

The true calls are played by the obedient planner, one user message a turn; BFCL's own simulated
APIs carry them out, and its own comparison says whether they end where the ground truth ends.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel

from . import packages
from .dojo import model_of
from .drive import UNLIMITED, Talk
from .planner import Planner
from .wanted import Wanted, plain, wanted_calls

SETS = ("base", "long_context", "miss_param")
"""BFCL's sets that fit. `miss_func` takes functions away and gives them back within one
conversation: catalogues here do not."""

NOW = "2026-05-15T17:21:04Z"


@dataclass
class ConversationResult:
    """One conversation."""

    set_name: str
    entry: str
    calls: int = 0
    ran: int = 0
    equal: bool = False
    questions: int = 0


def play(set_names: tuple[str, ...], sample: int) -> Iterator[ConversationResult]:
    """Every `sample`-th conversation of these sets; conversations with the same APIs share a
    kernel, never a session."""
    kernels: dict[tuple[str, ...], tuple[World, TestKernel, FunctionModel]] = {}
    for set_name in set_names:
        for entry, answers in itertools.islice(packages.bfcl_talks(set_name), 0, None, sample):
            apis = tuple(sorted(entry["involved_classes"]))
            if apis not in kernels:
                kernels[apis] = _stage(apis)
            world, kernel, model = kernels[apis]
            model.requests.clear()
            world.begin(entry, long=set_name == "long_context")
            talk = Talk(kernel, lambda call: "user", model)
            yield Conversation(set_name, entry, world, talk).play(answers)


def _stage(apis: tuple[str, ...]) -> tuple[World, TestKernel, FunctionModel]:
    world = World()
    model = model_of(world)
    apps = [extension(world, api) for api in apis]
    return world, TestKernel(apps, model=model, env=UNLIMITED, now=NOW), model


class Conversation:
    """One conversation being played."""

    def __init__(self, set_name: str, entry: Mapping[str, Any], world: World, talk: Talk) -> None:
        self.entry, self.world, self.talk = entry, world, talk
        self.truth = ""
        self.result = ConversationResult(set_name, entry["id"])

    def play(self, truth: list[list[str]]) -> ConversationResult:
        """Say each message once, give the planner that turn's true calls, and compare the end."""
        for question, sources in zip(self.entry["question"], truth, strict=True):
            self._turn(str(question[0]["content"]) if question else "Please go on.", sources)
        checker = importlib.import_module(
            "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker"
        )
        pairs = [(self.world.live[name], api) for name, api in self.world.truth.items()]
        self.result.equal = all(checker._compare_instances(live, api)[0] for live, api in pairs)
        self.result.questions = len(self.talk.questions)
        return self.result

    def _turn(self, message: str, sources: list[str]) -> None:
        planner, told = self.world.planner, self.result
        wanted, results = self._wanted(sources, message)
        planner.user, planner.words = wanted, message
        self.talk.say(message)
        told.calls += len(wanted)
        told.ran += sum(w.ran for w in wanted)
        self.truth += "\n" + plain(f"{message}\n{_json([[w.arguments for w in wanted], results])}")

    def _wanted(self, sources: list[str], message: str) -> tuple[list[Wanted], list[Any]]:
        calls, results = [], []
        for source in sources:
            api, function, arguments = self._parsed(source)
            calls.append((api.lower(), function, arguments, function in WRITES | DESTRUCTIVE))
            results.append(run(self.world.truth[api], function, arguments))
        return wanted_calls(calls, results, message, before=self.truth), results

    def _parsed(self, source: str) -> tuple[str, str, dict[str, Any]]:
        """`cp(source='a', destination='b')` with the API that has it and names for positional
        arguments."""
        function, placed, named = packages.call_in(source)
        api = next(a for a, truth in self.world.truth.items() if hasattr(truth, function))
        names = inspect.signature(getattr(self.world.truth[api], function)).parameters
        given = {**dict(zip(names, placed, strict=False)), **named}
        return api, function, {name: ast.literal_eval(value) for name, value in given.items()}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


DESTRUCTIVE = frozenset("rm rmdir delete_message cancel_order cancel_booking".split())
WRITES = frozenset(
    """cd mkdir touch echo mv cp message_login send_message add_contact authenticate_twitter
    post_tweet retweet comment mention follow_user unfollow_user create_ticket close_ticket
    resolve_ticket edit_ticket ticket_login logout place_order withdraw_funds trading_login
    trading_logout fund_account remove_stock_from_watchlist add_to_watchlist notify_price_change
    authenticate_travel register_credit_card book_flight set_budget_limit purchase_insurance
    contact_customer_support startEngine fillFuelTank lockDoors adjustClimateControl setHeadlights
    activateParkingBrake pressBrakePedal releaseBrakePedal
    setCruiseControl set_navigation""".split()
)
"""What an author would declare; BFCL does not say. All others read."""


@dataclass
class World:
    """The APIs of one conversation: those that the kernel's calls act on, and those of the ground
    truth."""

    live: dict[str, Any] = field(default_factory=dict)
    truth: dict[str, Any] = field(default_factory=dict)
    planner: Planner = field(default_factory=Planner)

    def begin(self, entry: Mapping[str, Any], *, long: bool) -> None:
        """A conversation starts."""
        self.live, self.truth = _instances(entry, long=long), _instances(entry, long=long)
        self.planner = Planner()

    def call(self, api: str, function: str, arguments: dict[str, Any]) -> ActionResult:
        """Run a function of an API."""
        data = run(self.live[api], function, arguments)
        error = data.get("error")
        self.planner.ran(function, arguments, data, ok=not error)
        return (
            ActionResult.error(str(error), code="API_ERROR")
            if error
            else ActionResult.success(data, "")
        )


def run(api: Any, function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A call of a simulated API, its result as an object; what it raises becomes an error, as in
    BFCL."""
    try:
        value = getattr(api, function)(**arguments)
    except Exception as error:
        value = {"error": f"Error during execution: {error}"}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = {"result": value}
    value = json.loads(json.dumps(value, default=str))
    if isinstance(value, list):
        return {"items": value}
    return value if isinstance(value, dict) else {} if value is None else {"result": value}


def _instances(entry: Mapping[str, Any], *, long: bool) -> dict[str, Any]:
    found = {}
    for name in entry["involved_classes"]:
        api = packages.bfcl_class(name)()
        if hasattr(api, "_load_scenario"):
            api._load_scenario(
                copy.deepcopy(entry["initial_config"].get(name, {})), long_context=long
            )
        found[name] = api
    return found


def extension(world: World, api: str) -> Extension:
    """One API as an extension, from BFCL's own documents of its functions."""
    documents = packages.bfcl_documents(api)
    ext = Extension(
        api.lower(),
        "1.0.0",
        display_name=api,
        description=documents[0]["description"].split("Tool description")[0],
    )
    chat = ChatExtension(ext, description=api)
    for document in documents:
        name = document["name"]
        kind = "destructive" if name in DESTRUCTIVE else "write" if name in WRITES else "read"
        schema = packages.bfcl_schema(document["parameters"])
        register = chat.function(name, document["description"], schema, action_type=kind)
        register(_handler(world, api, name))
    return ext


def _handler(world: World, api: str, function: str) -> Any:
    async def handler(ctx: Context, **arguments: Any) -> ActionResult:
        return world.call(api, function, arguments)

    return handler
