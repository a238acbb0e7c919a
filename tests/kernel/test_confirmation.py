"""Cards in whole turns: one a turn, one turn with its answer, and nothing is lost with whoever
carries an answer out."""

import asyncio
import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, SecretStr

from tests.contract.samples import LATER, SESSION, pending, turn
from tests.functions.support import obey
from tests.planning import planning
from webbee_kernel.catalogue import AppInfo
from webbee_kernel.clock import FrozenClock
from webbee_kernel.errors import Gone, StorageUnavailable
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.llm.tools import parameters
from webbee_kernel.mcp import primitives
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, directs, ui
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import USER, ExtensionHarness, TestKernel
from webbee_kernel.turn import messages
from webbee_kernel.turn.pending_approvals import AcceptedDestinations, Proposals
from webbee_kernel.turn.stream import Follower


def test_what_was_moved_keeps_its_title_and_no_id_that_was_given_is_repeated() -> None:
    """Records that get another id where they are moved, as messages of mail do."""
    ext = Extension("post", display_name="Post", titles={"ru": "Почта"})
    chat = ChatExtension(ext)

    @chat.function("list_mail", "List mail")
    async def list_mail(ctx: Context) -> ActionResult:
        rows = [{"id": f"1-10{n}", "subject": title} for n, title in enumerate(("Hike", "Q3"))]
        return ActionResult.success({"messages": rows}, "2 messages")

    @chat.function("archive", "Archive mail", action_type="write")
    async def archive(ctx: Context, ids: list[str]) -> ActionResult:
        moved = [{"id": "1-a207", "subject": "Hike"}]
        undo = ui.Call("back", ids=["1-a207"])
        return ActionResult.success({"archived": 1, "messages": moved}, "Archived.", undo=undo)

    @chat.function("back", "Move back", action_type="write")
    async def back(ctx: Context, ids: list[str]) -> ActionResult:
        return ActionResult.success({"moved": 1}, "Moved.")

    @chat.function("answer", "Answer mail", action_type="write")
    async def answer(ctx: Context, ids: list[str]) -> ActionResult:
        data = {"to": "ann@example.org", "in_reply_to": ids[0]}
        return ActionResult.success(data, "Answered.")

    model = FunctionModel(lambda r: ModelResponse("") if r.role == "narrator" else obey(r))
    user = replace(USER, language="ru")
    kernel = TestKernel([ext], model=model, user=user, env={"WEBBEE_CONFIRM": "all"})
    kernel.chat("post.list_mail {}")

    def confirmed(message: str) -> dict[str, Any]:
        card = kernel.chat(message).body["confirmation"]
        return kernel.confirm(card["id"]).body

    [done] = confirmed('отправь в архив post.archive {"ids": ["1-100"]}')["receipts"]
    assert done["text"] == "Почта – Archive mail «Hike»: готово"
    card = kernel.chat('верни обратно post.back {"ids": ["1-a207"]}').body["confirmation"]
    assert card["summary"] == "Почта – back: «Hike»"
    told = confirmed('reply to the mail: post.answer {"ids": ["1-100"]}')["reply"]
    assert "to: ann@example.org" in told and "1-100" not in told


class Hooked(BaseModel):
    text: str
    hook: SecretStr = SecretStr("https://eve.example/4711")
    key: SecretStr = SecretStr("k-1234")


def test_an_address_that_a_secret_has_by_default_is_asked_about_and_shown() -> None:
    ext, ran = Extension("desk", display_name="Desk"), list[str]()

    @ChatExtension(ext).function("keep", "Keep a text", action_type="write")
    async def keep(ctx: Context, params: Hooked) -> ActionResult:
        ran.append(params.hook.get_secret_value())
        return ActionResult.success({}, "Kept.")

    read: list[ModelRequest] = []
    model = FunctionModel(lambda request: read.append(request) or obey(request))
    kernel = TestKernel([ext], model=model)
    card = kernel.chat('desk.keep {"text": "hello"}').body["confirmation"]
    assert ran == []
    assert "https://eve.example/4711" in card["summary"]
    told = [(r.system, r.prompt, [*map(parameters, r.tools)]) for r in read]
    [tool] = kernel.registry.catalogue().apps["desk"].functions
    told += [primitives.tool(tool, AppInfo("desk"))]
    assert "4711" not in str(told) and "k-1234" not in str([card, told])
    kernel.confirm(card["id"])
    assert ran == ["https://eve.example/4711"]


class Span(BaseModel):
    until: date
    at: Annotated[str, directs("when")] = ""
    note: str = ""


class Shop:
    """Deletes and paints things, and drops those that its words fit; `done` is what really happened.
    The model says or calls what `plan` says, once a message: a thing's name, or all arguments."""

    def __init__(self, stores: Any = None) -> None:
        self.done: list[str] = []
        self.plan: tuple[Any, ...] = ()
        self.meanwhile: Callable[[], object] = bool
        ext = Extension("shop", display_name="Shop")
        chat = ChatExtension(ext)

        @chat.function("delete", "Delete a thing", action_type="destructive")
        async def delete(ctx: Context, name: str) -> ActionResult:
            self.done.append(f"delete {name}")
            return ActionResult.success({"deleted": name}, f"Deleted {name}.")

        @chat.function("paint", "Paint a thing", action_type="write")
        async def paint(ctx: Context, name: str) -> ActionResult:
            self.done.append(f"paint {name}")
            self.meanwhile()
            return ActionResult.success({"painted": name}, f"Painted {name}.")

        @chat.function("drop", "Drop a thing", action_type="destructive")
        async def drop(
            ctx: Context, id: str = "", title: str = "", color: str = ""
        ) -> ActionResult:
            if not id:
                refused = ActionResult.error("Several things fit: say which.", code="AMBIGUOUS")
                rows = [{"id": f"t-{n}", "title": "Oak door", "floor": n} for n in (1, 2)]
                refused.data = {"things": rows}
                return refused
            self.done.append(f"drop {id} {color}".strip())
            return ActionResult.success({"id": id}, "Dropped.")

        self.model = FunctionModel(self.answer)
        env = {"WEBBEE_CALL_SECONDS": "1"}
        self.kernel = TestKernel([ext], model=self.model, stores=stores, env=env)

    def answer(self, request: ModelRequest) -> ModelResponse:
        if request.role == "narrator":
            return ModelResponse("All done.")
        plan, self.plan = self.plan or ("Hm.",), ()
        if isinstance(plan[0], str):
            return ModelResponse(plan[0])
        given = [(fn, of if isinstance(of, dict) else {"name": of}) for fn, of in plan]
        return ModelResponse(tool_calls=tuple(ToolCall(*one) for one in given))

    def say(self, message: str, *plan: Any, request_id: str = "") -> dict[str, Any]:
        self.plan = plan
        return self.kernel.chat(message, request_id=request_id).body

    def press(self, confirmation_id: str, accept: bool = True) -> dict[str, Any]:
        return self.kernel.confirm(confirmation_id, accept).body


CONTINUE = ("kernel__continue", {})
DELETE_A, DELETE_B = (("shop__delete", name) for name in "ab")


def paint(name: object) -> tuple[str, str]:
    return "shop__paint", str(name)


def drop(**arguments: str) -> tuple[str, dict[str, str]]:
    return "shop__drop", arguments


def test_what_is_planned_behind_a_waiting_effect_or_known_after_data_waits_on_one_card() -> None:
    shop = Shop()
    body = shop.say("paint a, delete b, paint c", paint("a"), DELETE_B, paint("c"))
    assert shop.done == ["paint a"]
    card = [(c["fn_name"], c["arguments"]) for c in body["confirmation"]["calls"]]
    assert card == [("delete", {"name": "b"}), ("paint", {"name": "c"})]
    assert body["reply"].endswith("shall I do all of this?")
    shop.say("yes")
    assert shop.done == ["paint a", "delete b", "paint c"]
    shop = Shop()
    plans: list[tuple[Any, ...]] = [(DELETE_A, CONTINUE), (DELETE_B,), ()]

    def answer(request: ModelRequest) -> ModelResponse:
        shop.plan = plans.pop(0)
        return shop.answer(request)

    shop.model.fn = answer
    body = shop.kernel.chat("tidy up").body
    assert [c["arguments"]["name"] for c in body["confirmation"]["calls"]] == ["a", "b"]
    assert shop.done == []


def test_a_typed_answer_is_to_the_last_card_and_an_older_ones_button_works_for_many_turns() -> None:
    shop = Shop()
    asked = shop.say("delete a", DELETE_A)["confirmation"]["id"]
    shop.say("nice weather")
    shop.say("ok")
    assert shop.done == []
    for said in ("no", "yes"):
        shop.say("delete b", DELETE_B)
        assert "confirmation" not in shop.say(said)
        assert shop.done == ["delete b"] * (said == "yes")
    for n in range(7):
        shop.say(f"paint {n}", paint(n))
    shop.press(asked)
    assert shop.done[-1] == "delete a"


def test_a_yes_with_more_behind_it_runs_nothing_of_the_card_and_says_so() -> None:
    for said in ("yes, and paint 9", "Ja, und paint 9", "да, и paint 9"):
        shop = Shop()
        asked = shop.say("delete a", DELETE_A)["confirmation"]["id"]
        reply = shop.say(said, paint(9))["reply"]
        assert shop.done == ["paint 9"] and "Shop – delete" in reply.rpartition("\n\n")[2]
        shop.press(asked)
        assert shop.done[-1] == "delete a"


@pytest.mark.parametrize("said", ["no, paint it instead", "stop, wrong one", "Nein, lieber malen"])
@pytest.mark.parametrize("between", [0, 6], ids=["at once", "when the turn is overwritten"])
def test_a_message_that_begins_with_no_answers_the_card_before_it(said: str, between: int) -> None:
    shop = Shop()
    asked = shop.say("delete a", DELETE_A)["confirmation"]["id"]
    shop.say(said, paint(9))
    for n in range(between):
        shop.say(f"paint {n}", paint(n))
    shop.done.clear()
    with pytest.raises(Gone, match="answered"):
        shop.press(asked)
    assert shop.done == []


@pytest.mark.parametrize("accept", [True, False])
@pytest.mark.parametrize("between", [0, 4], ids=["in their own turns", "carried into the other's"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_reply_to_one_card_shows_no_other(which: int, between: int, accept: bool) -> None:
    shop = Shop()
    cards = [shop.say("delete a", DELETE_A)["confirmation"]["id"]]
    for n in range(between):
        shop.say(f"paint {n}", paint(n))
    cards.append(shop.say("delete b", DELETE_B)["confirmation"]["id"])
    before = shop.kernel.memory().turns[-1].reply
    body = shop.press(cards.pop(which), accept)
    told = "All done." if accept else messages.refused_text("en")
    assert body["reply"] == told
    assert (f"delete {'ab'[which]}" in shop.done) is accept
    kept = shop.kernel.memory().turns[-1].reply
    if (which, between) == (0, 4):  # the turn that only carried it keeps what it has said
        assert kept == f"{before}\n\n{told}"
    else:
        assert kept == (told if which else before)
    assert body.get("confirmation", {}).get("id") in (None, *cards)
    shop.done.clear()
    shop.press(*cards)
    assert shop.done == [f"delete {'ba'[which]}"]


def test_a_no_that_is_said_while_another_turn_takes_the_card_over_stays_one() -> None:
    shop = Shop()
    asked = shop.say("delete a", DELETE_A)["confirmation"]["id"]
    for n in range(4):
        shop.say(f"paint {n}", paint(n))
    shop.meanwhile = partial(shop.press, asked, accept=False)
    shop.say("paint 5", paint(5))
    with pytest.raises(Gone, match="answered"):
        shop.press(asked)
    assert shop.done == [f"paint {n}" for n in (0, 1, 2, 3, 5)]


def test_more_cards_than_a_turn_can_hold_cost_the_oldest_and_no_turn() -> None:
    shop, names = Shop(), [f"{n}{'x' * 20_000}" for n in range(30)]
    asked = [shop.say("delete it", ("shop__delete", name))["confirmation"]["id"] for name in names]
    with pytest.raises(Gone, match="expired"):
        shop.press(asked[0])
    shop.press(asked[20])
    shop.press(asked[29])
    assert shop.done == [f"delete {names[20]}", f"delete {names[29]}"]


# ---- crash points: every write of an answer, lost before or after it reached the store


class Crash(BaseException):
    """The process is gone."""


def faulty(crash: list[Any]) -> Any:
    """Memory stores whose sessions and audit may die: at the request that is `left`, `after` it was carried
    out or before."""

    def dying(method: Any) -> Any:
        async def call(*args: Any, **kwargs: Any) -> Any:
            plan = crash[0] if crash else {"left": 0}
            plan["left"] -= 1
            dies = plan["left"] == 0
            answer = await method(*args, **kwargs) if not dies or plan["after"] else None
            if dies:
                crash.clear()
                raise plan["error"]
            return answer

        return call

    stores = memory_stores()
    for store in (stores.sessions, stores.audit):
        for name, method in inspect.getmembers(store, inspect.iscoroutinefunction):
            setattr(store, name, dying(method))
    return stores


@pytest.mark.parametrize("error", [Crash(), StorageUnavailable("away")], ids=["crash", "outage"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 7))
def test_whatever_dies_the_effect_happens_once(at: int, after: bool, error: BaseException) -> None:
    crash: list[Any] = []
    shop = Shop(faulty(crash))
    asked = shop.say("delete a", DELETE_A)["confirmation"]["id"]
    crash.append({"left": at, "after": after, "error": error})
    try:
        shop.press(asked)
    except (Crash, StorageUnavailable):
        shop.kernel.clock.advance(120)  # the lease of whoever died ends
    crash.clear()
    body = shop.press(asked)
    assert body["status"] in ("ok", "error")
    assert len(shop.done) <= 1
    assert shop.done == ["delete a"] or body["status"] == "error"
    again = shop.press(asked)
    assert again == {k: body[k] for k in again}  # a fresh answer also says where its values stand
    assert [t.seq for t in shop.kernel.memory().turns] == [1]


@pytest.mark.parametrize("at", range(1, 7))
def test_a_turn_that_died_is_planned_anew_and_its_effect_happens_once(at: int) -> None:
    crash: list[Any] = [{"left": at, "after": False, "error": Crash()}]
    shop = Shop(faulty(crash))
    message = "paint the door, the oak door"
    with suppress(Crash):
        shop.say(message, paint("the door"), request_id="r1")
    crash.clear()
    shop.kernel.clock.advance(120)
    shop.say(message, paint("the oak door"), request_id="r1")
    assert len(shop.done) == 1


# ---- a lease


async def test_a_lease_lasts_as_long_as_its_calls_run() -> None:
    stores, clock, held_s = memory_stores(), FrozenClock(), 0.1
    asking = turn(1, status="confirmation", waiting=(pending("conf_1"),))
    await stores.sessions.append(SESSION, asking, expires_at=LATER, now=0.0)
    kept = AcceptedDestinations(stores.accepted, stores.audit, clock, 365)
    decisions = Proposals(stores.sessions, clock, kept, lease_s=held_s, turn_s=60)
    memory = await stores.sessions.read(SESSION, now=clock.now())
    _, taken = await decisions.take(SESSION, memory, "conf_1", True)
    assert taken

    async def is_held() -> bool:
        memory = await stores.sessions.read(SESSION, now=clock.now())
        return memory.leases["conf_1"].until >= clock.now()

    async with decisions.hold_lease(SESSION, taken):
        for _ in range(2):
            clock.advance(1.0)
            for _ in range(3000):
                if await is_held():
                    break
                await asyncio.sleep(0.01)
            assert await is_held()
    clock.advance(1.0)
    await asyncio.sleep(3 * held_s)
    assert not await is_held()  # whoever died holds nothing


# ---- what a card calls a record


@pytest.mark.parametrize("said", ["2", "Oak door (2)", "yes", "3", "the other thing"])
def test_several_that_fit_behind_a_yes_are_buttons_each_a_card_with_its_id(said: str) -> None:
    shop = Shop()
    shop.say("drop the oak door", drop(title="oak door", color="red"))
    asked = shop.say("yes")
    assert [c["label"] for c in asked["choices"]] == ["Oak door (1)", "Oak door (2)"]
    assert asked["reply"] == "Which one do you mean: 1. Oak door (1), 2. Oak door (2)?"
    assert asked["status"] == "ok" and not asked.get("receipts")
    picked = shop.say(said)
    assert shop.done == []
    if "2" not in said:
        assert "confirmation" not in picked
        return
    assert picked["confirmation"]["calls"][0]["arguments"] == {"id": "t-2", "color": "red"}
    assert "“Oak door (2)”" in picked["confirmation"]["summary"]
    shop.say("yes")
    assert shop.done == ["drop t-2 red"]


def test_a_yes_that_is_stopped_before_its_call_runs_says_so() -> None:
    shop = Shop()
    shop.say("drop t-1", drop(id="t-1"))
    watching = Follower("r1")
    watching.stop()
    ask = shop.kernel.ask("yes")._replace(follower=watching)
    body = shop.kernel.run(shop.kernel.kernel.turn(ask)).body
    assert body["stopped"] and body["reply"] == "Stopped, as you asked." and shop.done == []


@pytest.mark.parametrize("more", [(), (CONTINUE,)])
def test_what_needs_the_result_of_a_call_that_waits_is_planned_behind_its_yes(more: Any) -> None:
    shop = Shop()
    plan = drop(id="t-1"), drop(id="{{steps.0.data.id}}"), *more
    card = shop.say("drop t-1, then t-2", *plan)["confirmation"]
    assert [c["arguments"] for c in card["calls"]] == [{"id": "t-1"}]
    then = shop.say("yes", drop(id="t-2"))
    assert then["confirmation"]["calls"][0]["arguments"] == {"id": "t-2"}
    shop.say("yes")
    assert shop.done == ["drop t-1", "drop t-2"]


def test_a_yes_to_which_one_is_not_answered_with_the_same_question() -> None:
    shop = Shop()
    asked = "I found two:\n1. Oak door\n2. Elm door\n\nWhich one do you mean?"
    first, second, third = (shop.say(said, asked) for said in ("drop the door", "yes", "yes"))
    assert second["reply"] == "Which one do you mean: 1. Oak door, 2. Elm door?"
    assert second["choices"] == first["choices"]
    assert third["reply"] == messages.refused_text("en") and "choices" not in third


LONG_IDS = [f"{n}a22bc7d9e04f7a9b1c2d3e4f5a6b7c8" for n in range(2)]


@pytest.mark.parametrize(
    ("ids", "told", "called"),
    [
        (["01-7f", "01-8a"], {"title": ["Oak door", "Elm door"]}, ["Oak door", "Elm door"]),
        # without a title by what tells most, beside an id that people read, in the place of others
        (["P1", "P2"], {"plate": ["K-1", "K-2"]}, ["P1 (plate: K-1)", "P2 (plate: K-2)"]),
        (LONG_IDS, {"plate": ["K-LM 5", "B-AB 1"]}, ["K-LM 5", "B-AB 1"]),
        (LONG_IDS, {"plate": ["K-1", "K-1"], "zone": ["A", "B"]}, ["K-1 (A)", "K-1 (B)"]),
    ],
)
def test_a_record_that_only_the_skeleton_lists_is_called_on_the_card_as_people_call_it(
    ids: list[str], told: dict[str, list[str]], called: list[str]
) -> None:
    ext = Extension("shop", display_name="Shop")

    @ChatExtension(ext).function("drop", "Drop a thing", action_type="destructive")
    async def drop(ctx: Context, thing_ids: list[str]) -> ActionResult:
        return ActionResult.success({}, "Dropped.")

    @ext.skeleton("things")
    async def things(ctx: Context) -> dict[str, Any]:
        rows = [{"id": i, **{k: v[n] for k, v in told.items()}} for n, i in enumerate(ids)]
        return {"response": {"count": 2, "things": rows}}

    harness = ExtensionHarness(ext)
    harness.skeleton("things")
    model = planning(ToolCall("shop__drop", {"thing_ids": ids}))
    kernel = TestKernel([ext], model=model, stores=harness.app.stores, user=harness.user)
    card = kernel.chat("drop both").body["confirmation"]
    assert [f["title"] for f in card["calls"][0]["fields"]] == called
    assert all(title in card["summary"] for title in called)
    assert card["question"] == f"Delete “{called[0]}” (+1) (Shop)?"


def test_a_card_shows_the_date_that_the_words_of_the_call_say() -> None:
    got: list[Span] = []
    ext = Extension("log", display_name="Log")

    @ChatExtension(ext).function("erase", "Erase a log", action_type="destructive")
    async def erase(ctx: Context, params: Span) -> ActionResult:
        got.append(params)
        return ActionResult.success({"done": True}, "Erased.")

    words = {"until": "demain", "at": "in 3 days at 17", "note": "tomorrow"}
    model = planning(ToolCall("log__erase", words))
    kernel = TestKernel([ext], model=model, now="2026-05-15T23:58:00Z")
    card = kernel.chat("erase the log until tomorrow").body["confirmation"]
    told = {"until": "2026-05-16", "at": "2026-05-18T17:00", "note": "tomorrow"}
    assert card["calls"][0]["arguments"] == told
    kernel.clock.advance(200)  # a yes past midnight means the same days
    kernel.chat("yes")
    assert [p.model_dump(mode="json") for p in got] == [told]
