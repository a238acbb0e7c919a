"""What each function takes. The descriptions are what a model reads."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    model_validator,
)

from mail_text import valid_address
from webbee_kernel.sdk import choices, directs, titled
from wording import texts

FOLDERS = ("anywhere", "inbox", "archive", "sent", "trash")
MAX_IDS = 50
MAX_BODY = 20_000


def _line(value: str) -> str:
    if not value.isprintable():
        raise ValueError("must be one line without control characters")
    return value


def _recipient(value: str) -> str:
    if not valid_address(value):
        raise ValueError(
            "must be exactly one e-mail address such as anna@example.com, without a name and on one"
            " line"
        )
    return value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


# Line breaks are refused before the surrounding spaces go: "a@b.example\n" is an injection attempt,
# not a slip.
Line = Annotated[
    str, StringConstraints(max_length=200), AfterValidator(_line), AfterValidator(str.strip)
]
Recipient = Annotated[
    str, StringConstraints(max_length=254), AfterValidator(_recipient), directs("recipient")
]
MessageId = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40), directs("id")
]
Account = Annotated[
    Line,
    directs("name"),
    titled(**texts("label_account")),
    Field(
        description=(
            "Address or number of one of the user's own accounts; empty: all of them, or the first"
            " one to send from."
        )
    ),
]


class ListParams(BaseModel):
    """Which messages of the inbox to list."""

    unread_only: bool = Field(False, description="Only unread messages.")
    today: bool = Field(False, description="Only messages that arrived today.")
    since: date | None = Field(
        None, description="Only messages that arrived on this day or later, YYYY-MM-DD."
    )
    limit: int = Field(
        20, ge=1, le=50, description="How many messages to return at most, newest first."
    )
    account: Account = ""


class SearchParams(BaseModel):
    """What to look for, or a folder to list; all given criteria must hold."""

    text: Line = Field("", description="Words that stand anywhere in the message.")
    sender: Line = Field(
        "",
        description=("Address, or part of the address or name, of the person it came from."),
    )
    subject: Line = Field("", description="Words of the subject line.")
    since: date | None = Field(None, description="Arrived on this day or later, YYYY-MM-DD.")
    unread_only: bool = Field(False, description="Only unread messages.")
    folder: Annotated[
        Literal["anywhere", "inbox", "archive", "sent", "trash"],
        choices(**{name: texts(f"choice_{name}") for name in FOLDERS}),
    ] = Field("anywhere", description="Where to look; anywhere means inbox and archive.")
    limit: int = Field(
        20, ge=1, le=50, description="How many messages to return at most, newest first."
    )
    account: Account = ""

    @model_validator(mode="after")
    def _something(self) -> SearchParams:
        told = (self.text, self.sender, self.subject, self.since, self.unread_only)
        if not any(told) and self.folder == "anywhere":
            raise ValueError(
                "give at least one of text, sender, subject, since, unread_only, or a folder"
            )
        return self


class ReadParams(BaseModel):
    """One message."""

    id: MessageId = Field(description="Id of the message, as listed or found, such as 1-1042-kfxd.")


class SendParams(BaseModel):
    """A new message."""

    to: Recipient = Field(
        description="E-mail address of the recipient.", json_schema_extra={"format": "email"}
    )
    body: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_BODY)
    ] = Field(description="Text of the message, word for word.")
    subject: Line = Field(
        "",
        description="Subject. Empty: the first words of the text.",
    )
    account: Account = ""


class ReplyParams(BaseModel):
    """An answer to a message."""

    id: MessageId = Field(description="Id of the message to answer, as listed or found.")
    body: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_BODY)
    ] = Field(description="Text of the answer, word for word.")


class IdsParams(BaseModel):
    """One or several messages."""

    ids: Annotated[list[MessageId], BeforeValidator(_as_list)] = Field(
        min_length=1, max_length=MAX_IDS, description="Ids of the messages, as listed or found."
    )


class MarkParams(IdsParams):
    """One or several messages, and what they become."""

    read: Annotated[bool, titled(**texts("label_read"))] = Field(
        True, description="False to mark them as unread."
    )
