"""The mail extension on real servers: pymap speaks IMAP, aiosmtpd speaks SMTP, both on loopback."""

import json
import logging
import socket
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email import policy
from email.message import EmailMessage
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from local.mail_servers import DEMO_ACCOUNTS, DemoAccount, MailServers, demo_mail
from tests.stand_ins.service import server_that
from tests.stand_ins.trust import certificate
from webbee_kernel.extensions.registry import LoadedExtension, load_extension
from webbee_kernel.sdk import ActionResult
from webbee_kernel.testing import NOW, ExtensionHarness

TODAY = datetime.fromisoformat(NOW)
FOLDER = Path(__file__).parents[1]
SECTION = "mail_inbox_summary"
PASSWORDS = [account.password for account in DEMO_ACCOUNTS]
DEMO = demo_mail(TODAY)
WORK, PERSONAL = "sarah@work.com", "me@personal.com"
NOT_THERE = {
    "NOT_FOUND",
    "FABRICATED_ID_SHAPE",
}  # the extension's own code, and that of the kernel's guard before it


@pytest.fixture
def servers() -> Iterator[MailServers]:
    with MailServers(now=TODAY, demo=False) as running:
        running.restore(DEMO)
        yield running


@pytest.fixture
def empty() -> Iterator[MailServers]:
    with MailServers(now=TODAY, demo=False) as running:
        yield running


@pytest.fixture
def mail(servers: MailServers) -> ExtensionHarness:
    return harness(servers)


@pytest.fixture(autouse=True)
def _no_password_is_logged(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, logger="pymap")  # the server's own debug lines hold the protocol
    yield
    printed = capfd.readouterr()
    logged = caplog.text + str([record.__dict__ for record in caplog.records])
    assert not [p for p in PASSWORDS if p in logged + printed.out + printed.err]


def harness(servers: MailServers, language: str = "en", **overrides: Any) -> ExtensionHarness:
    return with_secret(servers.accounts_secret("demo", **overrides), language)


@cache
def loaded() -> LoadedExtension:
    return load_extension(FOLDER)


def with_secret(secret: str | None, language: str = "en") -> ExtensionHarness:
    secrets = {} if secret is None else {"accounts": secret}
    return ExtensionHarness(loaded(), secrets=secrets, language=language)


def both(mail: ExtensionHarness) -> list[tuple[str, bool, str]]:
    """How reading and sending end: code, whether it is worth a retry, all that is said."""
    results = (mail.call("list_inbox", account="1"), mail.call("send", to="a@b.example", body="hi"))
    return [(r.error_code, r.retryable, json.dumps(r.to_dict())) for r in results]


def second_fails(servers: MailServers) -> ExtensionHarness:
    """Two accounts, of which the second has another password."""
    entries = json.loads(servers.accounts_secret())
    entries[1]["password"] = "wrong"
    return with_secret(json.dumps(entries))


def ids(result: ActionResult) -> list[str]:
    assert result.ok, result.error
    return [message["id"] for message in result.data["messages"]]


def subjects(result: ActionResult) -> list[str]:
    assert result.ok, result.error
    return [message["subject"] for message in result.data["messages"]]


def held(servers: MailServers, address: str, folder: str = "INBOX") -> list[str]:
    return [str(message["Subject"]) for message in servers.messages(address, folder)]


def message(subject: str, body: str = "Body") -> EmailMessage:
    built = EmailMessage(policy=policy.SMTP)
    built["From"] = "Anna <anna@example.com>"
    built["To"] = PERSONAL
    built["Subject"] = subject
    built["Message-ID"] = f"<{abs(hash((subject, body)))}@example.com>"
    built.set_content(body)
    return built


# ---- list_inbox


def test_todays_mail_has_the_shape_that_follow_ups_rely_on_and_fits_into_the_fact_ledger(
    mail: ExtensionHarness,
) -> None:
    data = mail.call("list_inbox", today=True).data
    assert (list(data), data["unread"], len(data["messages"])) == (["unread", "messages"], 8, 8)
    first = data["messages"][0]
    assert list(first)[:3] == ["id", "from", "subject"]
    told = {"from": "sarah@example.com", "from_name": "Sarah Chen", "subject": "Q3 plan"}
    assert first.items() >= {**told, "account": WORK, "unread": True}.items()
    dates = [m["date"] for m in data["messages"]]
    assert dates == sorted(dates, reverse=True), "of all accounts, the newest first"
    assert len(json.dumps(data, ensure_ascii=False)) < 2000


@pytest.mark.parametrize(
    ("asked", "listed"),
    [({}, 13), ({"limit": 3}, 3), ({"unread_only": True}, 8), ({"since": "2026-05-14"}, 11)],
)
def test_the_list_is_cut_as_it_is_asked_and_says_what_is_missing(
    mail: ExtensionHarness, asked: dict[str, Any], listed: int
) -> None:
    result = mail.call("list_inbox", **asked)
    assert len(result.data["messages"]) == listed
    if "unread_only" in asked:
        assert all(m["unread"] for m in result.data["messages"])
    assert result.data["unread"] == 8
    assert result.data.get("more", 0) == (10 if "limit" in asked else 0)
    assert ("3 of 13 shown" in result.summary) is ("limit" in asked)


@pytest.mark.parametrize("wanted", [WORK, "SARAH@WORK.COM", "1", "#1", "work"])
def test_an_account_is_named_by_address_number_or_part(mail: ExtensionHarness, wanted: str) -> None:
    result = mail.call("list_inbox", account=wanted, today=True)
    assert subjects(result) == ["Q3 plan", "Отчёт за неделю"]
    assert result.data["unread"] == 2


def test_an_unknown_account_is_answered_with_the_known_ones(mail: ExtensionHarness) -> None:
    result = mail.call("list_inbox", account="boss@elsewhere.example")
    assert result.error_code == "NOT_FOUND"
    assert WORK in str(result.error)
    assert PERSONAL in str(result.error)


@pytest.mark.parametrize(
    ("language", "listed", "sent", "panel", "unset"),
    [
        (
            "de-DE",
            "2 Nachrichten von heute, 8 ungelesen im Posteingang; 2 von 8 gezeigt",
            "„Hallo“ an a@b.example gesendet",
            ["Ungelesen", "Archivieren", "Löschen"],
            "E-Mail ist nicht eingerichtet",
        ),
        (
            "ru-RU",
            "вот 2 письма за сегодня, непрочитанных во входящих 8; показано 2 из 8",
            "Отправил «Hallo» на a@b.example",
            ["Непрочитанные", "В архив", "Удалить"],
            "Почта не настроена",
        ),
        (
            "it",
            "listed 2 messages from today, 8 unread in the inbox; 2 of 8 shown",
            'Sent "Hallo" to a@b.example',
            ["Unread", "Archive", "Delete"],
            "Mail is not set up",
        ),
    ],
)
def test_summaries_and_the_panel_speak_the_users_language(
    servers: MailServers, language: str, listed: str, sent: str, panel: list[str], unset: str
) -> None:
    mail = harness(servers, language)
    assert mail.call("list_inbox", today=True, limit=2).summary == listed
    tree = mail.panel("inbox")
    actions = nodes(tree, "ListItem")[0]["actions"]
    assert panel == [nodes(tree, "Stat")[0]["label"], *(a["label"] for a in actions)]
    assert mail.call("send", to="a@b.example", body="Hallo").summary == sent
    assert nodes(with_secret(None, language).panel("inbox"), "Empty")[0]["message"] == unset


def test_an_empty_inbox_is_a_success(empty: MailServers) -> None:
    result = harness(empty).call("list_inbox", today=True)
    assert (result.ok, result.data) == (True, {"unread": 0, "messages": []})
    assert result.summary == "no messages from today, none unread in the inbox"


def test_one_account_that_fails_does_not_hide_the_other(servers: MailServers) -> None:
    result = second_fails(servers).call("list_inbox", today=True)
    assert result.ok
    assert result.data["unread"] == 2
    assert [f["account"] for f in result.data["failed"]] == [PERSONAL]
    assert PERSONAL in result.summary


@pytest.mark.parametrize(
    ("function", "given"),
    [
        *(("list_inbox", wrong) for wrong in ({"limit": 0}, {"limit": 51}, {"since": "someday"})),
        ("list_inbox", {"account": "a\r\nb"}),
        *(("search", wrong) for wrong in ({}, {"text": 'x"\r\na1 DELETE Archive'})),
        *(
            ("send", {"to": to, "body": "hi"})
            for to in (
                *("a@b.example\nBcc: c@d.example", "a@b.example\r\n", "a@b.example, c@d.example"),
                *("Anna <a@b.example>", "anna", "a@b.example>\r\nRCPT TO:<c@d.example"),
            )
        ),
        *(
            ("send", {"to": "a@b.example", "body": "hi", **wrong})
            for wrong in (
                *({"subject": f"Hi{end}Bcc: c@d.example"} for end in ("\r\n", "\u2028")),
                *({"body": text} for text in ("   ", "x" * 20_001)),
                {"account": "1\r\nX: y"},
            )
        ),
    ],
)
def test_arguments_out_of_range_or_with_a_command_or_a_header_in_them_are_refused(
    servers: MailServers, mail: ExtensionHarness, function: str, given: dict[str, Any]
) -> None:
    assert mail.call(function, **given).error_code.startswith("VALIDATION")
    assert servers.received == []


# ---- search


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ({"sender": "sarah@example.com"}, ["Q3 plan", "Q2 results"]),
        ({"sender": "Sarah"}, ["Q3 plan", "Q2 results"]),
        ({"subject": "q3"}, ["Q3 plan"]),
        ({"text": "Lisbon"}, ["Q3 plan"]),
        ({"text": "отчёт"}, ["Отчёт за неделю"]),
        ({"text": "ужин"}, ["Ужин в субботу"]),  # a subject alone
        ({"subject": "ПЛАНЁРКА"}, ["Планёрка переносится"]),
        ({"text": "закрыто 17 задач"}, ["Отчёт за неделю"]),
        ({"sender": "Иван", "text": "перенесены"}, ["Отчёт за неделю"]),
        ({"sender": "sarah", "folder": "archive"}, ["Q2 results"]),
        ({"folder": "archive"}, ["Q2 results"]),
        ({"sender": "sarah", "unread_only": True}, ["Q3 plan"]),
        ({"sender": "sarah", "account": PERSONAL}, []),
        ({"text": 'a "quoted" \\ word'}, []),
        ({"sender": "Ивана", "account": "work"}, ["Отчёт за неделю", "Планёрка переносится"]),
        ({"text": "Q3 plan unicorn"}, ["Q3 plan"]),  # what no message holds tells nothing
        ({"since": "2026-05-15", "account": "work"}, ["Q3 plan", "Отчёт за неделю"]),  # by arrival
    ],
)
def test_search_finds_by_each_criterion(
    mail: ExtensionHarness, criteria: dict[str, Any], expected: list[str]
) -> None:
    result = mail.call("search", **criteria)
    assert subjects(result) == expected
    assert result.data["found"] == len(expected)


def test_a_message_that_lacks_a_word_says_so_and_stands_behind(mail: ExtensionHarness) -> None:
    result = mail.call("search", text="order number")
    [order] = [row for row in result.data["messages"] if "order" in row["subject"]]
    assert order["lacks"] == ["number"]
    assert result.summary == "found 1 message; not with all of these words"
    assert subjects(mail.call("search", text="revenue final loan"))[0] == "Q2 results"


# ---- read


def open_first(mail: ExtensionHarness, **criteria: Any) -> ActionResult:
    return mail.call("read", id=ids(mail.call("search", **criteria))[0])


def test_a_message_is_read_with_its_text_and_stays_unread(mail: ExtensionHarness) -> None:
    result = open_first(mail, subject="Q3 plan")
    assert (result.data["from"], result.data["to"]) == ("sarah@example.com", [WORK])
    assert result.data["body"].startswith("Hi,\n\nthe draft of the Q3 plan is ready")
    assert result.summary == f'The message "Q3 plan" from sarah@example.com: {result.data["body"]}'
    assert mail.call("list_inbox").data["unread"] == 8


def test_attachments_are_named_and_not_shown(mail: ExtensionHarness) -> None:
    assert open_first(mail, subject="Photos").data["attachments"] == ["lake.jpg", "summit.jpg"]
    result = open_first(mail, subject="Отчёт")
    assert result.data["attachments"] == ["отчёт-за-неделю.xlsx"]
    assert "demo attachment" not in result.data["body"]


def test_html_only_mail_is_read_as_text(mail: ExtensionHarness) -> None:
    body = open_first(mail, subject="Issue 212").data["body"]
    assert body.startswith("Issue 212\n\nThis week: why two caches are worse than one")
    assert "- A queue is a promise" in body
    assert [markup for markup in ("<", "color") if markup in body] == []
    assert "12 480,50 ₽" in open_first(mail, subject="Выписка").data["body"]


def test_a_long_text_is_cut_with_a_marker(empty: MailServers) -> None:
    mail = harness(empty)
    empty.deliver(PERSONAL, message("Long", "word " * 4000))
    data = open_first(mail, subject="Long").data
    assert data["body_chars"] == 19999
    assert data["body"].endswith("[… cut: 4000 of 19999 characters]")
    assert len(data["body"]) < 4050


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"Subject: =?koi8-r?B?8NLJ18XU?=\r\n", "Привет"),
        (
            b"Subject: =?utf-8?Q?=D0=9F=D1=80=D0=B8?=\r\n =?utf-8?Q?=D0=B2=D0=B5=D1=82?=\r\n",
            "Привет",
        ),
        ("Subject: Привет\r\n".encode(), "Привет"),
        (b"Subject: =?no-such-charset?B?8NLJ18XU?=\r\n", "=?no-such-charset?B?8NLJ18XU?="),
        (b"Subject: two\r\n lines\r\n", "two lines"),
        (b"Subject: =?utf-8?Q?a=0D=0ABcc=3A_x=40y.example?=\r\n", "a Bcc: x@y.example"),
        (b"", ""),
    ],
)
def test_subjects_are_decoded_however_sent(empty: MailServers, raw: bytes, expected: str) -> None:
    empty.deliver(
        PERSONAL, b"From: =?utf-8?B?0JDQvdC90LA=?= <anna@example.com>\r\n" + raw + b"\r\nBody\r\n"
    )
    listed = harness(empty).call("list_inbox").data["messages"][0]
    assert listed["subject"] == expected
    assert (listed["from"], listed["from_name"]) == ("anna@example.com", "Анна")


@pytest.mark.parametrize("charset", ["windows-1251", "koi8-r", "utf-8", "no-such-charset"])
def test_bodies_are_decoded_by_their_charset(empty: MailServers, charset: str) -> None:
    coded = "Привет, мир".encode("utf-8" if charset == "no-such-charset" else charset)
    empty.deliver(
        PERSONAL,
        f"Subject: x\r\nContent-Type: text/plain; charset={charset}\r\n\r\n".encode()
        + coded
        + b"\r\n",
    )
    assert open_first(harness(empty), subject="x").data["body"] == "Привет, мир"


@pytest.mark.parametrize(
    "unknown", ["1-9999-bcdf", "9-101-bcdf", "abc", "1-101", "", "1-101-bcdf; DROP"]
)
def test_an_unknown_id_is_not_found(mail: ExtensionHarness, unknown: str) -> None:
    result = mail.call("read", id=unknown)
    assert result.error_code in NOT_THERE or result.error_code.startswith("VALIDATION")
    assert not result.retryable


def test_ids_do_not_outlive_the_numbering_of_their_folder(servers: MailServers) -> None:
    listed = ids(harness(servers).call("list_inbox", account="work"))
    with MailServers(now=TODAY) as renumbered:
        assert harness(renumbered).call("read", id=listed[0]).error_code in NOT_THERE


# ---- send and reply


def test_a_message_is_really_sent(servers: MailServers, mail: ExtensionHarness) -> None:
    told = {"to": "boss@elsewhere.example", "subject": "Status"}
    result = mail.call("send", **told, body="All green.")
    assert result.data == {"sent": True, **told, "account": WORK}
    received = servers.received[-1]
    assert (received.envelope_from, received.envelope_to) == (WORK, (told["to"],))
    assert (received.subject, received.text) == ("Status", "All green.")
    assert received.message["From"] == WORK
    assert received.message["Date"]
    assert received.message["Message-ID"].endswith("@work.com>")
    assert held(servers, WORK, "Sent") == ["Status"]


@pytest.mark.parametrize(
    ("body", "subject"),
    [
        ("статус по проекту", "статус по проекту"),
        (
            "one two three four five six seven eight nine ten\nsecond line",
            "one two three four five six seven eight…",
        ),
    ],
)
def test_a_text_arrives_as_written_from_the_chosen_account_and_names_a_short_subject(
    servers: MailServers, mail: ExtensionHarness, body: str, subject: str
) -> None:
    mail.call("send", to="sarah@example.com", body=body, account="personal")
    received = servers.received[-1]
    assert (received.envelope_from, received.subject) == (PERSONAL, subject)
    assert received.text.splitlines() == body.splitlines()
    assert held(servers, "sarah@example.com")[-1] == subject


def test_a_refused_recipient_is_named(servers: MailServers) -> None:
    result = harness(servers, "ru").call("send", to="nobody@example.com", body="hi")
    assert (result.error_code, result.retryable) == ("RECIPIENT_REFUSED", False)
    refused = "Почтовый сервер не принимает получателя nobody@example.com. Проверьте адрес."
    assert result.error == refused


def test_a_reply_stays_in_its_thread(servers: MailServers, mail: ExtensionHarness) -> None:
    original = next(m for m in servers.messages(WORK) if m["Subject"] == "Q3 plan")
    result = mail.call(
        "reply", id=ids(mail.call("search", subject="Q3 plan"))[0], body="Here it is."
    )
    assert result.data["to"] == "sarah@example.com"
    reply = servers.received[-1]
    assert reply.subject == "Re: Q3 plan"
    assert reply.message["In-Reply-To"] == original["Message-ID"]
    assert reply.message["References"] == original["Message-ID"]
    assert held(servers, "sarah@example.com")[-1] == "Re: Q3 plan"


def test_a_reply_to_a_reply_keeps_the_references_and_adds_no_second_re(empty: MailServers) -> None:
    built = message("RE: Plan")
    built["References"] = "<first@example.com> <second@example.com>"
    built["Reply-To"] = "Team <team@example.com>"
    empty.deliver(PERSONAL, built)
    mail = harness(empty)
    mail.call("reply", id=ids(mail.call("list_inbox"))[0], body="Fine")
    sent = empty.received[-1]
    assert sent.envelope_to == ("team@example.com",)
    assert sent.envelope_from == PERSONAL
    assert sent.subject == "RE: Plan"
    assert sent.message["References"].split() == [
        "<first@example.com>",
        "<second@example.com>",
        built["Message-ID"],
    ]


def test_a_hostile_original_cannot_inject_headers_into_the_reply(empty: MailServers) -> None:
    raw = (
        b"From: Eve <eve@example.com>\r\nSubject:"
        b" =?utf-8?Q?x=0D=0ABcc=3A_c=40d.example?=\r\nMessage-ID: <a\x0bb@c>\r\n\r\nBody\r\n"
    )
    empty.deliver(PERSONAL, raw)
    mail = harness(empty)
    assert mail.call("reply", id=ids(mail.call("list_inbox"))[0], body="No").ok
    assert empty.received[-1].envelope_to == ("eve@example.com",)
    assert empty.received[-1].message["Bcc"] is None


def test_a_message_without_a_sender_cannot_be_answered(empty: MailServers) -> None:
    empty.deliver(PERSONAL, b"Subject: Anonymous\r\n\r\nBody\r\n")
    mail = harness(empty)
    result = mail.call("reply", id=ids(mail.call("list_inbox"))[0], body="Who?")
    assert (result.error_code, result.retryable) == ("INVALID_ARGUMENT", False)
    assert empty.received == []


# ---- archive, delete, mark


@pytest.mark.parametrize("hidden", [(), ("MOVE",), ("MOVE", "UIDPLUS")])
def test_archiving_moves_messages_of_any_account_on_any_server(hidden: tuple[str, ...]) -> None:
    with MailServers(now=TODAY, hidden=hidden) as servers:
        mail = harness(servers, "ru")
        listed = ids(mail.call("list_inbox", limit=2))
        result = mail.call("archive", ids=listed)
        assert result.summary == "Перенёс в архив 2 письма"
        assert (result.data["archived"], result.refresh_panels) == (2, ["inbox"])
        assert held(servers, WORK, "Archive") == ["Q2 results", "Q3 plan"]
        assert held(servers, PERSONAL, "Archive") == ["Ужин в субботу"]
        assert "Q3 plan" not in held(servers, WORK) and len(held(servers, WORK)) == 4
        if not hidden:
            assert mail.call("read", id=ids(result)[0]).data["subject"] == "Q3 plan"
            again = mail.call("archive", ids=ids(result))
            assert (again.error_code, again.error) == ("ALREADY_THERE", "2 письма уже в архиве")
        gone = harness(servers).call("read", id=listed[0])
        assert gone.error_code == "NOT_FOUND" and "List or search again" in str(gone.error)


def test_what_lies_where_it_is_to_go_is_told_beside_what_was_moved() -> None:
    with MailServers(now=TODAY) as servers:
        mail = harness(servers)
        first, second = ids(mail.call("list_inbox", limit=2))
        there = ids(mail.call("archive", ids=[first]))
        both = mail.call("archive", ids=[*there, second])
        assert both.summary == "Archived 1 message; 1 message is in the archive already"
        assert mail.call("move_to_inbox", ids=ids(mail.call("list_inbox", limit=1))).error == (
            "1 message is in the inbox already"
        )


@pytest.mark.parametrize(
    ("function", "more"), [("archive", {}), ("delete", {}), ("mark", {"read": True})]
)
def test_what_was_done_to_a_message_is_taken_back(
    servers: MailServers, mail: ExtensionHarness, function: str, more: dict[str, Any]
) -> None:
    def inbox() -> list[tuple[str, bool]]:
        rows = mail.call("list_inbox", limit=50).data["messages"]
        return sorted((row["subject"], row["unread"]) for row in rows)

    before = inbox()
    undo = mail.call(function, ids=ids(mail.call("search", subject="Q3 plan")), **more).undo
    assert inbox() != before
    assert mail.call(undo.params["function"], **undo.params["params"]).ok
    assert inbox() == before


def test_deleting_trashes_and_then_erases(servers: MailServers, mail: ExtensionHarness) -> None:
    first = mail.call("delete", ids=ids(mail.call("list_inbox", account="personal", limit=2)))
    assert (first.data["deleted"], first.data["erased"]) == (2, 0)
    assert first.summary == "Deleted 2 messages, to the trash"
    assert len(held(servers, PERSONAL, "Trash")) == 2
    second = mail.call("delete", ids=ids(first)[:1])
    assert (second.data["deleted"], second.data["erased"]) == (1, 1)
    assert len(held(servers, PERSONAL, "Trash")) == 1


def test_ids_that_are_gone_are_reported_beside_those_that_are_not(mail: ExtensionHarness) -> None:
    listed = ids(mail.call("list_inbox", limit=2))
    mail.call("delete", ids=listed[:1])
    result = mail.call("delete", ids=listed)
    assert result.data["deleted"] == 1
    assert result.data["not_found"] == listed[:1]
    assert listed[0] in result.summary
    assert mail.call("delete", ids=listed).error_code == "NOT_FOUND"


def test_what_was_done_on_one_account_stands_although_another_fails(servers: MailServers) -> None:
    listed = ids(harness(servers).call("list_inbox", limit=2))
    result = second_fails(servers).call("archive", ids=listed)
    assert result.data["archived"] == 1
    assert result.data["not_found"] == [i for i in listed if i.startswith("2-")]
    assert result.data["failed"][0]["account"] == PERSONAL


@pytest.mark.parametrize(
    ("there", "used"),
    [
        (("Архив", "Корзина", "Отправленные"), ("Архив", "Корзина", "Отправленные")),
        ((), ("Archive", "Trash")),
    ],
)
def test_folders_are_found_by_their_names_and_made_where_they_are_missing(
    there: tuple[str, ...], used: tuple[str, ...]
) -> None:
    with MailServers(folders=there, demo=False) as servers:
        for subject in ("One", "Two"):
            servers.deliver(PERSONAL, message(subject))
        mail = harness(servers)
        assert mail.call("search", folder="sent", text="x").data["found"] == 0
        listed = ids(mail.call("list_inbox"))
        assert mail.call("archive", ids=listed[:1]).ok
        assert mail.call("delete", ids=listed[1:]).ok
        mail.call("send", to="a@b.example", body="Three", account="personal")
        kept = [held(servers, PERSONAL, folder) for folder in used]
        assert kept == [["Two"], ["One"], ["Three"]][: len(used)]


def test_marking_changes_the_unread_count(servers: MailServers, mail: ExtensionHarness) -> None:
    listed = ids(mail.call("list_inbox", limit=3))
    result = mail.call("mark", ids=listed)
    assert (result.data["marked"], result.data["as"]) == (3, "read")
    assert mail.call("list_inbox").data["unread"] == 5
    one = harness(servers, "ru").call("mark", ids=listed[0], read=False)  # without its list
    assert one.summary == "Отметил как непрочитанное: 1 письмо"
    assert mail.call("list_inbox").data["unread"] == 6


# ---- skeleton, alert, panel


def test_the_skeleton_is_what_the_prompt_shows_and_names_an_account_that_fails(
    servers: MailServers, mail: ExtensionHarness
) -> None:
    assert mail.skeleton(SECTION) == snapshot(2, 6)
    failing = second_fails(servers).skeleton(SECTION)
    half = snapshot(2, None) | {"accounts_connected": 1}
    assert failing == half | {"accounts_failing": [f"{PERSONAL} AUTH_FAILED"]}
    nothing = {"accounts_connected": 0, "unread_total": 0, "per_account": []}
    assert with_secret(None).skeleton(SECTION) == nothing


def snapshot(work: int, personal: int | None) -> dict[str, Any]:
    """With both accounts, of which the second may not have answered."""
    unread = {} if personal is None else {"unread": personal}
    return {
        "accounts_connected": 2,
        "unread_total": work + (personal or 0),
        "per_account": [
            {"id": 1, "address": WORK, "unread": work},
            {"id": 2, "address": PERSONAL, **unread},
        ],
    }


@pytest.mark.parametrize(
    ("language", "before", "after", "text"),
    [
        ("en", snapshot(2, 6), snapshot(3, 7), "2 more unread messages, 10 in all"),
        ("en", snapshot(0, 0), snapshot(1, 0), "1 more unread message, 1 in all"),
        ("ru", snapshot(2, 6), snapshot(2, 7), "на 1 непрочитанное письмо больше, всего 9"),
        ("ru", snapshot(2, 6), snapshot(4, 6), "на 2 непрочитанных письма больше, всего 10"),
        ("ru", snapshot(0, 0), snapshot(0, 11), "на 11 непрочитанных писем больше, всего 11"),
        ("en", snapshot(2, 6), snapshot(2, 6), ""),
        ("en", snapshot(2, 6), snapshot(1, 6), ""),
        ("en", snapshot(2, None), snapshot(2, 6), ""),
        ("en", {}, snapshot(2, 6), ""),
    ],
)
def test_the_alert_speaks_only_of_a_count_that_rose(
    language: str, before: dict[str, Any], after: dict[str, Any], text: str
) -> None:
    assert with_secret(None, language).alert(SECTION, old=before, new=after) == text


def test_what_a_user_puts_back_is_no_new_mail(servers: MailServers, mail: ExtensionHarness) -> None:
    unread = ids(mail.call("list_inbox", unread_only=True))[:2]
    archived = mail.call("archive", ids=unread).undo
    read = ids(mail.call("list_inbox", unread_only=True))[:1]
    assert mail.call("mark", ids=read, read=True).ok
    before = mail.skeleton(SECTION)
    assert mail.call(archived.params["function"], **archived.params["params"]).ok
    assert mail.call("mark", ids=read, read=False).ok
    assert mail.skeleton(SECTION)["unread_total"] == before["unread_total"] + 3
    assert mail.events("alert") == ()
    servers.deliver(PERSONAL, message("News"))
    mail.skeleton(SECTION)
    [told] = mail.events("alert")
    assert "1 more unread message, 9 in all" in str(told.data)


def nodes(tree: Any, kind: str) -> list[dict[str, Any]]:
    if isinstance(tree, list):
        return [n for item in tree for n in nodes(item, kind)]
    if not isinstance(tree, dict):
        return []
    own = [tree["props"]] if tree.get("type") == kind else []
    return own + [n for value in tree.values() for n in nodes(value, kind)]


def test_the_panel_lists_the_inbox_with_its_actions(mail: ExtensionHarness) -> None:
    panel = mail.panel("inbox")
    rows = nodes(panel, "ListItem")
    assert (len(rows), rows[0]["title"], rows[0]["subtitle"]) == (13, "Q3 plan", "Sarah Chen")
    calls = [rows[0]["on_click"], *(action["on_click"] for action in rows[0]["actions"])]
    assert [call["function"] for call in calls] == ["read", "archive", "delete"]
    assert calls[1]["params"] == {"ids": [calls[0]["params"]["id"]]}
    assert nodes(panel, "Stat")[0]["value"] == 8


def test_the_panel_shows_at_most_25_messages(empty: MailServers) -> None:
    for n in range(30):
        empty.deliver(PERSONAL, message(f"Message {n}"))
    rows = nodes(harness(empty).panel("inbox"), "ListItem")
    assert [row["title"] for row in rows] == [f"Message {n}" for n in range(29, 4, -1)]


def test_the_panel_is_cached_until_a_write(servers: MailServers, mail: ExtensionHarness) -> None:
    first = nodes(mail.panel("inbox"), "ListItem")
    servers.deliver(PERSONAL, message("Unseen by the cache"))
    assert nodes(mail.panel("inbox"), "ListItem") == first
    mail.call("mark", ids=[first[0]["id"]])
    rows = nodes(mail.panel("inbox"), "ListItem")
    assert rows[0]["title"] == "Unseen by the cache"


def test_an_empty_panel_says_so_or_how_to_set_mail_up(empty: MailServers) -> None:
    assert nodes(harness(empty, "ru").panel("inbox"), "Empty")[0]["message"] == "Входящих нет"
    assert "secret `accounts`" in nodes(with_secret(None).panel("inbox"), "Text")[0]["content"]


# ---- the secret


@pytest.mark.parametrize("secret", [None, "", "  "])
def test_without_accounts_the_answer_says_what_to_set(secret: str | None) -> None:
    result = with_secret(secret).call("list_inbox")
    assert (result.error_code, result.retryable) == ("NO_ACCOUNTS", False)
    assert '[{"address": "me@gmail.com", "password": "an app password"}]' in str(result.error)
    assert "Почта ещё не настроена" in str(
        with_secret(secret, "ru").call("send", to="a@b.example", body="x").error
    )


SECRET_WORD = "hunter2-very-secret"
GOOD = {
    "address": "a@unknown.example",
    "password": SECRET_WORD,
    "imap_host": "i.example",
    "smtp_host": "s.example",
}


WRONG_SECRETS = {
    "not JSON": f'[{{"password": "{SECRET_WORD}"',
    "a JSON list of 1 to 5 accounts": json.dumps(SECRET_WORD),
    "of 1 to 5 accounts": "[]",
    "list of 1 to 5 accounts": json.dumps([GOOD] * 6),
    "account 1": json.dumps([SECRET_WORD]),
    "the same address is given twice": json.dumps([GOOD, GOOD]),
    "give imap_host and smtp_host": json.dumps([{"address": "a@b.example", "password": "x"}]),
}
WRONG_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"address": SECRET_WORD}, "account 1: address: give one e-mail address"),
    *(({"imap_port": port}, "account 1: imap_port") for port in (SECRET_WORD, 70_000)),
    ({"security": SECRET_WORD}, "account 1: security"),
    *(({name: "none"}, "only for loopback hosts") for name in ("security", "smtp_security")),
    ({SECRET_WORD: 1}, "a field is unknown"),
    ({"password": f"{SECRET_WORD}\r\nA1 LOGOUT"}, "password must not hold line breaks"),
    ({"username": f"{SECRET_WORD}\n"}, "account 1: username"),
    *(({"password": given}, "account 1: password") for given in ("", [SECRET_WORD])),
]


@pytest.mark.parametrize(
    ("secret", "says"),
    [
        *((secret, says) for says, secret in WRONG_SECRETS.items()),
        *((json.dumps([GOOD | wrong]), says) for wrong, says in WRONG_FIELDS),
    ],
)
def test_a_wrong_secret_is_explained_without_repeating_it(secret: str, says: str) -> None:
    result = with_secret(secret).call("list_inbox")
    assert (result.error_code, result.retryable) == ("ACCOUNTS_INVALID", False)
    assert says in str(result.error)
    assert SECRET_WORD not in json.dumps(result.to_dict())


def test_a_single_account_may_come_without_its_list(servers: MailServers) -> None:
    entry = json.dumps(json.loads(servers.accounts_secret())[0])
    assert with_secret(entry).call("list_inbox").data["unread"] == 2


# ---- servers that fail


def test_a_wrong_password_is_said_plainly_and_never_repeated(servers: MailServers) -> None:
    for code, retryable, said in both(harness(servers, password="wrong-password-typed")):
        assert (code, retryable) == ("AUTH_FAILED", False)
        assert "app password" in said and "wrong-password-typed" not in said
    assert "пароль приложения" in str(harness(servers, "ru", password="x").call("list_inbox").error)


@pytest.mark.parametrize("password", ["пароль", 'with "quotes" and \\ and spaces', "pässwörd"])
def test_passwords_of_any_letters_work(password: str) -> None:
    with MailServers([DemoAccount("demo", PERSONAL, password)], demo=False) as servers:
        mail = harness(servers)
        assert mail.call("list_inbox").ok
        assert mail.call("send", to="a@b.example", body="hi").ok


def test_a_closed_port_is_unreachable_and_worth_a_retry(servers: MailServers) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        found = both(harness(servers, imap_port=port, smtp_port=port))
        assert [one[:2] for one in found] == [("UNREACHABLE", True)] * 2
        assert "imap_host" in found[0][2]
        # the copy in Sent is lost, the message is not
        assert harness(servers, imap_port=port).call("send", to="a@b.example", body="hi").ok
    assert len(servers.received) == 1


HOSTS = {
    "a private network": "10.1.2.3",
    "one in IPv6": "fd12:3456::1",
    "a metadata service": "169.254.169.254",
}


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS.keys())
def test_a_host_the_user_names_may_not_be(servers: MailServers, host: str) -> None:
    mail = harness(servers, imap_host=host, smtp_host=host, security="tls", smtp_security="tls")
    for code, retryable, said in both(mail):
        assert (code, retryable, "private_hosts" in said) == ("HOST_REFUSED", False, True)


def test_an_operator_opens_private_networks_but_no_metadata_service(servers: MailServers) -> None:
    harness(servers)  # loads the folder
    check_host = sys.modules["webbee_ext.mail.mail_hosts"].check_host
    check_host("10.1.2.3", private=True)
    for host in ("169.254.169.254", "fd00:ec2::254"):
        secret = servers.accounts_secret(
            "demo", imap_host=host, security="tls", smtp_security="tls"
        )
        opened = ExtensionHarness(
            FOLDER, secrets={"accounts": secret}, config={"private_hosts": True}
        )
        assert opened.call("list_inbox").error_code == "HOST_REFUSED"


def speaks_http(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    connection.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize(
    ("talks", "timeout", "code"),
    [(lambda _: None, 1, "BACKEND_TIMEOUT"), (speaks_http, 30, "BACKEND_5XX")],
    ids=["hangs", "speaks something else"],
)
def test_a_server_that_hangs_or_speaks_something_else_is_no_crash(
    servers: MailServers, talks: Callable[[socket.socket], None], timeout: int, code: str
) -> None:
    with server_that(talks) as port:
        found = both(harness(servers, imap_port=port, smtp_port=port, timeout=timeout))
    assert [one[0] for one in found] == [code] * 2
    assert timeout > 1 or all(one[1] for one in found), "it is worth a retry"
    assert all("did not answer in time" in one[2] for one in found) is (timeout == 1)
    assert servers.received == []


def test_a_server_that_echoes_the_login_does_not_leak_it(servers: MailServers) -> None:
    def echo(connection: socket.socket) -> None:
        connection.sendall(b"* OK [CAPABILITY IMAP4rev1] hello\r\n")
        while line := connection.recv(4096):
            tag = line.split()[0]
            connection.sendall(
                b"* BAD you said " + line.strip() + b"\r\n" + tag + b" NO " + line.strip() + b"\r\n"
            )

    with server_that(echo) as port:
        result = harness(servers, imap_port=port, timeout=30).call("list_inbox", account="1")
        assert not result.ok
        assert not [p for p in PASSWORDS if p in json.dumps(result.to_dict())]


def test_a_break_after_the_text_went_out_is_not_retryable(servers: MailServers) -> None:
    def breaks_at_the_end(connection: socket.socket) -> None:
        connection.sendall(b"220 hello\r\n")
        with connection.makefile("rb") as stream:
            for line in stream:
                if line.upper().startswith(b"DATA"):
                    connection.sendall(b"354 go on\r\n")
                    break
                connection.sendall(b"250 OK\r\n")
            for line in stream:
                if line == b".\r\n":
                    connection.shutdown(socket.SHUT_RDWR)
                    return

    with server_that(breaks_at_the_end) as port:
        result = harness(servers, smtp_port=port, timeout=30).call(
            "send", to="a@b.example", body="hi"
        )
    assert (result.error_code, result.retryable) == ("DELIVERY_UNKNOWN", False)
    assert "may or may not have been sent" in str(result.error)


# ---- secure connections


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_secure_connections_work_and_check_the_certificate(
    security: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = str(certificate(tmp_path, datetime.now(UTC)))
    with MailServers(now=TODAY, security=security, certificate=(pem, pem)) as servers:
        mail = harness(servers)
        assert [found[:2] for found in both(mail)] == [("TLS_FAILED", False)] * 2
        monkeypatch.setenv("SSL_CERT_FILE", pem)
        assert mail.call("list_inbox").data["unread"] == 8
        assert mail.call("send", to="a@b.example", body="hi").ok
        assert len(servers.received) == 1


def test_a_server_without_starttls_gets_no_password(servers: MailServers) -> None:
    assert [found[0] for found in both(harness(servers, security="starttls"))] == ["TLS_FAILED"] * 2


# ---- the demo mailbox


@pytest.mark.parametrize("seconds", [5, 60, 3600, 86_399])
def test_demo_mail_of_today_never_leaves_today(seconds: int) -> None:
    midnight = datetime(2026, 5, 15, tzinfo=UTC)
    now = midnight + timedelta(seconds=seconds)
    today = [m for m in demo_mail(now) if not m.seen]
    assert len(today) == 8
    assert all(midnight <= datetime.fromisoformat(m.when) < now for m in today)
    assert b"Subject: Q3 plan\r\n" in today[-1].raw
