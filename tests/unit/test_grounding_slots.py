"""What fills a table's cell or stands behind a label is of the record that its line names, and a
list that says how many it holds is held to it."""

import pytest

from webbee_kernel.grounding import Call, Evidence, Verdict, check

SHEDS = Call(
    "garden",
    "list_sheds",
    data={
        "sheds": [
            {"name": "North", "keeper": "Ines Vane", "pots": 40, "price": 3.5, "state": "open"},
            {"name": "Mill", "keeper": "Tove Lind", "pots": 72, "price": 2.25, "state": "open"},
            {"name": "Quay", "keeper": "Ines Vane", "pots": 18, "price": 4.0, "state": "closed"},
        ]
    },
)


def told(reply: str, message: str = "what is there?", tag: str = "en") -> Verdict:
    return check(reply, evidence=Evidence((SHEDS,), message, language=tag))


@pytest.mark.parametrize(
    ("line", "grounded"),
    [
        ("- **North** - pots: 40", True),
        ("- **North** - pots: about 45", False),
        ("- **North** - pots: 54", False),  # the difference of two others
        ("- **North** - worth: 140", True),  # its own pots times its own price
        ("- **North** - worth: 162", False),  # Mill's
        ("| Mill | 72 | 162 |", True),
        ("| Mill | 58 | 162 |", False),
        ("| Total | 130 | |", True),  # names no record: a sum of all
        ("In all there are 54 pots more at Mill than at Quay.", True),  # in prose, it compares
    ],
)
def test_what_fills_a_slot_is_of_the_record_that_its_line_names(line: str, grounded: bool) -> None:
    head = "| Shed | Pots | Worth |\n|---|---|---|\n" if line.startswith("|") else ""
    assert told(head + line).grounded is grounded


@pytest.mark.parametrize(
    ("line", "grounded"),
    [("- **Quay** - keeper: Ines Vane", True), ("- **Quay** - keeper: Olivier Lacroix", False)],
)
def test_a_name_that_fills_a_slot_stands_in_the_evidence(line: str, grounded: bool) -> None:
    assert told(line).grounded is grounded


@pytest.mark.parametrize(
    ("reply", "tag", "grounded"),
    [
        ("The list holds 3 sheds.", "en", True),
        ("The list holds 2 sheds.", "en", False),
        ("I see two sheds with roses.", "en", True),  # may be a part
        ("No sheds came up.", "en", False),
        ("Of these, 2 are open.", "en", True),
        ("Of these, 3 are open.", "en", False),
        ("Open: 2", "en", True),
        ("Open: 3", "en", False),
        ("Ich sehe 3 Sheds.", "de", True),
        ("Ich sehe 2 Sheds.", "de", False),
        ("Davon sind 3 open.", "de", False),
        ("En la lista veo 2 shed.", "es", False),
        ("La liste contient 2 sheds.", "fr", False),
        ("В списке 2 sheds.", "ru", False),
    ],
)
def test_who_presents_all_there_is_tells_how_many(reply: str, tag: str, grounded: bool) -> None:
    assert told(reply, tag=tag).grounded is grounded


@pytest.mark.parametrize(("number", "grounded"), [(3, True), (130, True), (50, False)])
def test_more_than_there_are_of_what_was_asked_for_is_wrong_in_any_word_for_it(
    number: int, grounded: bool
) -> None:
    reply = f"You have {number} huts."
    assert told(reply, message="Show me my huts").grounded is grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [("Nothing was changed.", False), ("Nothing else was changed.", True)],
)
def test_that_nothing_changed_denies_whatever_was_done(reply: str, grounded: bool) -> None:
    added = Call("garden", "add_shed", action_type="write", data={"id": 4})
    assert check(reply, evidence=Evidence((added,), "add a shed")).grounded is grounded


DOMAINS = Call(
    "names",
    "list_domains",
    data={
        "domains": {
            "kiln.example": {"ends": "2026-11-22", "price": 12, "done_pct": 72, "state": "queued"},
            "claycourse.app": {"ends": "2026-12-02", "price": 40, "state": "done"},
            "glaze.example": {"ends": "2026-12-09", "price": 25, "state": "done"},
        }
    },
)


@pytest.mark.parametrize(
    ("reply", "tag", "grounded"),
    [
        ("claycourse.app ends on 2 December.", "en", True),  # the key of a map of unlike rows
        ("clayhouse.app ends on 2 December.", "en", False),
        ("kiln.example termina el domingo 22.", "es", True),
        ("- 22 ноября — 12\n- 2 декабря — 40", "ru", True),  # no "12-2 December" over two lines
        ("kiln.example is 72% done.", "en", True),  # which is not that it is done
        (
            "| Domain | Price |\n|---|---|\n| kiln.example | 12 |\n\nThe other two cost more.",
            "en",
            True,
        ),
        ("glaze.example costs 13 more than kiln.example.", "en", True),
    ],
)
def test_forms_that_other_people_write_pass(reply: str, tag: str, grounded: bool) -> None:
    verdict = check(reply, evidence=Evidence((DOMAINS,), "what is there?", language=tag))
    assert verdict.grounded is grounded


HOTELS = Call(
    "travel",
    "list_hotels",
    data={
        "hotels": [
            {"name": "Cozy Stay", "rating": 4.7, "price_min": 80, "price_max": 150, "sec": 405},
            {"name": "City Hub", "rating": 4.3, "price_min": 100, "price_max": 180, "sec": 90},
            {"name": "Good Night", "rating": 5.0, "price_min": 240, "price_max": 400, "sec": 60},
        ],
        "target_price_min": 250,
    },
)


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("* Good Night, rating 5, highest price 400", True),
        ("* Good Night, rating 14, highest price 400", False),  # as a sum of others' it would do
        ("* Good Night, rating = 14", False),
        ("Good Night leads (rating 14).", False),
        ("Good Night costs at least 240; together with City Hub 340.", True),
        (
            "- Cozy Stay: price 80\n- City Hub: price 100\n- Good Night: price 160",
            False,
        ),  # 400 - 240 is no price
        ("- Cozy Stay: 70\n- City Hub: 80\n- Good Night: 160", True),  # from what to what
        ("- Cozy Stay: 70\n- City Hub: 80\n- Good Night: 160\n\nTogether 310.", True),
        ("| Hotel | Short by |\n|---|---|\n| Cozy Stay | 170 |\n| Good Night | 10 |", True),
        ("Cozy Stay is 6:45 from the centre.", True),  # 405 seconds
    ],
)
def test_a_label_and_a_column_say_of_what_a_value_is(reply: str, grounded: bool) -> None:
    assert check(reply, evidence=Evidence((HOTELS,), "what is there?")).grounded is grounded


@pytest.mark.parametrize(
    ("message", "reply", "tag", "grounded"),
    [
        ("Show my hotels", "There are no hotels.", "en", False),
        ("Show my hotels", "There aren't any hotels on your account.", "en", False),
        ("Bitte alle Hotels", "Ich konnte keine Hotels finden.", "de", False),
        ("Are there any cheap hotels?", "There are no cheap hotels.", "en", True),
        ("Есть дешевые отели?", "Дешевых отелей нет.", "ru", True),
    ],
)
def test_only_a_list_that_is_there_is_denied_wrongly(
    message: str, reply: str, tag: str, grounded: bool
) -> None:
    verdict = check(reply, evidence=Evidence((HOTELS,), message, language=tag))
    assert verdict.grounded is grounded


@pytest.mark.parametrize(
    ("message", "reply", "tag", "grounded"),
    [
        ("Kannst du den Termin verschieben?", "Der Termin wurde verschoben.", "de", False),
        ("Den Tank auffüllen, bitte", "Der Tank wurde aufgefüllt.", "de", False),
        ("Set the route to Rome", "The route to Rome was set.", "en", False),
        ("What is planned?", "Good Night is planned.", "en", True),
    ],
)
def test_what_was_asked_for_politely_or_in_a_word_of_one_form_was_not_done_by_looking(
    message: str, reply: str, tag: str, grounded: bool
) -> None:
    verdict = check(reply, evidence=Evidence((HOTELS,), message, language=tag))
    assert verdict.grounded is grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("I have added a shed. It was added to your garden.", True),
        ("I have added a shed. I also started the pump.", False),
        ("I have added a shed and told you so.", True),
    ],
)
def test_a_claim_beside_one_that_tells_the_call_needs_a_call_of_its_own(
    reply: str, grounded: bool
) -> None:
    added = Call("garden", "add_shed", action_type="write", data={"id": 4})
    assert check(reply, evidence=Evidence((added,), "a new one please")).grounded is grounded
