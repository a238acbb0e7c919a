"""What names of fields and arguments imply: ids and their kind, secrets, destinations, payloads.
Identifiers, mostly English. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from .. import language
from ..text import ELLIPSIS

_ID_NAME = re.compile(r"(?:^|_)(?:id|ids|uid|uuid|guid)_?$|[a-z](?:Id|ID|Ids|IDs)$")
_WORDS = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|[^\W_]+")


def words_of(name: str) -> list[str]:
    """The words of an identifier: `userEmail`, `user_email` → user, email."""
    return [w.lower() for w in _WORDS.findall(name)]


NUMBER_WORDS = frozenset(
    {"id", "number", "no", "nr", "num", "code", "key", "ref", "reference", "index"}
)
"""Words before the number of a record."""


def is_id_name(name: str) -> bool:
    """Whether an argument or field of this name holds an id: `id`, `order_id`, `messageIds`."""
    return bool(_ID_NAME.search(name))


MAX_LABEL, LABEL_TAIL = 120, 40
"""Maximum characters of a label, and of a longer one's end, where two may differ."""


def labels(record: Mapping[str, Any]) -> Iterator[str]:
    """The labels of a record: title, subject, file name."""
    titles = {*language.title_keys(), "filename", "title", "name", "subject", "label"}
    for key, value in record.items():
        if isinstance(value, str) and value and "\n" not in value:
            if titles.intersection(words_of(str(key))) or str(key).casefold() in titles:
                is_long = len(value) > MAX_LABEL
                end = f"{ELLIPSIS}{value[-LABEL_TAIL:]}" if is_long else ""
                yield value[: MAX_LABEL - len(end)] + end


EXCEPT = frozenset({"but", "except"})
EXCLUSIONS = EXCEPT | frozenset("exclude excluded ignore keep skip without".split())
"""Words of names for the records that are left out, which say nothing of their kind."""

FILES = frozenset("attachment attachments file files document documents".split())
"""Names of attachments."""

PAYLOADS = FILES | frozenset(
    "filename filenames doc docs image images photo photos picture media record records item items"
    " path paths folder".split()
)
"""Names of files and records that are sent."""

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
def is_secret_name(name: str) -> bool:
    """Whether a name stands for a secret: `password`, `api_key`, `card_verification_number`."""
    words = words_of(name)
    return not _SECRETS.isdisjoint(words) or any(
        pair in _SECRET_PAIRS for pair in itertools.pairwise(words)
    )


def has_word(name: str, words: frozenset[str]) -> bool:
    """Whether a name contains one of the words in any form: `shared`, `published`."""
    return not _stems(words).isdisjoint(_stems(frozenset(words_of(name))))


@lru_cache(maxsize=256)
def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(language.stem(word, "en") for word in words)


def is_secret_value(name: str) -> bool:
    """Whether the value itself is the secret: `api_key`, not `token_amount`."""
    words = words_of(name)
    return not _SECRETS.isdisjoint(words[-1:]) or tuple(words[-2:]) in _SECRET_PAIRS


def closest(name: str, others: Iterable[str]) -> str:
    """The most similar of the other names, or empty."""
    from difflib import get_close_matches  # only here: an error's

    return next(iter(get_close_matches(name, list(others), 1, 0.5)), "")


LIST_SUFFIX = "[]"
"""Suffix of a field whose value was in a list: `order_ids[]`."""


@lru_cache(maxsize=4096)
def root_of(name: str) -> tuple[str, ...]:
    """The kind that an id's name refers to: `order_ids` → `("order",)`, `id` → `()`."""
    words = words_of(name)
    while words and (words[-1] in NUMBER_WORDS or is_id_name(words[-1])):
        words.pop()
    return tuple(_singular(w) for w in words)


@lru_cache(maxsize=4096)
def may_hold(field: str, argument: str) -> bool:
    """Whether a small number from `field` may be the id for `argument`.

    For `order_id`: `id`, `user_id`, `number`, `order`, `order_number` and items of `orders` may,
    `unread`, `order_count`, `page_number` and a mere `orders` (how many) may not.
    """
    name = field.removesuffix(LIST_SUFFIX)
    root = root_of(name)
    if is_id_name(name) or not root:
        return True
    plural = _singular(words_of(name)[-1]) != words_of(name)[-1]
    return root == root_of(argument) and (not plural or field.endswith(LIST_SUFFIX))


_CONTAINERS = frozenset(
    "item items result results row rows data entry entries record records list hit hits match"
    " matches content contents object objects found value values response output".split()
)
"""Names of containers, which imply no kind."""


def kind_of(name: str, key: str) -> str:
    """The kind of a record, in the singular: by its id's name, else by its key, or empty."""
    words = root_of(name) or tuple(map(_singular, words_of(key)))
    return words[-1] if words and words[-1] not in _CONTAINERS else ""


def same_kind(one: str, other: str) -> bool:
    """Whether two kinds may be equal: `category`, `categorie`; an empty one matches any."""
    if not one or not other or FILES.issuperset((one, other)):
        return True
    kept = max(len(one), len(other)) - _ENDING
    return kept > 0 and one[:kept] == other[:kept]


_ENDING = 2
"""Letters by which the plural of a name may differ from it."""


def is_count(name: str) -> bool:
    """Whether a small number under this name counts: its last word is a plural or `number`."""
    last = words_of(name)[-1:]
    return any(_singular(word) != word or word in ("people", "number") for word in last)


def is_record_number(name: str) -> bool:
    """Whether the name stands for a record's number: `issue_number`, `order_no`."""
    words = words_of(name)
    return len(words) > 1 and words[-1] in NUMBER_WORDS


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


Kind = Literal["recipient", "account", "url", "path", "app", "flag"]
"""The kind of a sink; `app`: an outward effect without destination argument; `flag`: a flag that
makes it outward (`notify_attendees`)."""

MARKERS: Mapping[str, Kind] = {k: k for k in ("recipient", "account", "url", "path")}
FORMATS: Mapping[str, Kind] = {
    **dict.fromkeys(("email", "idn-email", "phone", "tel"), "recipient"),
    **dict.fromkeys(("iban", "bic"), "account"),
    **dict.fromkeys("uri url uri-reference iri iri-reference hostname idn-hostname".split(), "url"),
    **dict.fromkeys(
        (f"ip{v}{kind}" for v in ("v4", "v6") for kind in ("", "interface", "network")), "url"
    ),
    **dict.fromkeys((f"ipvany{kind}" for kind in ("address", "interface", "network")), "url"),
    **dict.fromkeys(("path", "file-path", "directory-path"), "path"),
}
"""Kinds of destination by the author's marker, and by JSON schema's format."""

ANYWHERE, BESIDE, EFFECT, LEAVING, CARRYING = range(5)
"""The categories of calls in which a parameter name is a destination: any call; also reads with a
file or text; effects; sending functions; effects that move their object. Names of one category also
count in the later ones."""

_NAMES: Sequence[tuple[int, Kind, str]] = (
    (ANYWHERE, "recipient", "cc bcc recipient rcpt addressee notify inform deliver audience sms"),
    (ANYWHERE, "recipient", "copyto sendto forwardto fwdto mailto emailto exportto deliverto"),
    (ANYWHERE, "recipient", "reportto resultto resultsto outputto dumpto saveto handto giveto"),
    (ANYWHERE, "recipient", "shareto sharewith sharedwith fax whatsapp destinataire destinatario"),
    (ANYWHERE, "recipient", "destinat\u00e1rio empfaenger empf\u00e4nger kopiean"),
    (ANYWHERE, "url", "webhook callback mirror"),
    (ANYWHERE, "path", "outputpath outputfile outputdir outfile outpath saveas writeto logto dst"),
    (BESIDE, "recipient", "receiver attendee participant invitee guest member collaborator"),
    (BESIDE, "recipient", "email phone mobile tel msisdn address addresses addr subscriber"),
    (BESIDE, "recipient", "assignee reviewer viewers editors watcher principal grantee visibility"),
    (EFFECT, "recipient", "to anyone everyone worldreadable permissions acl grants mentions"),
    (
        EFFECT,
        "recipient",
        "owner owners admin admins readers writers delegate deputy approver trustee",
    ),
    (EFFECT, "recipient", "approvers followers"),
    (EFFECT, "recipient", "cohost contributor moderator allowlist accesslist whitelist"),
    (EFFECT, "account", "iban account bic swift wallet payee beneficiary beneficiaries creditor"),
    (EFFECT, "url", "url urls uri uris href endpoint webhooks host hostname domain website link"),
    (EFFECT, "url", "proxy relay nameserver mailserver"),
    (EFFECT, "path", "path"),
    (LEAVING, "recipient", "target destination dest into"),
    (LEAVING, "url", "remote"),
    (LEAVING, "path", "bucket drive"),
    (CARRYING, "recipient", "user username handle person people contact viewer editor"),
    (CARRYING, "recipient", "friend colleague customer number group team channel room chat thread"),
    (CARRYING, "recipient", "employee staff coworker teammate workspace tenant org organization"),
    (CARRYING, "recipient", "organisation project space guild realm instance network region"),
    (CARRYING, "recipient", "environment community company country city street"),
    (CARRYING, "recipient", "conversation inbox mailbox with who whom peer copy copies"),
    (CARRYING, "account", "card bank"),
    (CARRYING, "url", "site server origin ip feed"),
    (CARRYING, "path", "folder directory dir location printer repo repository"),
)
"""Common destination parameter names by category and kind, also in the plural."""

_SINGULAR = {word: (where, kind) for where, kind, words in _NAMES for word in words.split()}
PLACES: Mapping[str, tuple[int, Kind]] = {
    **{f"{word}s": place for word, place in _SINGULAR.items() if len(word) > 3},
    **_SINGULAR,
}
OPENED = frozenset("page webpage article repo repository stream device gateway".split())
"""Names of a read under which a host is opened."""
ACCOUNTS = frozenset(word for word, place in PLACES.items() if place == (LEAVING, "recipient"))
"""Names under which a long number is an account that something goes to."""
WEAK = frozenset(word for word, (where, _) in PLACES.items() if where >= LEAVING)
_NOWHERE: tuple[int, Kind | None] = CARRYING + 1, None
_NOT_EVERYWHERE = frozenset(word for word, (where, _) in PLACES.items() if where > ANYWHERE)
_OPENED = frozenset(word for word in _NOT_EVERYWHERE if PLACES[word][1] == "url")

SEND = frozenset(
    "send resend forward share invite publish public post broadcast tweet notify email sms reply"
    " announce export upload fax pay donate refund".split()
)
"""Words of function names with an outward effect, even without a destination argument."""

CONTACTS = frozenset("contact customer person friend colleague".split())
"""People of whom an app keeps records: an id of one is a record to change, and a destination only
if the function's name says so."""

OUTWARD_VERBS = frozenset(
    "buy checkout place book bid trade sell withdraw transfer wire dm mail toot retweet rsvp"
    " respond accept decline submit vote call dial grant deploy push approve charge launch settle"
    " authorize authorise".split()
)
"""First words of function names with such an effect; elsewhere they may be nouns."""

DESTROY = frozenset(
    "delete remove destroy purge drop wipe erase trash overwrite replace discard truncate"
    " permanently".split()
)
"""Words of flags, choices and times that destroy something."""

DESTRUCTIVE_VERBS = frozenset("delete purge wipe destroy erase empty truncate shred".split())
"""Verbs of function names that are destructive whatever the declaration."""

FORWARD = frozenset("send resend forward share publish broadcast tweet announce export".split())
"""Verbs that, as a parameter of a read, forward its result."""

SEND_VERBS = FORWARD - {"export"} | {"pay", "donate", "request", "backup"}
"""Verbs that no read's name begins with."""

ENDING_VERBS = frozenset("invite post reply".split())
"""Further ones that it does not end with."""

READ_VERBS = frozenset("get list read find search show fetch view count check lookup".split())

SHARE = frozenset(
    "sent live anyone everyone everybody world anonymous crosspost submit deploy external mention"
    " push visible discoverable editable slack".split()
)
"""Words of flags and choices that give others access."""

PRIVATE = frozenset(
    "private secret draft internal confidential restricted dry hidden unlisted suppress silent only"
    "".split()
)
"""Words of flags that keep it from them, as long as they are set."""

CARRIES = SEND | frozenset(
    "sends mail text message dm transfer wire remit deliver dispatch transmit sync submit grant"
    " give hand delegate call copy mirror assign push withdraw forwarding redirect subscribe"
    " member members backup payout debit watcher watchers follower followers reviewer reviewers"
    " collaborator collaborators participant participants attendee attendees guest guests access"
    " permission permissions sharing privacy".split()
)
"""Words of functions' and parameters' names that carry what they act on somewhere."""

CONTENT = FILES | frozenset(
    "body data payload content contents text message json form headers html markdown fields cookies"
    " note caption".split()
)
"""Names of what is carried along."""

PLAIN_TEXT = frozenset("body text content contents html markdown note caption".split())
"""Names of texts in which a line such as `To: all` is a line like any other."""

FIELDS = frozenset("field key setting property attribute option column path".split())
"""Last words of names whose value is itself a name, of what stands beside it as `value`."""

INCLUDES = frozenset("include attach append embed with original".split())
"""Words of flags that take more along."""

METHODS = frozenset("method then action operation op".split())
"""Last words of names that state what a call does with what it opens or finds."""

INSTRUCTIONS = METHODS | frozenset("command cmd code script rule prompt instructions".split())
"""Last words of names of what a program or person is to do: addresses in it are destinations."""

LOOKUP = frozenset(
    "from by sent sender author creator organizer organiser query q search term terms keyword"
    " keywords filter filters text name value id key".split()
)
"""Names of lookup parameters."""

STATES = frozenset("type kind format status state".split())
"""Last words of names whose value is one of a few."""

PROSE = frozenset(
    "subject body text title label description summary comment signature memo purpose reason remark"
    "".split()
)
"""Last words of names for what is written about or in the thing: `email_subject`."""

ABOUT = STATES.union(
    PROSE,
    "count template language lang notification notifications".split(),
    "preference preferences prefix".split(),
)
"""Last words of names for a property of the thing: `url_title`, `account_type`."""

_ITSELF = frozenset("email emails link links".split())
"""Names that, followed by `id`, are an object of the app."""
_MAYBE_ITSELF = frozenset("account accounts address addresses host url".split())
"""Names that are such an object unless something is sent to it."""


def kind_by_name(name: str, where: int, *, is_read: bool = False) -> Kind | None:
    """The kind of destination that a name implies, or None: `recipient_id`, `member_ids`,
    `notify_user` and `report_to` are destinations, `email_id` and `account_type` are not."""
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
    """The words of a name, last first, then adjacent pairs joined (`webHook`); `to` in the middle
    only if something is sent, so not in `minutes_to_wait`."""
    for word in reversed(words):
        if carries or word != "to" or words[-1] == "to":
            yield word.rstrip("0123456789")
    yield from (a + b for a, b in itertools.pairwise(words))


def _silent(name: str, *, is_read: bool, carries: bool) -> frozenset[str]:
    """The words ignored in a name: the app's objects in an id, those of URLs in a read."""
    if not is_id_name(name):
        return _OPENED if is_read and not carries else frozenset()
    if is_read:
        return _NOT_EVERYWHERE
    return _ITSELF if carries else _ITSELF | _MAYBE_ITSELF
