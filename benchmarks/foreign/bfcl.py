"""BFCL's multi-turn conversations on the kernel: does each call run, do states agree?

The true calls are played by the obedient planner, one user message a turn; BFCL's own simulated
APIs carry them out, and its own comparison says whether they end where the ground truth ends.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel

from . import packages
from .drive import UNLIMITED, Talk, data_of, model_of
from .planner import Planner
from .wanted import Wanted, plain, wanted_calls

SETS = ("base", "long_context", "miss_param")
"""BFCL's sets that fit. `miss_func` takes functions away and gives them back within one
conversation: catalogues here do not."""

NOW = "2026-05-15T17:21:04Z"
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
class ConversationResult:
    """One conversation."""

    set_name: str
    entry: str
    calls: int = 0
    ran: int = 0
    equal: bool = False
    questions: int = 0


@dataclass
class World:
    """The APIs of one conversation: those that the kernel's calls act on, and those of the ground
    truth; `told` (`plain`) is what its earlier turns held."""

    live: dict[str, Any] = field(default_factory=dict)
    truth: dict[str, Any] = field(default_factory=dict)
    planner: Planner = field(default_factory=Planner)
    told: str = ""

    def begin(self, entry: Mapping[str, Any], *, long: bool) -> None:
        """A conversation starts."""
        self.live, self.truth = _instances(entry, long=long), _instances(entry, long=long)
        self.planner, self.told = Planner(), ""

    def call(self, api: str, function: str, arguments: dict[str, Any]) -> ActionResult:
        """Run a function of an API."""
        data = run(self.live[api], function, arguments)
        error = data.get("error")
        self.planner.ran(function, arguments, data, ok=not error)
        if error:
            return ActionResult.error(str(error), code="API_ERROR")
        return ActionResult.success(data, "")

    def wanted(self, sources: list[str], message: str) -> list[Wanted]:
        """A turn's true calls, run on the ground truth's APIs: `cp(source='a', destination='b')`
        with the API that has it and names for positional arguments."""
        calls, results = [], []
        for source in sources:
            function, placed, named = packages.call_in(source)
            api = next(a for a, truth in self.truth.items() if hasattr(truth, function))
            names = inspect.signature(getattr(self.truth[api], function)).parameters
            given = {**dict(zip(names, placed, strict=False)), **named}
            arguments = {name: ast.literal_eval(value) for name, value in given.items()}
            calls.append((api.lower(), function, arguments, kind_of(function) != "read"))
            results.append(run(self.truth[api], function, arguments))
        wanted = wanted_calls(calls, results, message, before=self.told)
        held = json.dumps([[w.arguments for w in wanted], results], ensure_ascii=False, default=str)
        self.told += "\n" + plain(f"{message}\n{held}")
        return wanted

    def is_equal(self) -> bool:
        """Whether every API stands as the ground truth's does."""
        checker = importlib.import_module(
            "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker"
        )
        return all(
            checker._compare_instances(self.live[name], api)[0] for name, api in self.truth.items()
        )


def play(set_names: tuple[str, ...], sample: int) -> Iterator[ConversationResult]:
    """Every `sample`-th conversation of these sets: each message is said once, and the planner has
    that turn's true calls. Conversations with the same APIs share a kernel, never a session."""
    kernels: dict[tuple[str, ...], tuple[World, TestKernel, FunctionModel]] = {}
    for set_name in set_names:
        for entry, truth in list(packages.bfcl_talks(set_name))[::sample]:
            apis = tuple(sorted(entry["involved_classes"]))
            if apis not in kernels:
                kernels[apis] = _stage(apis)
            world, kernel, model = kernels[apis]
            model.requests.clear()
            world.begin(entry, long=set_name == "long_context")
            talk = Talk(kernel, lambda call: "user", model)
            result = ConversationResult(set_name, entry["id"])
            for question, sources in zip(entry["question"], truth, strict=True):
                message = str(question[0]["content"]) if question else "Please go on."
                wanted = world.wanted(sources, message)
                world.planner.user, world.planner.words = wanted, message
                talk.say(message)
                result.calls += len(wanted)
                result.ran += sum(w.ran for w in wanted)
            result.equal, result.questions = world.is_equal(), len(talk.questions)
            yield result


def _stage(apis: tuple[str, ...]) -> tuple[World, TestKernel, FunctionModel]:
    world = World()
    model = model_of(world)
    apps = [extension(world, api) for api in apis]
    return world, TestKernel(apps, model=model, env=UNLIMITED, now=NOW), model


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
    return data_of(value)


def _instances(entry: Mapping[str, Any], *, long: bool) -> dict[str, Any]:
    found = {}
    for name in entry["involved_classes"]:
        found[name] = api = packages.bfcl_class(name)()
        if hasattr(api, "_load_scenario"):
            scenario = copy.deepcopy(entry["initial_config"].get(name, {}))
            api._load_scenario(scenario, long_context=long)
    return found


def kind_of(function: str) -> str:
    """What an author would declare."""
    return "destructive" if function in DESTRUCTIVE else "write" if function in WRITES else "read"


def extension(world: World, api: str) -> Extension:
    """One API as an extension, from BFCL's own documents of its functions."""
    about, documents = packages.bfcl_documents(api)
    ext = Extension(api.lower(), "1.0.0", display_name=api, description=about)
    chat = ChatExtension(ext, description=api)
    for name, document in documents.items():
        register = chat.function(
            name, document["description"], document["parameters"], action_type=kind_of(name)
        )
        register(_handler(world, api, name))
    return ext


def _handler(world: World, api: str, function: str) -> Any:
    async def handler(ctx: Context, **arguments: Any) -> ActionResult:
        return world.call(api, function, arguments)

    return handler
