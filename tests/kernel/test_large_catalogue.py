"""A large catalogue: the classifier searches what is not shown, and a session goes on showing what it has shown."""

from typing import Any

from tests.planning import telling
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.tool_search import MAX_ADDED

MATTERS = ("invoice", "parcel", "garden", "orchestra", "glacier")


def app_of(matter: str) -> Extension:
    """An app of sixty functions about a matter, the first of which destroys."""
    ext = Extension(matter, description=f"All about the {matter}.")
    chat = ChatExtension(ext)

    async def handler(ctx: Context, name: str = "") -> ActionResult:
        return ActionResult.success({"name": name, "matter": matter}, "Looked after.")

    for n in range(10, 70):
        about = f"Looks after the {matter} number {n}. " + "More is to be said of it. " * 15
        kind: Any = "destructive" if n == 10 else "read"
        chat.function(f"{matter}_{n}", about, action_type=kind)(handler)
    return ext


class Talk:
    """A session of one user; the model planned what `plan` says, a round each."""

    def __init__(self, *apps: Extension, stores: Any = None) -> None:
        self.asked: list[ModelRequest] = []
        self.plan: list[ModelResponse] = []
        self.calls: list[Any] = []
        all_apps = list(apps) or [app_of(matter) for matter in MATTERS]
        self.kernel = TestKernel(all_apps, model=FunctionModel(self._answer), stores=stores)

    def _answer(self, request: ModelRequest) -> ModelResponse:
        self.asked.append(request)
        if request.role == "narrator" or not self.plan:
            return ModelResponse("Hm.")
        return self.plan.pop(0)

    def say(self, message: str, *plan: ModelResponse, session_id: str = "s1") -> list[str]:
        """Say it; the names of the tools that the first round was shown."""
        at, self.plan = len(self.asked), list(plan)
        self.calls = self.kernel.chat(message, session_id=session_id).body["calls"]
        return names(self.asked[at])


def names(request: ModelRequest) -> list[str]:
    return [tool.name for tool in request.tools]


def planned(*calls: ToolCall) -> ModelResponse:
    return ModelResponse(tool_calls=calls)


def search(query: str, **within: str) -> ToolCall:
    return ToolCall("kernel__search", {"query": query, **within})


def look(name: str) -> ToolCall:
    return ToolCall(f"{name.partition('_')[0]}__{name}", {"name": "x"})


ABOUT_PARCELS = "the parcel number 17"
FIND, LOOK = search("the orchestra number 66"), look("orchestra_66")


def test_what_a_search_finds_or_a_call_names_can_be_called_in_the_next_round() -> None:
    talk = Talk()
    talk.say(ABOUT_PARCELS, planned(FIND), planned(LOOK))
    assert [c["fn_name"] for c in talk.calls] == ["orchestra_66"]
    first, second, narrator = talk.asked
    assert LOOK.name not in names(first)
    assert names(second)[: len(names(first))] == names(first)
    assert LOOK.name in names(second)
    assert second.system == first.system
    found = second.prompt.removeprefix(first.prompt)
    assert found.startswith("\n[CATALOGUE]\nFOUND: for 'the orchestra number 66'")
    assert f"the catalogue shows {LOOK.name}" in second.exchanges[0].results[0]
    assert narrator.role == "narrator"
    talk = Talk()
    talk.say(ABOUT_PARCELS, planned(LOOK), planned(LOOK))
    assert [c["status"] for c in talk.calls] == ["ok"]
    assert "it was not shown: its arguments stand in the catalogue now" in talk.asked[1].prompt


def test_a_search_stands_beside_calls_and_ends_a_turn_where_it_finds_nothing() -> None:
    talk = Talk()
    talk.say(ABOUT_PARCELS, planned(FIND, look("parcel_17")), planned(LOOK))
    assert [c["fn_name"] for c in talk.calls] == ["parcel_17", "orchestra_66"]
    found, looked = talk.asked[1].exchanges[0].results
    assert f"the catalogue shows {LOOK.name}" in found
    assert '"matter": "parcel"' in looked
    assert talk.asked[1].prompt.index("FOUND: ") < talk.asked[1].prompt.index("RESULT: ")
    talk = Talk()
    within = (search("orchestra", app="glacier"), search("number 31", app="glacier"))
    talk.say(ABOUT_PARCELS, *map(planned, within))
    assert "nothing has to do with 'orchestra'" in talk.asked[1].prompt
    assert "glacier__glacier_31" in names(talk.asked[2])
    talk = Talk()
    talk.say(ABOUT_PARCELS, *[planned(search("zebra crossing"))] * 9)
    assert [r.role for r in talk.asked].count("classifier") == 3


def test_a_catalogue_has_room_for_what_services_take_and_whole_no_search() -> None:
    talk = Talk()
    wanted = [f"{matter} {n}" for n in (20, 50) for matter in MATTERS]
    first = talk.say(ABOUT_PARCELS, *map(planned, map(search, wanted)))
    last = names([r for r in talk.asked if r.role == "classifier"][-1])
    assert 0 < len(last) - len(first) <= MAX_ADDED
    assert len(last) <= 128
    talk = Talk(telling("oven", preheat={"degrees": 180}))
    shown = talk.say("preheat to 180", planned(ToolCall("oven__preheat", {})))
    assert [r.role for r in talk.asked] == ["classifier", "narrator"]
    assert shown == ["kernel__continue", "oven__preheat"]
    assert "kernel__search" not in talk.asked[0].system
    assert talk.asked[0].growing is None
    assert talk.kernel.memory().turns[0].listed == ""


def before(request: ModelRequest) -> int:
    """How many of the first tools the session's request before had."""
    assert request.growing is not None
    assert request.growing.common == 2
    assert request.system.endswith(request.growing.apps)
    return request.growing.before


def test_the_next_message_finds_what_was_shown_in_its_place_in_any_process() -> None:
    """And everybody with these apps reads the same before what is his own."""
    stores = memory_stores()
    here, there = Talk(stores=stores), Talk(stores=stores)
    first = here.say(ABOUT_PARCELS)
    then = there.say("the orchestra number 23")
    assert then[: len(first)] == first
    assert "orchestra__orchestra_23" in then[len(first) :]
    there.say("the glacier number 31", session_id="s2")
    one, two, elsewhere = *here.asked, *there.asked
    assert two.tools[: len(first)] == one.tools
    assert one.system == two.system == elsewhere.system
    assert (before(one), before(two)) == (2, len(first))
    assert names(elsewhere)[:2] == ["kernel__continue", "kernel__search"]
    assert one.tools[:2] == elsewhere.tools[:2] and one.tools[2:] != elsewhere.tools[2:]


def test_what_a_search_shows_in_more_words_stays_in_its_place() -> None:
    talk = Talk()
    talk.say(ABOUT_PARCELS, session_id="another")
    shown = talk.asked[0].tools
    brief = (t for t in shown if t.app_id != "kernel" and "More" not in t.description)
    place = shown.index(next(brief))
    talk.say(ABOUT_PARCELS, planned(search(shown[place].fn_name.replace("_", " "))))
    first, last = talk.asked[-2:]
    assert (first.tools, names(last)[: len(shown)]) == (shown, names(first))
    assert last.tools[place] != first.tools[place]
    assert before(last) <= place
    talk.say("thank you")
    assert talk.asked[-1].tools == last.tools


def test_a_session_keeps_its_first_choice_until_an_app_leaves() -> None:
    talk = Talk()
    first = talk.say(ABOUT_PARCELS)
    for n in range(20, 26):
        for matter in ("parcel", "orchestra", "glacier"):
            shown = talk.say(f"the {matter} number {n}")
            assert shown[: len(first)] == first
            assert f"{matter}__{matter}_{n}" in shown
    stores = memory_stores()
    first = Talk(stores=stores).say(ABOUT_PARCELS)
    fewer = Talk(*map(app_of, MATTERS[:4]), stores=stores)
    then = fewer.say("the orchestra number 23")
    assert then[: len(first)] != first
    assert before(fewer.asked[0]) == 2
    assert "orchestra__orchestra_23" in then


def test_a_yes_goes_on_with_what_the_question_was_asked_of() -> None:
    talk = Talk()
    calls = ToolCall("parcel__parcel_10", {"name": "x"}), ToolCall("kernel__continue", {})
    talk.say("delete x, the parcel number 10, then look at it", planned(*calls))
    asked = talk.asked[0]
    [waiting] = talk.kernel.memory().turns[0].waiting
    talk.kernel.confirm(waiting.confirmation_id)
    resumed = next(r for r in talk.asked[1:] if r.role == "classifier")
    assert (resumed.tools, before(resumed)) == (asked.tools, len(asked.tools))
    assert talk.say("thank you") == names(asked)
