"""`make demo`: a short story on one machine. Everything in its path is real: handlers, API, tables'
descriptions, mail servers."""

from __future__ import annotations

import argparse
import re
import sys
from email.message import EmailMessage
from typing import Any

from .cli.talk import shown
from .loopback import Client
from .terminal import paint, wrapped
from .world import World, local_world, prepare

SESSION = "demo"


class Story:
    """The person, and what the reader of the terminal sees."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.api = Client(world.url, "dev")
        self.prompt = ""
        self.read: set[str] = set()

    def say(self, message: str) -> dict[str, Any]:
        """One turn: what the classifier reads, then the reply."""
        print("\n" + paint("you     ", "bold", "green") + paint(message, "bold"))
        self.prompt = self.api.get("/v1/inspect", session_id=SESSION, message=message)["prompt"]
        print(paint("  the classifier reads, beside what it read before", "dim"))
        for line in self.prompt.splitlines():
            if line not in self.read:
                style = "yellow" if line.startswith("FACTS:") else "dim"
                print(wrapped(line, "  │ ", style))
        self.read.update(self.prompt.splitlines())
        answer = self.api.turn(message, SESSION)
        # What Lambda's poller does: sections that a call changed are refreshed early.
        while self.world.stack.drain():
            pass
        print(*shown(answer), sep="\n")
        return answer

    def note(self, text: str) -> None:
        """An aside."""
        print(wrapped(text, "  ", "cyan"))

    def section(self) -> str:
        """The mail section as the classifier reads it."""
        prompt: str = self.api.get("/v1/inspect", session_id=SESSION, message="")["prompt"]
        return next(s for s in prompt.splitlines() if s.startswith("- mail_inbox_summary"))


def main(arguments: list[str] | None = None) -> int:
    """Play the story; 0 when everything happened as told."""
    parser = argparse.ArgumentParser(prog="make demo", description="A short story on one machine.")
    told = "offline, bedrock:<id> or openai:<base-url>#<model>"
    parser.add_argument("--model", default="offline", help=told)
    options = parser.parse_args(arguments)
    aws = "tables from template.yaml, IMAP, SMTP, the API"
    print(paint(f"Starting one machine's worth of AWS: {aws} …", "dim"))
    with local_world(model=options.model, prepare=prepare) as world:
        imap, smtp = (f"127.0.0.1:{port}" for port in (world.mail.imap_port, world.mail.smtp_port))
        print(paint(f"API {world.url} · IMAP {imap} · SMTP {smtp}", "dim"))
        world.refresh()
        story = Story(world)
        for chapter in (mail, new_mail, tasks_and_notes):
            chapter(story)
        turns = story.api.get(f"/v1/sessions/{SESSION}")["turns"]
        kept = ", ".join(str(t["turn"]) for t in turns if t["remembered"])
        story.note(f"You can read all {len(turns)} turns; the model remembers {kept}: five slots.")
    told = "The end. `make run` serves the same world; the README says how to deploy it."
    print("\n" + paint(told, "bold"))
    return 0


def mail(story: Story) -> None:
    """Read today's mail, then write to its first sender without naming the address: what leaves
    waits for a yes."""
    heading("1. Mail, in Russian: the next message says “the same address”")
    story.say("покажи письма за сегодня")
    story.say("отправь на тот же адрес «статус по проекту»")
    story.say("да")
    received, address = story.world.mail.received[-1], "sarah@example.com"
    seen = re.search(r'"from": "(<EMAIL_\d+>)", "subject": "Q3 plan"', story.prompt)
    if received.envelope_to != (address,) or not seen or address in story.prompt:
        raise SystemExit(f"the mail went to {received.envelope_to}")
    story.note(
        f"The SMTP server received “{received.subject}” for {address}. The model only ever"
        f" saw {seen.group(1)}."
    )


def new_mail(story: Story) -> None:
    """A minute passes, a message arrives, the schedule notices: the section changes and an alert is
    delivered."""
    heading("2. A minute later: the schedule refreshes the skeleton, an alert arrives")
    message = EmailMessage()
    message["From"], message["To"] = "Sarah Chen <sarah@example.com>", "sarah@work.com"
    message["Subject"] = "Re: статус по проекту"
    message.set_content("Thanks, got it. The review is on Friday at 11:00.")
    before = story.section()
    story.world.mail.deliver("sarah@work.com", message)
    story.world.advance(61)
    story.world.refresh()
    story.note(f"before: {before}")
    story.note(f"after:  {story.section()}")
    alerts = [line for line in story.api.get("/v1/events").splitlines() if '"kind":"alert"' in line]
    for line in alerts:
        story.note("alert:  " + line.removeprefix("data: "))
    if len(alerts) != 1:
        raise SystemExit(f"{len(alerts)} alerts arrived, not one")


def tasks_and_notes(story: Story) -> None:
    """English; a deletion waits for a yes."""
    heading("3. Tasks and notes, in English: a deletion waits for a yes")
    story.say("add a task: send the Q3 budget to finance tomorrow")
    story.say("complete the one I just created")
    story.say('write a note "Lisbon launch: 14 September"')
    story.say("delete that note")
    answer = story.say("yes")
    if [c["fn_name"] for c in answer["calls"]] != ["delete"]:
        raise SystemExit("the confirmed deletion did not run")


def heading(text: str) -> None:
    """A chapter."""
    print("\n" + paint(text, "bold", "magenta"))


if __name__ == "__main__":
    sys.exit(main())
