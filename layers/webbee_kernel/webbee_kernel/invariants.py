"""What always holds, as data: checks, docs and test names come from this table."""

from __future__ import annotations

from typing import NamedTuple


class Invariant(NamedTuple):
    """`limit` is the figure it guards, where there is one; `unit` says of what."""

    id: str
    sentence: str
    limit: int | None = None
    unit: str = ""


_ROWS = (
    Invariant(
        "I-SKELETON-LLM-ONLY",
        "Only @ext.skeleton handlers read the skeleton, and only their own app's.",
    ),
    Invariant(
        "I-SKELETON-STALENESS-ENVELOPE",
        "The block's header says AUTHORITATIVE and STALE, and every section carries its age.",
    ),
    Invariant(
        "I-SKEL-AUTO-DERIVE-1",
        "Sections come from decorators and tool names; no registry row is needed.",
    ),
    Invariant("I-SKEL-FRESHNESS-1", "Every section is refreshed on its own clock."),
    Invariant("I-SKEL-PER-USER-1", "A user's sections never reach another user."),
    Invariant("I-SKEL-SUMMARY-VALUES-1", "Fields starting with an underscore never render."),
    Invariant(
        "I-CACHE-VALUE-SIZE-CAP-64KB",
        "A cached value is at most 65,536 bytes of compact JSON.",
        65_536,
        "bytes",
    ),
    Invariant(
        "I-CACHE-TTL-CAP-300S",
        "A cached value lives 5 to 300 seconds, a whole number.",
        300,
        "seconds",
    ),
    Invariant(
        "I-CACHE-KEY-SAFETY",
        "A cache key is 1 to 128 characters of A-Z a-z 0-9 _ - and colon.",
        128,
        "characters",
    ),
    Invariant(
        "I-DISPATCH-RESULT-DATA-PLUMBED", "The ledger records ActionResult.data, never its summary."
    ),
    Invariant(
        "I-CROSS-TURN-FACT-LEDGER-DEEP-SERIALIZED", "Facts keep nested structures at full depth."
    ),
    Invariant(
        "I-FACT-LEDGER-PER-TURN-AGG-CAP",
        "Facts of one turn, with the arguments kept beside them, take at most 3,000 characters.",
        3_000,
        "characters",
    ),
    Invariant(
        "I-FACT-LEDGER-PII-MASK-DEFAULT-OFF",
        "Personal data reaches a model only where IMPERAL_FACT_LEDGER_EXPOSE_PII says so.",
    ),
    Invariant(
        "I-CLASSIFIER-PROMPT-RENDERS-FACT-LEDGER",
        "A FACTS line stands under every remembered turn for each of its calls.",
    ),
    Invariant(
        "I-NARRATOR-NO-FABRICATED-CONTENT-CLAIMS",
        "No value without a source reaches a user unmarked; one that the data contradicts stands"
        " beside what the data holds.",
    ),
    Invariant(
        "I-EFFECT-RECEIPT",
        "Each call with an effect has one receipt of the kernel's own beside the reply, whatever"
        " the reply says.",
    ),
    Invariant(
        "I-PARAMS-NO-PLACEHOLDER-VALUES", "No placeholder such as <THING> reaches a handler."
    ),
    Invariant("I-AH-1", "No id that the model invented reaches a handler."),
    Invariant("I-EXT-ERROR-CODE-NORMALIZED", "Every failed call carries an error code."),
    Invariant("I-AS-USER-1", "ctx.as_user works in system context only."),
    Invariant("I-LIST-USERS-1", "ctx.store.list_users works in system context only."),
    Invariant(
        "I-SECRETS-NEVER-LOGGED",
        "A secret's value reaches no log, and no error or record that the kernel words.",
    ),
    Invariant("I-SECRETS-USER-SCOPED", "A user's secret is readable for that user and app only."),
    Invariant(
        "I-LONGRUN-HTTP-CAP-180S",
        "An outbound HTTP call takes at most 180 seconds.",
        180,
        "seconds",
    ),
    Invariant(
        "I-HUB-DISPATCH-NO-CYCLE",
        "Calls between extensions neither cycle nor nest deeper than 6.",
        6,
        "calls",
    ),
    Invariant(
        "I-CONSENT-BOUND",
        "Nothing leaves to a destination that the user has not accepted, nothing is destroyed"
        " without a yes to that very thing, whatever a model does.",
    ),
)

INVARIANTS: dict[str, Invariant] = {row.id: row for row in _ROWS}


def limit(invariant_id: str) -> int:
    """The figure an invariant guards."""
    figure = INVARIANTS[invariant_id].limit
    assert figure is not None, invariant_id
    return figure


def breach(invariant_id: str, what: str) -> str:
    """The message of an error: the invariant, its limit and what was met instead."""
    row = INVARIANTS[invariant_id]
    return f"{row.id}: {row.sentence} {what}"
