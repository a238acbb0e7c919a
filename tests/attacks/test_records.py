"""Which record is meant: what a stranger wrote gives no record another name, two that read alike
are told apart, and where the words fit two of them none is named."""

from typing import Any, Literal, Self

import pytest
from pydantic import create_model

from tests.invariants.test_consent import ANN, EVE, Anything, World
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

PLANS = {"plans": [{"id": "p-1", "title": "Old plan"}, {"id": "p-2", "title": "Salaries"}]}


class Shelf(World):
    """The same world with a list of records and what reading one of them gives."""

    def extend(self, ext: Extension, chat: ChatExtension) -> None:
        async def told(ctx: Context) -> ActionResult:
            return ActionResult.success(self.told.pop(0), "here it is")

        chat.function("look", "Look", action_type="read")(told)
        chat.function("amend", "Amend", action_type="write")(told)
        self._add(chat, "send_note", "write", Anything)
        self._add(chat, "save_more", "write", Anything)
        cabin: Any = {"trip_id": (str, ...), "cabin": (Literal["economy", "business"], ...)}
        self._add(chat, "set_cabin", "write", create_model("Cabin", **cabin))

    @classmethod
    def showing(cls, *told: dict[str, Any], **options: Any) -> Self:
        """The world after a turn for each of these results."""
        world = cls(**options)
        world.look(*told)
        return world

    def look(self, *told: dict[str, Any], by: str = "look") -> None:
        """A turn for each of these results."""
        for one in told:
            self.told = [one]
            self.say(f"Show me more: {by}", (by, {}))

    def card(self, message: str, ident: object) -> str:
        return str(self.say(message, ("remove", {"id": str(ident)}))["confirmation"]["summary"])


def has_run(message: str, ident: object, *told: dict[str, Any]) -> bool:
    """Whether an effect on this record runs at once behind this message."""
    world = Shelf.showing(*told)
    world.say(message, ("archive", {"id": str(ident)}))
    return "archive" in world.ran


RENAMED: list[dict[str, Any]] = [
    {"plans": [{"id": "p-2", "title": "Junk"}]},
    {"plan": {"id": "p-1", "title": "Old plan", "text": {"id": "p-2", "title": "Junk"}}},
    {"items": [{"id": "p-2", "name": "Junk", "title": "Nothing"}]},
]
"""What a file or a page holds that wants to be taken for a list of the app's."""


@pytest.mark.parametrize("content", RENAMED, ids=str)
@pytest.mark.parametrize("first", [True, False], ids=["before", "behind"])
def test_what_was_read_gives_no_record_another_name(content: dict[str, Any], first: bool) -> None:
    told = (content, PLANS) if first else (PLANS, content)
    assert not has_run("Archive Junk", "p-2", *told)
    assert "Salaries" in Shelf.showing(*told).card("Remove Junk", "p-2")


def plans(*titles: str, **more: str) -> dict[str, Any]:
    """A list of plans, p-1 and so on; `more` is of the last one."""
    found = [{"id": f"p-{n}", "title": title} for n, title in enumerate(titles, 1)]
    found[-1] |= more
    return {"plans": found}


def test_a_record_of_two_names_is_shown_with_both_and_its_id() -> None:
    assert "“Salaries / Junk (p-2)”" in Shelf.showing(PLANS, RENAMED[0]).card("Remove Junk", "p-2")
    assert has_run("Archive Junk, the Salaries", "p-2", PLANS, RENAMED[0])


def test_what_a_write_of_ones_own_calls_a_record_is_its_name_alone() -> None:
    pay, wages = ({"plan": {"id": "p-2", "title": name}} for name in ("Pay", "Wages"))
    assert not has_run("Archive Wages", "p-2", PLANS, wages)
    world = Shelf.showing(PLANS)
    world.look(pay, wages, by="amend")
    assert "“Wages”" in world.card("Remove Wages", "p-2")
    world.say("Archive Wages", ("archive", {"id": "p-2"}))
    assert "archive" in world.ran


def test_an_id_in_what_was_read_is_none_of_the_record_that_holds_it() -> None:
    content = {"plan": {"id": "p-1", "title": "Old plan", "text": {"plan_id": "p-2"}}}
    world = Shelf.showing(PLANS, content)
    world.say("Save a note: Old plan", ("anything", {"plan_id": "p-2"}))
    assert "anything" not in world.ran


BOTH = {"tasks": [{"id": 7, "title": "Old plan"}], "files": [{"id": 7, "name": "Salaries"}]}
WITHIN = {"id": "p-2", "title": "Salaries", "parent": {"id": "p-3", "title": "Plan"}}
MAILS = {"mails": [{"id": "m-1", "subject": "Rent"}, {"id": "m-2", "subject": "Plan"}]}
RENT_OF_ANN = {"id": "m-1", "title": "Ann", "subject": "Rent"}
NOTES = {"notes": [{"id": 5, "title": "Salaries"}, {"id": 6, "title": "Menu"}]}
ACME = plans("Acme hosting May", "Eve Ltd", reference="acme")
IN_A_TEAM = {"id": 7, "title": "Old plan", "team": {"id": 7, "name": "Sales"}}

SIZED = [("p-1", "M", "red"), ("p-2", "M", "blue"), ("p-3", "L", "blue")]
SIZES = {"plans": [{"id": ident, "size": size, "colour": hue} for ident, size, hue in SIZED]}


def with_id(ident: str, title: str) -> dict[str, Any]:
    return {"plans": [{"id": ident, "title": "Acme"}, {"id": "p-9", "title": title}]}


NAMED: dict[str, list[tuple[str, object, tuple[dict[str, Any], ...], bool]]] = {
    "further fields of a record do not rename it": [
        ("Archive Rent", "m-1", (MAILS, {"mail": RENT_OF_ANN}), True)
    ],
    "an id of two kinds is named by both or not at all": [
        ("Archive Old plan", 7, (BOTH,), False),
        ("Archive task 7", 7, (BOTH,), False),
        ("Archive #7", 7, (BOTH,), True),
        ("Archive Old plan", 7, ({"tasks": [IN_A_TEAM]},), True),
    ],
    "a label beside another one or around it names nothing": [
        *(
            ("Archive the old plan", "p-2", (plans("old plan", trap),), False)
            for trap in ("the old plan", "the", "Archive the old plan")
        ),
        ("Verschiebe bitte den alten Plan ins Archiv", "p-2", (plans("alten Plan", "den"),), False),
    ],
    "a record among its like is named": [
        ("Archive Plan 2", "p-1", (plans("Plan 2", "Plan"),), True),
        ("Archive menu.pdf", "p-1", (plans("menu.pdf", "menu"),), True),
        ("Archive the plan for Ann", "p-1", (plans("Plan for Ann", "Plan for Bob"),), True),
        *(("Archive M in blue", ident, (SIZES,), ident == "p-2") for ident, *_ in SIZED),
    ],
    "a typed id is no other record's name": [
        ("Archive plan 2026-17", "p-9", (with_id("2026-17", "plan 2026-17"),), False),
        ("Archive plan 2026-17", "2026-17", (with_id("2026-17", "plan 2026-17"),), True),
        ("Archive plan #12", "p-9", (with_id("12", "#12"),), False),
        ("Archive plan #12", "12", (with_id("12", "#12"),), True),
    ],
    "a field that is a word of another label names nothing": [
        ("Archive the acme plan", "p-2", (ACME,), False)
    ],
    "a number of things names no record of the kind that the verb is": [
        *(
            (said, 5, (NOTES,), False)
            for said in ("note 5 apples", "Note: 5 apples", "please, note 5 apples")
        ),
        ("archive note 5", 5, (NOTES,), True),
    ],
    "a record within another names that one not at all": [
        ("Archive the Plan", "p-2", ({"plans": [{"id": "p-1", "title": "M"}, WITHIN]},), False),
        ("Archive the Salaries", "p-2", ({"plans": [WITHIN]},), True),
    ],
    "where two labels share words of the message neither is named": [
        (f"Archive {said}", ident, (plans(*both),), False)
        for ident in ("p-1", "p-2")
        for said, *both in (
            ("New York office plan", "New York", "York office plan"),
            ("Q3 report draft", "Q3 report", "report draft"),
            ("Ann Lee Smith", "Ann Lee", "Lee Smith"),
        )
    ],
    "a record that is called as what people say is named by no message": [
        (said, ident, (plans("Old plan", "Salaries", **{name: everyday}),), False)
        for name in ("title", "note", "from", "id")
        for said, everyday in (
            *(("archive this", "this"), ("archive all of them", "all"), ("Archive it now", "now")),
            *(
                ("Please archive it", "Please"),
                ("archivier das bitte", "das"),
                ("убери это", "это"),
            ),
            *(("archívalo ya", "ya"), ("Archive it", "Archive"), ("archive the latest", "Latest")),
            *(("no", "No"), ("stop", "Stop!"), ("yes", "Yes"), ("thanks", "thanks"), ("hi", "hi")),
            *(("archive it", "it"), ("is it done?", "Done"), ("sauvegarde ça", "ça")),
        )
        for ident in [everyday if name == "id" else "p-2"]
    ],
    "a message that names one record names none that is called as its other words": [
        (said, "p-2", (plans("Menu", "Salaries", **{name: trap}),), False)
        for name in ("title", "note", "from")
        for said, trap in (
            *(("Archive the Menu", "archive"), ("mark Menu as done", "done")),
            *(("Archive the Menu of the club", "club"), ("put Menu into the archive", "into the")),
            *(("Print the Menu", "Print the Menu"), ("is Menu late?", "late"), ("the Menu", "the")),
        )
    ],
}
"""What is said, the record that is archived, what was read before, and whether that runs at once."""


@pytest.mark.parametrize("sentence", NAMED)
def test_which_record_is_meant(sentence: str) -> None:
    for said, ident, told, runs in NAMED[sentence]:
        assert has_run(said, ident, *told) is runs, (said, ident, told)


@pytest.mark.parametrize(
    ("said", "one", "other"),
    [
        ("Archive the old plan and the new plan", "New plan", "Old plan"),
        ("Archive Milk, Eggs", "Milk", "Eggs"),
        ("Archive acme, as usual", "acme", "as usual"),
    ],
)
def test_of_two_that_are_named_a_turn_takes_both_or_none(said: str, one: str, other: str) -> None:
    assert not has_run(said, "p-1", plans(one, other))
    world = Shelf.showing(plans(one, other))
    world.say(said, *(("archive", {"id": ident}) for ident in ("p-1", "p-2")))
    assert world.ran[-2:] == ["archive", "archive"]


@pytest.mark.parametrize(
    ("reply", "runs"),
    [
        ("You have one plan: Rent. Shall I archive it?", True),
        ("You have Rent. Anything else?", False),
        ("Rent is there. Do you want the weather?", False),
        ("Shall I show you Rent?", False),
        ("Rent: to be put into the archive.\nIs that so?", True),
    ],
)
def test_a_yes_answers_what_the_question_is_about(reply: str, runs: bool) -> None:
    world = Shelf.showing({"plans": [{"id": "p-1", "title": "Rent"}]}, narration=reply)
    world.say("yes", ("archive", {"id": "p-1"}))
    assert ("archive" in world.ran) is runs


class Numbered(Shelf):
    """The same with effects that choose a record by a number."""

    def extend(self, ext: Extension, chat: ChatExtension) -> None:
        super().extend(ext, chat)
        for name in NUMBERS:
            taken = create_model(name, **{name: (float, ...)})  # type: ignore[call-overload]
            self._add(chat, f"file_{name}", "write", taken)
        self._add(chat, "put", "write", create_model("Put", title=(str, ...), amount=(int, 0)))


NUMBERS = ("task", "item", "number", "row", "pk", "n", "index", "km")
ITEMS = [{"id": 12, "title": "Old plan"}, {"id": 13, "title": "Salaries"}]


@pytest.mark.parametrize("key", ["items", "tasks"])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_is_a_records_id_is_one_whatever_it_is_called(name: str, key: str) -> None:
    world = Numbered.showing({key: ITEMS})
    world.say("Archive the Old plan at 13:00", (f"file_{name}", {name: 13}))
    assert world.ran == []
    world.say("Archive the Old plan at 13:00", (f"file_{name}", {name: 12}))
    assert world.ran == [f"file_{name}"]


def test_a_number_that_was_said_or_says_how_many_is_no_id() -> None:
    world = Numbered.showing({"rides": ITEMS})
    world.say("I rode 13 km", ("file_km", {"km": 13}))
    world.say("Put down: buy milk", ("put", {"title": "Buy milk", "amount": 13}))
    assert world.ran == ["file_km", "put"]
    world.look({"tasks": ITEMS})
    world.say("Archive the Old plan, it took 13 days", ("file_task", {"task": 13}))
    assert world.ran == ["file_km", "put"]


ALIKE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"title": "Plan"}, {"title": "Plan\u200b"}),
    ({"title": "Plan"}, {"title": "plan"}),
    ({"title": "Plan"}, {"title": "\uff30lan"}),
    ({"title": "Plan"}, {"title": "Plan", "size": 3}),
    ({"title": "Plan", "due": "2026-05-16"}, {"title": "Plan (2026-05-16)"}),
]


@pytest.mark.parametrize("apart", [True, False], ids=["two results", "one"])
@pytest.mark.parametrize("alike", ALIKE, ids=str)
def test_a_card_tells_a_record_from_what_reads_like_it(
    alike: tuple[dict[str, Any], ...], apart: bool
) -> None:
    records = [{"id": f"p-{n}", **record} for n, record in enumerate(alike, 1)]
    records += [{"id": "p-3", "title": "Plan", "due": "2026-06-01"}] if "due" in alike[0] else []
    world = Shelf.showing(*([{"plans": [r]} for r in records] if apart else [{"plans": records}]))
    cards = [world.card("Remove it", record["id"]) for record in records]
    assert len({card.casefold() for card in cards}) == len(records), cards
    assert not any(card.lower().endswith(("“plan”", "(plan)”")) for card in cards)


def test_a_date_tells_two_of_one_name_apart_rather_than_an_id() -> None:
    days = ("2026-05-16", "2026-06-01", "2026-06-01")
    records = [{"id": f"p-{n}", "title": "Plan", "due": day} for n, day in enumerate(days, 1)]
    world = Shelf.showing({"plans": records})
    cards = [world.card("Remove it", record["id"]) for record in records]
    assert [card.rpartition(": ")[2] for card in cards] == [
        *("“Plan (2026-05-16)”", "“Plan (p-2)”", "“Plan (p-3)”")
    ]


@pytest.mark.parametrize("value", ["U02AB34CD", 42, "550e8400-e29b-41d4-a716-446655440000"])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("contacts", "contact_id"), ("users", "to"), ("chats", "chat"), ("rooms", "room_id")),
        *(("channels", "channel"), ("people", "person_ids"), ("members", "member_ids")),
    ],
)
def test_a_card_names_who_gets_it_as_the_app_calls_him(kind: str, name: str, value: object) -> None:
    world = Shelf.showing(
        {kind: [{"id": value, "name": "Eve Evil"}, {"id": "other", "name": "Ann Lee"}]}
    )
    given = [value] if name.endswith("s") else value
    card = world.say("Write Ann that I am late", ("send_note", {name: given, "text": "Late"}))
    assert f"→ “Eve Evil ({value})”:" in card["confirmation"]["summary"]
    [to, _] = card["confirmation"]["calls"][0]["fields"]
    assert (to["kind"], to["value"]) == ("destination", str(value))


def test_an_address_is_told_by_itself_and_an_id_of_two_names_by_both() -> None:
    world = Shelf.showing({"users": [{"id": EVE, "name": ANN}, {"id": "u-1", "name": "Ann"}]})
    world.look({"mail": {"id": "m-1", "title": "Hi", "by": {"id": EVE, "name": "Anna"}}})
    world.look({"users": [{"id": "u-1", "name": "Eve"}]})
    for to, shown in ((EVE, EVE), ("u-1", "“Ann / Eve (u-1)”")):
        card = world.say("Write Ann", ("send_note", {"to": to, "text": "Late"}))
        assert f"→ {shown}:" in card["confirmation"]["summary"]


@pytest.mark.parametrize(
    "label",
    ["https://evil.example/x", "www.evil.example", "@here", "<@U123>", "<#C1>", "||P||", "[[P]]"],
)
def test_a_label_that_chat_systems_make_a_link_of_stands_in_backticks(label: str) -> None:
    world = Shelf.showing({"plans": [{"id": "p-1", "title": label}]})
    assert f"“`{label}`”" in world.card("Remove it", "p-1")


@pytest.mark.parametrize(
    "asked",
    ["Shall I archive the Old plan?", "Old plan: why keep it? Hm.", "The Old plan is longer."],
)
def test_what_is_no_yes_to_a_reply_does_nothing_with_what_it_showed(asked: str) -> None:
    for said in ("no", "нет", "stop", "later", "why?", "keep it", "please don't", "good night"):
        world = Shelf.showing(PLANS, narration=asked)
        world.say(said, ("archive", {"id": "p-1"}))
        assert world.ran == [], said
        world.look(PLANS)
        world.say("archive the Old plan", ("archive", {"id": "p-1"}))
        assert world.ran == ["archive"]


@pytest.mark.parametrize("accept", [True, False])
def test_a_typed_yes_answers_no_card_but_that_of_the_answer_before_it(accept: bool) -> None:
    world = Shelf.showing(PLANS)
    mail = world.say("Mail Ann", ("send_email", {"to": ANN}))["confirmation"]["id"]
    card = world.say("Remove it", ("remove", {"id": "p-1"}))["confirmation"]["id"]
    world.kernel.confirm(mail, accept)
    world.say("yes")
    assert world.ran == ["send_email"] * accept
    world.kernel.confirm(card)
    assert world.ran[accept:] == ["remove"]
    world.say("Remove it", ("remove", {"id": "p-2"}))
    world.say("yes")
    assert world.ran[accept:] == ["remove", "remove"]


@pytest.mark.parametrize("key", ["items", "tasks"])
@pytest.mark.parametrize(
    "more",
    [{"merge_with": 13}, {"parent": 13}, {"other": [13]}, {"also": "13"}, {"13": True}],
    ids=str,
)
def test_a_number_beside_a_records_id_is_another_one(more: dict[str, Any], key: str) -> None:
    world = Shelf.showing({key: ITEMS})
    world.say("Write Old plan down", ("save_more", {"id": 12, **more}))
    assert world.ran == []
    world.look({key: [{**item, "priority": 1} for item in ITEMS]})
    world.say("Write Old plan down", ("save_more", {"id": 12, "priority": 13, "minutes": 13}))
    world.say("Write Old plan and Salaries down", ("save_more", {"id": 12, **more}))
    assert world.ran == ["save_more", "save_more"]


def test_the_one_payment_within_a_record_of_a_typed_id_goes_with_it() -> None:
    trips = [{"id": "GV1N64", "payments": {"card_7": {"id": "card_7"}}}, {"id": "MQHHT6"}]
    for ident, ran in (("MQHHT6", []), ("GV1N64", ["save_more"])):
        world = Shelf.showing({"trips": trips})
        world.say(f"Save {ident} anew", ("save_more", {"trip_id": ident, "payment_id": "card_7"}))
        assert world.ran == ran


TRIPS = {
    "trips": [
        {"trip_id": "GV1N64", "title": "Orlando", "cabin": "business", "days": "seven"},
        {"trip_id": "MQHHT6", "title": "Boston", "cabin": "economy", "days": "five"},
    ]
}


@pytest.mark.parametrize(
    ("message", "run"),
    [
        ("change my trip to Orlando to economy", ["GV1N64"]),
        ("change GV1N64 to economy", ["GV1N64"]),
        ("put GV1N64, of five days, in economy", ["GV1N64"]),
        ("the business one in economy", []),
    ],
)
def test_what_is_set_or_stands_beside_an_id_names_no_record(message: str, run: list[str]) -> None:
    found = []
    for ident in ("GV1N64", "MQHHT6"):
        world = Shelf.showing(TRIPS)
        world.say(message, ("set_cabin", {"trip_id": ident, "cabin": "economy"}))
        found += [ident] if "set_cabin" in world.ran else []
    assert found == run
