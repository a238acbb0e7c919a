"""Shapes of the API's answers, for the OpenAPI document and for whoever reads it. Nothing is
validated against them at run time: routes name them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from webbee_kernel.types import JSONObject


class ErrorBody(TypedDict):
    """What went wrong, for a program (`code`) and a person (`message`). `retry_after` are the
    seconds until a limit (429) is free again."""

    code: str
    message: str
    field: NotRequired[str]
    limit: NotRequired[Any]
    retry_after: NotRequired[int]


class ErrorAnswer(TypedDict):
    """Every answer that is no success. `message` alone comes from API Gateway's own refusals."""

    error: NotRequired[ErrorBody]
    message: NotRequired[str]


class Call(TypedDict):
    """A call that ran in a turn."""

    app_id: str
    fn_name: str
    status: Literal["ok", "error"]
    error_code: NotRequired[str]
    incident: NotRequired[str]
    duration_ms: int
    late: NotRequired[bool]


class PanelName(TypedDict):
    """A panel to fetch again."""

    app_id: str
    panel_id: str


class WaitingCall(TypedDict):
    """A call that waits for the user's yes, with exactly the arguments it will get, less
    passwords. `app` is the app's own name, `title` the function's, `effect` what it does;
    `remember` says that its destinations may be accepted for good."""

    app_id: str
    fn_name: str
    arguments: JSONObject
    fields: list[QuestionField]
    app: NotRequired[str]
    icon: NotRequired[str]
    title: NotRequired[str]
    effect: NotRequired[Literal["read", "opens", "write", "outward", "destructive"]]
    remember: NotRequired[bool]


class Confirmation(TypedDict):
    """What waits, all effects of a turn: answer with `POST /v1/confirmations/{id}` before
    `expires_at` (Unix seconds). One yes runs exactly these calls. `summary` is a line for each,
    `ask` the question that a text ends in, `question` what stands above the fields, `verb` what
    the button says, `language` the tag of the language of all of it."""

    id: str
    expires_at: int
    summary: str
    question: NotRequired[str]
    ask: NotRequired[str]
    verb: NotRequired[str]
    language: NotRequired[str]
    calls: list[WaitingCall]


class SourceSpan(TypedDict):
    """Where a value of the reply comes from.

    `start` and `end` count characters of `reply`. `how` is `verbatim`, `formatted` (a date, a
    rounded amount), `derived` (with its `formula` where there is one) or `message` (the user's own
    words); `call` is the place in `calls`, `path` the field in its result, arguments, summary or
    error.
    """

    start: int
    end: int
    how: Literal["verbatim", "formatted", "derived", "message"]
    call: NotRequired[int]
    path: NotRequired[str]
    formula: NotRequired[str]


class MarkSpan(TypedDict):
    """A stretch of the reply that is not from the data: `start` and `end` count characters of
    `reply`. `reason` is `not_found`, or what contradicts it; `holds` what the data holds instead,
    where it holds something."""

    start: int
    end: int
    reason: Literal["not_found", "other_record", "other_count"]
    holds: NotRequired[str]


class Receipt(TypedDict):
    """What the kernel itself says of a call with an effect, or of one that failed, whatever the
    reply says. `call` is the place in `calls`; `what` names app, function and record, `why` says
    why it failed, or quotes a result that says no; `text` is all of it on one line, in the user's
    language. Those with `status` `failed`, `unknown` or `not_run` belong above the reply. `undo` is
    the call that takes the effect back: sent `below` the turn, it gets a card; `language` is
    that of `text`; `took` is this very call, where it took back what an earlier receipt
    offered."""

    status: Literal["done", "failed", "waiting", "unknown", "running", "not_run"]
    what: str
    text: str
    call: NotRequired[int]
    why: NotRequired[str]
    undo: NotRequired[dict[str, Any]]
    language: NotRequired[str]
    took: NotRequired[dict[str, Any]]


class Work(TypedDict):
    """What a turn did: how many of its calls looked something up, changed something, failed, and
    of how many nobody can say; `text` says it in the user's language."""

    looked_up: int
    changed: int
    failed: int
    unknown: NotRequired[int]
    text: str


class Choice(TypedDict):
    """One of the things that a reply asks to choose from; saying `message`, its label or its number
    picks it."""

    label: str
    message: str


class ChatAnswer(TypedDict):
    """A turn's answer. `confirmation` is the card that waits, all effects on it; `choices` is what
    a "which one?" may be answered with; `ui` is the UI
    tree of the last call that returned one; `receipts` are the kernel's own account of what was
    done, `work` its one line; `sources` say where the values of a reply after calls come from, and
    `sourced` that every value has one; `marks` what of it is not from the data."""

    reply: str
    session_id: str
    turn: int
    status: Literal["ok", "error", "confirmation"]
    calls: list[Call]
    refresh_panels: list[PanelName]
    confirmation: NotRequired[Confirmation]
    choices: NotRequired[list[Choice]]
    receipts: NotRequired[list[Receipt]]
    work: Work
    marks: NotRequired[list[MarkSpan]]
    sources: NotRequired[list[SourceSpan]]
    sourced: NotRequired[bool]
    stopped: NotRequired[bool]
    ui: NotRequired[Any]


class SessionRow(TypedDict):
    """One conversation."""

    session_id: str
    title: str
    touched_at: str
    turns: int


class SessionsAnswer(TypedDict):
    """Most recently touched first; a `cursor` asks for more."""

    sessions: list[SessionRow]
    cursor: str | None


class ToldTurn(TypedDict):
    """A turn as its own user may read it; `remembered` where the model still sees it. `details` are
    what is kept of `calls`, in the same order, `ui` what was drawn, where it was not too large."""

    turn: int
    at: str
    status: Literal["ok", "error", "confirmation"]
    message: str
    reply: str
    request_id: str
    also: NotRequired[list[str]]
    remembered: bool
    calls: NotRequired[list[Call]]
    details: NotRequired[list[CallDetails]]
    ui: NotRequired[Any]
    refresh_panels: NotRequired[list[PanelName]]
    confirmation: NotRequired[Confirmation]
    choices: NotRequired[list[Choice]]


class SessionAnswer(TypedDict):
    """Up to 50 turns and those the model remembers, oldest first; a `cursor` asks for the turns
    before them."""

    session_id: str
    turns: list[ToldTurn]
    cursor: str | None


class Match(TypedDict):
    """A turn in which the words of a search were said, but for those that it `lacks`: `excerpt` is
    cut out of its message or its reply (`where`), `start` and `end` are where the first word stands
    in it, in characters."""

    session_id: str
    title: str
    at: str
    turn: int
    request_id: str
    where: Literal["message", "reply"]
    excerpt: str
    start: int
    end: int
    lacks: list[str]


class SearchAnswer(TypedDict):
    """Matches of the `searched` conversations, most recently touched first; a `cursor` goes on with
    those before them."""

    matches: list[Match]
    searched: int
    cursor: str | None


class DeletedAnswer(TypedDict):
    """What was deleted."""

    deleted: str


class AuditRow(TypedDict):
    """A call made in the caller's name; `message` is what it was made for, where that is kept."""

    at: str
    app_id: str
    fn_name: str
    action_type: str
    status: str
    duration_ms: int
    session_id: str
    request_id: str
    error_code: NotRequired[str]
    message: NotRequired[str]


class AuditAnswer(TypedDict):
    """Newest first; a `cursor` asks for more."""

    records: list[AuditRow]
    cursor: str | None


class AcceptedRow(TypedDict):
    """A destination that the caller has accepted for a function for good."""

    key: str
    app_id: str
    fn_name: str
    destination: str
    at: str


class AcceptedAnswer(TypedDict):
    """The latest first. `destination` is empty where a function goes to its own app's service."""

    accepted: list[AcceptedRow]


class RevokedAnswer(TypedDict):
    """How many are asked about again."""

    revoked: int


class ErasedAnswer(TypedDict):
    """`confirm`: nothing was erased yet, send the word along. `erasing` (202): send it again to go
    on. `counts` says what this request removed, by kind."""

    status: Literal["confirm", "erasing", "erased"]
    counts: dict[str, int]
    confirm: NotRequired[str]


class Caller(TypedDict):
    """Who the token says the caller is."""

    imperal_id: str
    role: str
    language: str
    email: str
    tenant_id: str


class MeAnswer(Caller):
    """The same with the token's scopes."""

    scopes: list[str]


class ExtensionsAnswer(TypedDict):
    """Deployed apps with their functions, sections, panels and declared secrets; `installed` says
    which the caller has, `offers` what can be said to it, by language. Events after `last_event_id`
    are news to who read this. `model` answers: `offline` is the embedded one."""

    caller: Caller
    extensions: list[JSONObject]
    last_event_id: str
    model: str


class HealthAnswer(TypedDict):
    """200 when the tables answer, 503 when not."""

    status: Literal["ok", "degraded"]
    version: str
    model: str
    tables: dict[str, str]
    extensions: dict[str, str]


class CallAnswer(TypedDict):
    """A chat function's result; `confirmation` where its card waits in the conversation."""

    app_id: str
    fn_name: str
    status: Literal["ok", "error", "confirmation"]
    data: NotRequired[Any]
    summary: NotRequired[str]
    error: NotRequired[str]
    error_code: NotRequired[str]
    retryable: bool
    ui: NotRequired[Any]
    duration_ms: int
    problems: NotRequired[list[dict[str, str]]]
    incident: NotRequired[str]
    refresh_panels: list[PanelName]


class PanelAnswer(TypedDict):
    """A panel's UI tree."""

    ui: Any
    panel_id: str


CallOrPanelAnswer = CallAnswer | PanelAnswer


class SecretState(TypedDict):
    """A declared secret; its value is never given out."""

    name: str
    is_set: bool


class SecretsAnswer(TypedDict):
    """The secrets an app declares."""

    secrets: list[JSONObject]


class InstallationAnswer(TypedDict):
    """Whether the caller has the app now."""

    app_id: str
    installed: bool
    purged: NotRequired[Any]


class TicketAnswer(TypedDict):
    """Where to open a WebSocket, once, within `expires_in` seconds (docs/live.md)."""

    url: str
    expires_in: int


class StopAnswer(TypedDict):
    """The wish is noted; what ran is told in the turn's reply."""

    request_id: str
    status: Literal["stopping"]


class WorkingAnswer(TypedDict):
    """202: the turn goes on; its answer arrives as an event of kind `turn` (docs/live.md)."""

    request_id: str
    session_id: str
    status: Literal["working"]


class CallDetails(TypedDict):
    """What a call was given and what it gave, cut to what can be looked at; passwords are
    hidden."""

    arguments: NotRequired[JSONObject]
    data: NotRequired[Any]
    summary: NotRequired[str]
    error: NotRequired[str]


class QuestionField(TypedDict):
    """An argument as a person reads it. `kind` says what it is for him: where the effect goes, the
    record that it is about (`title`: what its id stands for), a text, another value, or a secret,
    whose value is hidden. A text with a `path` may be rewritten with the yes."""

    name: str
    value: Any
    kind: Literal["destination", "record", "text", "value", "secret"]
    title: NotRequired[str]
    path: NotRequired[str]
