"""Plans of several rounds: results and failures return to the classifier until it is done, asks the
user, or rounds, tokens or time end; plans of several steps bind to earlier results."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from tests.functions.support import say
from tests.planning import telling
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.protocol import NO_TEXT, ModelRequest, ModelResponse, ToolCall, Usage
from webbee_kernel.llm.scripted import FunctionModel, ScriptedModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.narrate import HAND_BACK

OPEN = {"IMPERAL_FACT_LEDGER_EXPOSE_PII": "true", "WEBBEE_CONFIRM": "destructive"}


class Office:
    """People in rooms, notes, and a lock that has to be opened first; `log` is what ran."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.rooms = {"Anna": "B-12", "Boris": "C-7"}
        self.open = False
        self.busy = 0
        self.ext = Extension("office")
        chat = ChatExtension(self.ext)

        @chat.function("find", "Find a person")
        async def find(ctx: Context, name: str) -> ActionResult:
            self.log.append(f"find {name}")
            if name not in self.rooms:
                return ActionResult.error("there is no such person", code="NOT_FOUND")
            return ActionResult.success(
                {"id": f"p-{name.lower()}", "room": self.rooms[name]}, f"{name} was found."
            )

        @chat.function("move", "Move a person", action_type="write")
        async def move(ctx: Context, name: str, room: str) -> ActionResult:
            self.log.append(f"move {name} {room}")
            self.rooms[name] = room
            return ActionResult.success({"name": name, "room": room}, f"{name} is in {room} now.")

        @chat.function("enter", "Enter the store room", action_type="write")
        async def enter(ctx: Context) -> ActionResult:
            self.log.append("enter")
            if not self.open:
                return ActionResult.error("the door is locked", code="LOCKED")
            return ActionResult.success({"inside": True}, "You are in.")

        @chat.function("unlock", "Unlock the store room", action_type="write")
        async def unlock(ctx: Context) -> ActionResult:
            self.log.append("unlock")
            self.open = True
            return ActionResult.success({"open": True}, "It is open.")

        @chat.function("print", "Print a page", action_type="write")
        async def print_page(ctx: Context) -> ActionResult:
            self.log.append("print")
            self.busy -= 1
            if self.busy >= 0:
                return ActionResult.error("the printer is busy", True, code="RATE_LIMITED")
            return ActionResult.success({"pages": 1}, "Printed.")

        @chat.function("fire", "Fire a person", action_type="destructive")
        async def fire(ctx: Context, name: str) -> ActionResult:
            self.log.append(f"fire {name}")
            return ActionResult.success({"name": name}, f"{name} was fired.")


@pytest.fixture
def office() -> Office:
    return Office()


def step(words: str) -> ToolCall:
    """`move Anna C-7` is a call of the office; three dots ask to see the results and go on."""
    function, *given = words.split()
    if function == "...":
        return ToolCall("kernel__continue", {})
    return ToolCall(f"office__{function}", dict(zip(("name", "room"), given, strict=False)))


def plan(*calls: ToolCall | str, tokens: int = 0) -> ModelResponse:
    made = tuple(step(c) if isinstance(c, str) else c for c in calls)
    return ModelResponse(tool_calls=made, usage=Usage(input_tokens=tokens))


def kernel(office: Office, *script: Any, **env: str) -> tuple[TestKernel, ScriptedModel]:
    """A model that answers with `script`, whose texts are plans: steps between commas."""
    model = ScriptedModel([plan(*s.split(", ")) if isinstance(s, str) else s for s in script])
    return TestKernel([office.ext], model=model, env={**OPEN, **env}), model


def roles(model: ScriptedModel | FunctionModel) -> str:
    return "".join(r.role[0] for r in model.requests)


def calls(reply: Any) -> list[tuple[str, str]]:
    return [(c["fn_name"], c["status"]) for c in reply.body["calls"]]


# ---- going on


def test_a_later_prompt_is_the_earlier_one_with_results_behind_it(office: Office) -> None:
    plans = ("find Anna, ...", "find Nobody, ...", "find Boris, ...")
    said = say("Nothing is left."), say("Anna is in B-12, Boris in C-7.")
    k, model = kernel(office, *plans, *said)
    k.chat("where are Anna, Nobody and Boris?")
    prompts = [r.prompt for r in model.requests if r.role == "classifier"]
    for earlier, later in pairwise(prompts):
        assert later.startswith(earlier + "\n")
    added = prompts[2][len(prompts[1]) :]
    assert 'status=error step=1 code="NOT_FOUND"' in added
    assert 'args={"name": "Nobody"}' in added
    assert "find Anna" not in added and "B-12" not in added
    assert all(r.tools == model.requests[0].tools for r in model.requests[1:4])


def test_a_failed_call_goes_back_and_a_failure_made_good_is_not_told(office: Office) -> None:
    k, model = kernel(office, "enter", "unlock, enter", say("You are in."))
    reply = k.chat("enter the store room")
    assert 'code="LOCKED" error="the door is locked"' in model.requests[1].prompt
    assert office.log == ["enter", "unlock", "enter"]
    assert calls(reply) == [("unlock", "ok"), ("enter", "ok")]
    assert "LOCKED" not in model.requests[-1].prompt


def test_the_narrator_hands_back_where_results_do_not_answer(office: Office) -> None:
    done = say("Boris is in B-12 now.")
    k, model = kernel(office, "find Anna", say(HAND_BACK), "move Boris B-12", done)
    assert k.chat("move Boris to Anna").text == "Boris is in B-12 now."
    assert roles(model) == "cncn"
    assert HAND_BACK in model.requests[1].system
    assert model.requests[2].prompt.startswith(model.requests[0].prompt + "\n[RESULTS]")
    assert "do not answer" in model.requests[2].prompt
    back, ended = say(HAND_BACK), say("Nothing more can be called.")
    k, model = kernel(office, "find Anna", back, ended, back, back)
    assert k.chat("where is Anna?").text == "Anna was found."
    assert HAND_BACK not in model.requests[3].system


def test_no_model_reads_a_secret_argument_back(office: Office) -> None:
    chat = ChatExtension(office.ext)

    @chat.function("sign_in", "Sign in", action_type="write")
    async def sign_in(ctx: Context, name: str, password: str) -> ActionResult:
        return ActionResult.success({"name": name}, f"{name} is signed in.")

    signing = ToolCall("office__sign_in", {"name": "Anna", "password": "hunter2"})
    said = say("That is all."), say("Anna is signed in.")
    k, model = kernel(office, plan(signing, "..."), *said)
    assert "hunter2" not in str(k.chat("sign Anna in").body)
    assert 'args={"name": "Anna"}' in model.requests[1].prompt
    assert not any("hunter2" in r.prompt for r in model.requests)


@pytest.mark.parametrize(
    ("planned", "asked", "told"),
    [("find Anna, ...", "cc", ""), ("move Anna C-7, ...", "ccn", "Anna is in C-7 now.\n\n")],
    ids=["is the reply where nothing was changed", "stands behind what was done"],
)
def test_a_question_of_the_classifier(office: Office, planned: str, asked: str, told: str) -> None:
    question = "And where should Boris go?"
    k, model = kernel(office, planned, say(question), say("Anna is in C-7 now."))
    assert k.chat("move Anna to C-7 and Boris too").text == told + question
    assert roles(model) == asked


# ---- repeats


def test_the_same_read_again_is_answered_from_the_first(office: Office) -> None:
    told = say("Anna is in B-12, Boris in C-7.")
    k, model = kernel(office, "find Anna, ...", "find Anna, find Boris", told)
    reply = k.chat("where are Anna and Boris?")
    assert office.log == ["find Anna", "find Boris"]
    assert calls(reply) == [("find", "ok"), ("find", "ok")]
    assert (model.requests[-1].prompt.count("RESULT: "), len(k.memory().turns[0].digests)) == (2, 2)


CHAIN = "find Anna, move Boris {{steps.0.data.room}}, find {{steps.1.data.name}}"
CHAIN += ", move Anna {{steps.2.data.room}}, find {{steps.3.data.name}}"
PLANS = {
    "five chained steps cost two model calls": (
        [CHAIN],
        "Anna and Boris are in B-12.",
        ["find Anna", "move Boris B-12", "find Boris", "move Anna B-12", "find Anna"],
    ),
    "a later round refers to calls that are numbered through the turn": (
        ["find Boris, ...", "find Anna, ...", "move Boris {{steps.1.data.room}}"],
        "Boris is in B-12 now.",
        ["find Boris", "find Anna", "move Boris B-12"],
    ),
    "after an effect the same read runs again": (
        ["find Anna, ...", "move Anna C-7, find Anna"],
        "Anna is in C-7 now.",
        ["find Anna", "move Anna C-7", "find Anna"],
    ),
    "a plan made anew does not repeat its effects": (
        ["move Anna C-7, move Boris C-7, find Nobody", "move Anna C-7, move Boris C-7, find Anna"],
        "Anna and Boris are in C-7 now.",
        ["move Anna C-7", "move Boris C-7", "find Nobody", "find Anna"],
    ),
    "an effect may be repeated after a later answer changed something else": (
        ["move Anna C-7, ...", "move Anna B-12, ...", "move Anna C-7"],
        "Anna is in C-7 now.",
        ["move Anna C-7", "move Anna B-12", "move Anna C-7"],
    ),
}


@pytest.mark.parametrize(("plans", "told", "ran"), PLANS.values(), ids=PLANS)
def test_what_runs_of_plans(office: Office, plans: list[str], told: str, ran: list[str]) -> None:
    k, model = kernel(office, *plans, say(told))
    k.chat("move them around and find them")
    assert (office.log, roles(model)) == (ran, "c" * len(plans) + "n")


def test_a_failure_that_may_pass_is_tried_three_times_and_one_for_good_once(office: Office) -> None:
    office.busy = 2
    k, _ = kernel(office, *["print"] * 3, say("Printed."))
    assert k.chat("print a page").text == "Printed."
    for busy, step, planned in ((10, "print", 4), (0, "find Nobody", 2)):
        office.busy = busy
        k, model = kernel(office, *[step] * planned, say("That did not work."))
        k.chat(f"{step}, please")
        model.assert_finished()
    assert office.log == ["print"] * 6 + ["find Nobody"]


# ---- limits


@pytest.mark.parametrize(
    ("env", "asked", "said"),
    [
        ({}, "c" * 12 + "n", "That took more steps than one message may take."),
        ({"WEBBEE_MAX_ROUNDS": "3"}, "cccn", "That took more steps than one message may take."),
        ({"WEBBEE_TURN_TOKENS": "10000"}, "cccn", "That was more than one message may ask for."),
        ({"WEBBEE_TURN_SECONDS": "4"}, "cn", "Time ran out before I was done."),
    ],
    ids=["twelve rounds unless the deployment says otherwise", "rounds", "tokens", "time"],
)
def test_what_a_message_may_use(office: Office, env: dict[str, str], asked: str, said: str) -> None:
    def answer(request: ModelRequest) -> ModelResponse:
        if request.role == "narrator":
            return say("Some were found.")
        n = request.prompt.count("RESULT: ")
        office.rooms[f"P{n}"] = f"R-{n}"
        return plan(f"find P{n}", "...", tokens=4_000)  # it always wants to see one more

    model = FunctionModel(answer)
    reply = TestKernel([office.ext], model=model, env=OPEN | env).chat("find everyone")
    assert roles(model) == asked
    assert reply.text.startswith(said)
    assert "go on" in reply.text
    assert reply.text.endswith("Some were found.")
    assert reply.body["status"] == "ok"


def test_what_was_planned_and_not_run_is_named(office: Office) -> None:
    office.busy = 9
    steps = "find Anna, print, move <NAME_9> {{steps.0.data.room}}, move Boris B-12"
    k, _ = kernel(office, steps, say("Anna is in B-12."), WEBBEE_MAX_ROUNDS="1")
    told = k.chat("find Anna, print a page, move them").text.splitlines()[0]
    assert told.startswith("Still to do: office – print;")
    assert "office – move: name “Boris”, room “B-12”" in told
    assert "steps.0" not in told
    gone = ModelUnavailable("the model did not answer: retry")
    k, _ = kernel(office, "move Anna C-7, ...", gone, gone)
    reply = k.chat("move Anna to C-7, then Boris")
    assert reply.text.startswith("The model stopped answering before I was done.")
    assert "Anna is in C-7 now." in reply.text
    assert len(k.memory().turns) == 1


# ---- refusals and questions


def test_effects_behind_a_refused_call_wait_and_reads_run(office: Office) -> None:
    mixed = "move Anna C-7, move <NAME_9> C-7, move Boris B-12, find Boris"
    told = say("Anna is in C-7 now, Boris is in B-12 now.")
    k, model = kernel(office, mixed, "move Boris B-12", told)
    k.chat("move Anna to C-7 and Boris to B-12")
    assert office.log == ["move Anna C-7", "find Boris", "move Boris B-12"]
    assert "another call of the same answer was refused" in model.requests[1].prompt


def test_a_turn_goes_on_after_its_question_with_all_that_it_had_read(office: Office) -> None:
    pages = range(1, 5)

    @ChatExtension(office.ext, "library").function("page", "Read a page")
    async def page(ctx: Context, n: int) -> ActionResult:
        return ActionResult.success({"n": n, "text": f"start{n} {'word ' * 400} end{n}"}, "")

    reads = plan(*(ToolCall("office__page", {"n": n}) for n in pages), "fire Boris")
    told = say("Boris was fired, Anna is in C-7 now.")
    k, _ = kernel(office, reads, say(HAND_BACK), "move Anna C-7", told)
    asked = k.chat("read the pages, fire Boris and then move Anna to C-7")
    paused = k.memory().turns[0]
    assert sum(len(d.data_facts_json) for d in paused.digests) <= 3_000
    assert all(f"end{n}" in paused.paused[n - 1].data_facts_json for n in pages)
    done = k.confirm(asked.body["confirmation"]["id"])
    assert office.log == ["fire Boris", "move Anna C-7"]
    assert calls(done)[-2:] == [("fire", "ok"), ("move", "ok")]
    ended = k.memory().turns[0]
    assert ended.paused == ()
    assert sum(len(d.data_facts_json) for d in ended.digests) <= 3_000


# ---- plans of several steps


def test_a_failed_step_stops_only_what_depends_on_it(office: Office) -> None:
    steps = "find Nobody, move Anna {{steps.0.data.room}}, find Boris"
    steps += ", move Anna {{steps.2.data.room}}"
    ended = say("Nothing else can be called."), say("Anna is in C-7 now, there is no Nobody.")
    k, model = kernel(office, steps, *ended)
    reply = k.chat("move Anna to Nobody, then to Boris")
    assert office.log == ["find Nobody", "find Boris", "move Anna C-7"]
    first, *rest = calls(reply)
    assert first == ("find", "error")
    assert rest == [("move", "error"), ("find", "ok"), ("move", "ok")]
    assert roles(model) == "ccn"
    assert "steps.0.data" in model.requests[1].prompt


def test_independent_reads_run_side_by_side() -> None:
    ext = Extension("pair")
    chat = ChatExtension(ext)
    together = asyncio.Barrier(2)

    @chat.function("meet", "Waits for the other read")
    async def meet(ctx: Context, who: str) -> ActionResult:
        await together.wait()
        return ActionResult.success({"who": who}, f"{who} met the other.")

    both = plan(*(ToolCall("pair__meet", {"who": who}) for who in ("one", "two")))
    with ScriptedModel([both, say("one met the other.")]) as model:
        reply = TestKernel([ext], model=model).chat("meet")
    assert [c["status"] for c in reply.body["calls"]] == ["ok", "ok"]


def test_a_list_that_was_only_looked_through_is_neither_told_nor_drawn_beside_its_effect() -> None:
    books = [{"id": "b-1", "title": "Faust"}, {"id": "b-2", "title": "Emma"}]
    listed = ActionResult.success({"books": books}, "Two books.", ui=ui.Text("Faust, Emma"))
    ext = telling("shelf", list=listed)

    @ChatExtension(ext).function("drop", "Drop a book", action_type="destructive")
    async def drop(ctx: Context, id: str) -> ActionResult:
        return ActionResult.success({"dropped": id}, "Dropped it.")

    looks, drops = ToolCall("shelf__list", {}), ToolCall("shelf__drop", {"id": "b-2"})
    plans, mute = [plan(looks), plan(looks, "..."), plan(drops)], ModelResponse(stop_reason=NO_TEXT)
    model = FunctionModel(lambda r: mute if r.role == "narrator" else plans.pop(0))
    kernel = TestKernel([ext], model=model, env=OPEN)
    shown = kernel.chat("list the books")
    assert shown.body["ui"] and "Faust" in shown.text
    asked = kernel.chat("drop Emma")
    assert asked.body["confirmation"] and not asked.body.get("ui") and "Faust" not in asked.text
    assert "Faust" not in kernel.chat("yes").text
