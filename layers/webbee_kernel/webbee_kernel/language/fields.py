"""What the key of a JSON field says of its value, by the words that keys are made of:
English, and the names of currencies' hundredths in any language."""

from __future__ import annotations

import re
from functools import lru_cache

from .currencies import MINOR

_ROLES = {
    "id": "id ids uid uuid guid ref reference no number num code zip zipcode postal port phone tel"
    " iban account sku isbn hash token version cvv cvc pin index",
    "rank": "priority rank position order level row seq sequence",
    "paging": "page pages limit offset cursor take skip per pagesize batch max min",
    "money": "amount amounts price prices cost costs fee fees fare fares balance salary revenue tax"
    " due paid charge subtotal net gross value rent budget deposit credit debit spend spent pledged"
    " raised debt owed bonus income premium wage preis preise betrag kosten miete gebühr gebuehr"
    " precio precios importe coste costo renta cuota saldo prix montant coût cout loyer solde tarif"
    " цена сумма стоимость плата долг аренда",
    "moment": "at ts time date stamp timestamp start end created updated modified expires expiry"
    " year month day hour",
    "total": "total totals count counts all matches results hits found n",
    "rate": "rate ratio percent percentage pct avg average mean score rating temperature temp speed"
    " probability chance likelihood change ma volatility latitude longitude lat lon lng",
    "level": "rating temperature temp ma latitude longitude lat lon lng",
    "minor": MINOR,
}
_ROLE = {role: frozenset(words.split()) for role, words in _ROLES.items()}
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W\d_]+")


@lru_cache(maxsize=4096)
def key_roles(key: str) -> frozenset[str]:
    """The roles of a key: `id`, `rank`, `paging`, `money`, `moment`, `total`, `rate`,
    `level` (of which no sum tells anything), `minor`.

    A key has a role when one of its words does: `page_size` is `paging`, `totalCount` is `total`.
    """
    words = {word.lower() for word in _PARTS.split(key)}
    return frozenset(role for role, known in _ROLE.items() if not known.isdisjoint(words))
