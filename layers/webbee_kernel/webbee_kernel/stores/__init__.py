"""Where state lives: one protocol per table, one adapter each, on DynamoDB or on tables in dicts.

May import: aws, values, errors, base, sdk.
Entrance: `protocols.Stores`.
"""

from .paging import Collection
from .protocols import Stores

__all__ = ["Collection", "Stores"]
