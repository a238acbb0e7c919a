"""Names of fields and arguments: that a value is an id, and of what, a secret, which is shown to
nobody, where to something goes, what leaves and what is carried along. They are identifiers of
programs, English in all but a few. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from .. import language

_ID_NAME = re.compile(r"(?:^|_)(?:id|ids|uid|uuid|guid)_?$|[a-z](?:Id|ID|Ids|IDs)$")
_WORDS = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|[^\W_]+")


def words_of(name: str) -> list[str]:
    """The words of an identifier: `userEmail`, `user_email` → user, email."""
    return [w.lower() for w in _WORDS.findall(name)]


NUMBERED = frozenset(
    {"id", "number", "no", "nr", "num", "code", "key", "ref", "reference", "index"}
)
"""Words behind which the number of a record stands."""


def names_an_id(name: str) -> bool:
    """Whether an argument or field of this name holds an id: `id`, `order_id`, `messageIds`."""
    return bool(_ID_NAME.search(name))


LONGEST_LABEL = 120
"""Characters of what an app calls a thing; what is longer is its text."""


def labels(record: Mapping[str, Any]) -> Iterator[str]:
    """What an app calls the thing that a record describes: its title, subject, file name."""
    titles = {*language.title_keys(), "filename", "title", "name", "subject", "label"}
    for key, value in record.items():
        if isinstance(value, str) and 0 < len(value) <= LONGEST_LABEL and "\n" not in value:
            if titles.intersection(words_of(str(key))) or str(key).casefold() in titles:
                yield value


FILES = frozenset("attachment attachments file files document documents".split())
"""Names of what goes along with a text."""

_SECRETS = frozenset(
    "password passwords passwd pwd pw passphrase passcode secret secrets token pin otp cvv cvc csc"
    " credential credentials authorization cookie apikey".split()
)
_SECRET_PAIRS = frozenset(
    {
        *((kind, "key") for kind in ("api", "access", "private", "secret", "signing")),
        *((kind, what) for kind in ("security", "verification") for what in ("code", "number")),
    }
)


@lru_cache(maxsize=4096)
def names_a_secret(name: str) -> bool:
    """Whether an argument or field of this name holds what is to be shown to nobody: `password`,
    `api_key`, `card_verification_number`."""
    words = words_of(name)
    return not _SECRETS.isdisjoint(words) or any(
        pair in _SECRET_PAIRS for pair in itertools.pairwise(words)
    )


def has_word(name: str, words: frozenset[str]) -> bool:
    """Whether a name has one of the words, in whatever form of it: `shared`, `published`."""
    return not _stems(words).isdisjoint(_stems(frozenset(words_of(name))))


@lru_cache(maxsize=256)
def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(language.stem(word, "en") for word in words)


def ends_in_a_secret(name: str) -> bool:
    """Whether what such a name holds is itself the secret: `api_key`, and not `token_amount`."""
    words = words_of(name)
    return not _SECRETS.isdisjoint(words[-1:]) or tuple(words[-2:]) in _SECRET_PAIRS


def near(name: str, others: Iterable[str]) -> str:
    """The one of the others that the name may be misspelt from or into; empty where none is."""
    from difflib import get_close_matches  # only here: an error's

    return next(iter(get_close_matches(name, list(others), 1, 0.5)), "")


LISTED = "[]"
"""Ends the name of a field whose value stood in a list: `order_ids[]`."""


@lru_cache(maxsize=4096)
def root_of(name: str) -> tuple[str, ...]:
    """Of what a name is the id, in the singular: `order_ids` → `("order",)`, `id` → `()`."""
    words = words_of(name)
    while words and (words[-1] in NUMBERED or names_an_id(words[-1])):
        words.pop()
    return tuple(_singular(w) for w in words)


@lru_cache(maxsize=4096)
def may_hold(field: str, argument: str) -> bool:
    """Whether a small number that stood under `field` may be what `argument` means.

    For `order_id`: `id`, `user_id`, `number`, `order`, `order_number` and items of `orders` may,
    `unread`, `order_count`, `page_number` and a mere `orders` (how many) may not.
    """
    name = field.removesuffix(LISTED)
    root = root_of(name)
    if names_an_id(name) or not root:
        return True
    plural = _singular(words_of(name)[-1]) != words_of(name)[-1]
    return root == root_of(argument) and (not plural or field.endswith(LISTED))


_CONTAINERS = frozenset(
    "item items result results row rows data entry entries record records list hit hits match"
    " matches content contents object objects found value values response output".split()
)
"""Names that say nothing of the kind of what stands in them."""


def kind_of(name: str, key: str) -> str:
    """The kind of a record, in the singular: by the name of its id, else by what it stands under;
    empty where neither says it."""
    words = root_of(name) or tuple(map(_singular, words_of(key)))
    return words[-1] if words and words[-1] not in _CONTAINERS else ""


def same_kind(one: str, other: str) -> bool:
    """Whether two names may be of one kind: `category`, `categorie`; what is empty may be any."""
    if not one or not other or FILES.issuperset((one, other)):
        return True
    kept = max(len(one), len(other)) - _ENDING
    return kept > 0 and one[:kept] == other[:kept]


_ENDING = 2
"""Letters by which the plural of a name may differ from it."""


def is_counted(name: str) -> bool:
    """Whether a small number under this name says how many or which in a row: its last word stands
    for several, or for a number itself."""
    last = words_of(name)[-1:]
    return any(_singular(word) != word or word in ("people", "number") for word in last)


def numbers_a_record(name: str) -> bool:
    """Whether a number under this name is one record's own: `issue_number`, `order_no`."""
    words = words_of(name)
    return len(words) > 1 and words[-1] in NUMBERED


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


Kind = Literal["recipient", "account", "url", "path", "app", "flag"]
"""What a sink is; `app` where an effect goes out and no argument says where to, `flag` where one
that is set says that it does (`notify_attendees`)."""

ANYWHERE, BESIDE, EFFECT, LEAVING, CARRYING = range(5)
"""What a call has to be for the name of a parameter to say where to: any call; a read that takes a
file or a text along, too; an effect; a function whose effect leaves, a read of that kind, too; an
effect that carries what it acts on somewhere. What counts in one counts in those behind it."""

_NAMES: Sequence[tuple[int, Kind, str]] = (
    (ANYWHERE, "recipient", "cc bcc recipient rcpt addressee notify inform deliver audience sms"),
    (ANYWHERE, "recipient", "copyto sendto forwardto fwdto mailto emailto exportto deliverto"),
    (ANYWHERE, "recipient", "reportto resultto resultsto outputto dumpto saveto handto giveto"),
    (ANYWHERE, "recipient", "shareto sharewith sharedwith whatsapp destinataire destinatario"),
    (ANYWHERE, "recipient", "destinat\u00e1rio empfaenger empf\u00e4nger kopiean"),
    (ANYWHERE, "url", "webhook callback mirror"),
    (BESIDE, "recipient", "receiver attendee participant invitee guest member collaborator"),
    (BESIDE, "recipient", "email phone mobile tel msisdn fax address addresses subscriber"),
    (BESIDE, "recipient", "assignee reviewer viewers editors watcher principal grantee visibility"),
    (EFFECT, "recipient", "to anyone everyone worldreadable permissions acl grants mentions"),
    (EFFECT, "recipient", "owners admins readers writers delegates approvers followers"),
    (EFFECT, "account", "iban account bic swift wallet payee beneficiary beneficiaries"),
    (EFFECT, "url", "url urls uri uris href endpoint webhooks host hostname domain website link"),
    (EFFECT, "path", "path"),
    (LEAVING, "recipient", "target destination dest"),
    (CARRYING, "recipient", "user username handle person people contact viewer editor owner"),
    (CARRYING, "recipient", "friend colleague customer number group team channel room chat thread"),
    (CARRYING, "recipient", "conversation inbox mailbox with who whom peer copy copies"),
    (CARRYING, "account", "card bank"),
    (CARRYING, "url", "site server remote origin ip feed"),
    (CARRYING, "path", "folder directory dir bucket drive location printer"),
)
"""The parameter names of the field, with the kind of place that each is, also in the plural."""

_SINGULAR = {word: (where, kind) for where, kind, words in _NAMES for word in words.split()}
PLACES: Mapping[str, tuple[int, Kind]] = {
    **{f"{word}s": place for word, place in _SINGULAR.items() if len(word) > 3},
    **_SINGULAR,
}
WEAK = frozenset(word for word, (where, _) in PLACES.items() if where >= LEAVING)
_NOWHERE: tuple[int, Kind | None] = CARRYING + 1, None
_NOT_EVERYWHERE = frozenset(word for word, (where, _) in PLACES.items() if where > ANYWHERE)
_OPENED = frozenset(word for word in _NOT_EVERYWHERE if PLACES[word][1] == "url")

LEAVES = frozenset(
    "send resend forward share invite publish public post broadcast tweet notify email sms reply"
    " announce export upload fax pay donate".split()
)
"""Words of functions' names whose effect leaves, also where no argument says where to."""

CONTACTS = frozenset("contact customer person friend colleague".split())
"""People of whom an app keeps records: by an id such a record is changed, and nothing is carried
to it unless the function's name says so."""

OUTWARD_VERBS = frozenset(
    "buy checkout place book bid trade sell withdraw transfer wire dm mail toot retweet rsvp"
    " respond accept submit vote call dial grant deploy push".split()
)
"""Verbs that functions' names of such an effect begin with: elsewhere they are things, too."""

DESTROYS = frozenset(
    "delete remove destroy purge drop wipe erase trash overwrite discard permanently".split()
)
"""Words of flags, choices and times that are set by which something is destroyed."""

DESTRUCTIVE_VERBS = frozenset("delete purge wipe destroy erase truncate".split())
"""Verbs of functions' names: whatever an author or a server says that one does, it destroys."""

HANDS_ON = frozenset("send resend forward share publish broadcast tweet announce export".split())
"""Verbs that as a parameter of a read say that what it finds is handed on."""

SENDS = HANDS_ON - {"export"} | {"pay", "donate"}
"""Verbs of functions' names that no read begins with."""

OPENS = frozenset(
    "sent live anyone everyone crosspost submit deploy external mention push visible slack".split()
)
"""Words of flags and of choices by which something is opened to others."""

SHUTS = frozenset(
    "private secret draft internal confidential dry hidden unlisted suppress silent only".split()
)
"""Words of flags that keep it from them, as long as they are set."""

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

PLAIN_TEXT = frozenset("body text content contents html markdown note caption".split())
"""Names of texts in which a line such as `To: all` is a line like any other."""

LOOKED_UP = frozenset(
    "from by sent sender author creator organizer organiser query q search term terms keyword"
    " keywords filter filters text name value id key".split()
)
"""Names by which a read finds something; beside them, those that say where to in an effect."""

ABOUT = frozenset(
    "subject body text title type kind format label status state count template language lang"
    " notification notifications preference preferences prefix signature description summary"
    " comment".split()
)
"""Last words of names that say how, or what of it: `email_subject`, `url_title`."""

_ITSELF = frozenset("email emails link links".split())
"""Names that with an id behind them are a thing of the app's own, whatever is done with it."""
_MAYBE_ITSELF = frozenset("account accounts address addresses host url".split())
"""Those that are one unless it is carried somewhere."""


def kind_by_name(name: str, where: int, *, is_read: bool) -> Kind | None:
    """What a name directs. `email_id` names a mail and `account_type` says how, `recipient_id` and
    `member_ids` are people all the same; `notify_user` and `report_to` say it themselves."""
    words = words_of(name)
    if words[1:] and words[-1] in ABOUT:
        return None
    carries = where == CARRYING or not CARRIES.isdisjoint(words[:-1])
    where = CARRYING if carries or words[:-1][:1] == ["to"] else where
    silent = _silent(name, is_read=is_read, carries=carries)
    for word in _telling(words, carries=carries):
        least, kind = PLACES.get(word, _NOWHERE)
        if least <= where and word not in silent:
            return kind
    return None


def _telling(words: Sequence[str], *, carries: bool) -> Iterator[str]:
    """The words of a name, the last first, then each two as one (`webHook`). A `to` in its middle
    says where to only where something is carried: not in `minutes_to_wait`."""
    for word in reversed(words):
        if carries or word != "to" or words[-1] == "to":
            yield word
    yield from (a + b for a, b in itertools.pairwise(words))


def _silent(name: str, *, is_read: bool, carries: bool) -> frozenset[str]:
    """The words that do not count in a name: of an id those of things of the app's own, of a read
    those of what it opens."""
    if not names_an_id(name):
        return _OPENED if is_read and not carries else frozenset()
    if is_read:
        return _NOT_EVERYWHERE
    return _ITSELF if carries else _ITSELF | _MAYBE_ITSELF
