"""Follow-ups that point back at what a reply has just shown: asking about each would be a nuisance.

Small stories of our own, after "send it to the same address": a mail is listed, the reply shows its
sender, the user points back. The send is the user's own wish to a place he has seen, so nothing is
asked; a deletion asks once, as every destructive call does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel, Field

from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel

from .drive import NOW, UNLIMITED, Talk
from .planner import Planner
from .wanted import Wanted

SENDER = "sarah.connor@work.example"
INBOX = {"unread": 1, "messages": [{"id": "m-71", "from": SENDER, "subject": "Q3 plan"}]}

SENDS = (
    'send "status of the project" to the same address',
    'отправь на тот же адрес "status of the project"',
    'write "status of the project" to that address',
    'reply to her: "status of the project"',
    'ответь ей: "status of the project"',
    'send the sender "status of the project"',
)
DELETIONS = ("delete that message", "удали это письмо")


class Empty(BaseModel):
    """No arguments."""


class Mail(BaseModel):
    """A mail to send."""

    to: str = Field(description="The recipient's address")
    text: str = Field(description="The text")


class Message(BaseModel):
    """Which message."""

    message_id: str = Field(description="The message's id")


@dataclass(frozen=True)
class Story:
    """One follow-up: whether what it asks for was done, and how many questions that took."""

    message: str
    sends: bool
    done: bool
    questions: int


def play() -> Iterator[Story]:
    """All of them."""
    send = Wanted("post", "send_mail", {"to": SENDER, "text": "status of the project"}, True)
    erase = Wanted("post", "delete_message", {"message_id": "m-71"}, True)
    told = [(text, send) for text in SENDS] + [(text, erase) for text in DELETIONS]
    for text, call in told:
        yield _story(text, Wanted(call.app_id, call.function, call.arguments, has_effect=True))


def _story(text: str, call: Wanted) -> Story:
    planner = Planner([Wanted("post", "list_inbox", {})])
    planner.echo = f"One unread message: Q3 plan, from {SENDER}."
    model = FunctionModel(planner)
    talk = Talk(
        TestKernel([post(planner)], model=model, env=UNLIMITED, now=NOW), lambda _: "user", model
    )
    talk.say("show today's mail")
    planner.user, planner.echo = [call], "That is done."
    talk.say(text)
    return Story(text, call.function == "send_mail", call.ran, len(talk.questions))


def post(planner: Planner) -> Extension:
    """A mailbox; nothing in it is marked, so the kernel goes by names and formats."""
    ext = Extension("post", "1.0.0", display_name="Post", description="The user's mail")
    chat = ChatExtension(ext, description="mail")

    @chat.function("list_inbox", "List the inbox", action_type="read")
    async def list_inbox(ctx: Context, params: Empty) -> ActionResult:
        planner.ran("list_inbox", {}, INBOX, ok=True)
        return ActionResult.success(INBOX, "1 message")

    @chat.function("send_mail", "Send a mail", action_type="write")
    async def send_mail(ctx: Context, params: Mail) -> ActionResult:
        planner.ran("send_mail", params.model_dump(), {"sent": True}, ok=True)
        return ActionResult.success({"sent": True, "to": params.to}, "sent")

    @chat.function("delete_message", "Delete a message", action_type="destructive")
    async def delete_message(ctx: Context, params: Message) -> ActionResult:
        planner.ran("delete_message", params.model_dump(), {"deleted": params.message_id}, ok=True)
        return ActionResult.success({"deleted": params.message_id}, "deleted")

    return ext
