"""Sink names: the parameter and function names of the field that say where to, what leaves, what is
carried along and what is only about it. They are identifiers of programs, English in all but a few.
Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from .field_names import FILES

Kind = Literal["recipient", "account", "url", "path", "app", "flag"]
"""What a sink is; `app` where an effect goes out and no argument says where to, `flag` where one
that is set says that it does (`notify_attendees`)."""

ANYWHERE, BESIDE, EFFECT, LEAVING, CARRYING = range(5)
"""What a call has to be for the name of a parameter to say where to: any call; a read that takes a
file or a text along, too; an effect; a function whose effect leaves, a read of that kind, too; an
effect that carries what it acts on somewhere. What counts in one counts in those behind it."""

_NAMES: Sequence[tuple[int, Kind, str]] = (
    (ANYWHERE, "recipient", "cc bcc recipient recipients notify"),
    (ANYWHERE, "url", "webhook callback mirror"),
    (BESIDE, "recipient", "receiver receivers addressee addressees attendee attendees"),
    (BESIDE, "recipient", "participant participants invitee invitees guest guests audience"),
    (BESIDE, "recipient", "email emails phone phones mobile tel msisdn fax address addresses"),
    (BESIDE, "recipient", "member members collaborator collaborators subscriber subscribers"),
    (BESIDE, "recipient", "assignee assignees reviewer reviewers viewers editors"),
    (BESIDE, "recipient", "principal principals grantee grantees visibility"),
    (EFFECT, "recipient", "to"),
    (EFFECT, "account", "iban account accounts bic swift wallet"),
    (EFFECT, "account", "payee payees beneficiary beneficiaries"),
    (EFFECT, "url", "url urls uri uris href endpoint webhooks host hosts hostname domain"),
    (EFFECT, "url", "website link links"),
    (EFFECT, "path", "path paths"),
    (LEAVING, "recipient", "target targets destination destinations dest"),
    (CARRYING, "recipient", "user users username usernames handle handles person people contact"),
    (CARRYING, "recipient", "contacts viewer editor owner friend friends colleague colleagues"),
    (CARRYING, "recipient", "customer customers number numbers group groups team teams channel"),
    (CARRYING, "recipient", "channels room rooms chat chats thread conversation inbox mailbox"),
    (CARRYING, "recipient", "sms with who whom peer peers copy copies"),
    (CARRYING, "account", "card bank"),
    (CARRYING, "url", "site server remote origin ip feed"),
    (CARRYING, "path", "folder directory dir bucket drive location printer"),
)
"""The parameter names of the field, with the kind of place that each is."""
PLACES: Mapping[str, tuple[int, Kind | None]] = {
    word: (where, kind) for where, kind, words in _NAMES for word in words.split()
}
WEAK = frozenset(word for word, (where, _) in PLACES.items() if where >= LEAVING)
NOWHERE = CARRYING + 1, None
NOT_EVERYWHERE = frozenset(word for word, (where, _) in PLACES.items() if where > ANYWHERE)
OPENED = frozenset(word for word in NOT_EVERYWHERE if PLACES[word][1] == "url")

LEAVES = frozenset(
    "send resend forward share invite publish public post broadcast tweet notify email sms reply"
    " announce export upload fax pay donate".split()
)
"""Words of functions' names whose effect leaves, also where no argument says where to."""

CARRIES = LEAVES | frozenset(
    "sends mail text message dm transfer wire remit deliver dispatch transmit sync submit grant"
    " delegate call copy mirror assign push withdraw forwarding redirect subscribe member members"
    " collaborator collaborators participant participants attendee attendees guest guests access"
    " permission permissions sharing".split()
)
"""Words of functions' and parameters' names that carry what they act on somewhere."""

CONTENT = FILES | frozenset(
    "body data payload content contents text message json form headers html markdown fields cookies"
    " note caption".split()
)
"""Names of what is carried along."""

LOOKED_UP = frozenset(
    "from by sender author creator organizer organiser query q search term terms keyword keywords"
    " filter filters text name value id key".split()
)
"""Names by which a read finds something; beside them, those that say where to in an effect."""

ABOUT = frozenset(
    "subject body text title type kind format label status state count template language lang"
    " notification notifications preference preferences prefix signature description summary"
    " comment".split()
)
"""Last words of names that say how, or what of it: `email_subject`, `url_title`."""

ITSELF = frozenset("email emails link links".split())
"""Names that with an id behind them are a thing of the app's own, whatever is done with it."""
MAYBE_ITSELF = frozenset("account accounts address addresses host url".split())
"""Those that are one unless it is carried somewhere."""
