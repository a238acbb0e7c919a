"""Where state lives: one protocol per table, one implementation on DynamoDB, one in memory.

May import: aws, values, errors, base, sdk.
Entrance: `protocols.Stores`.
"""

from .declared import Collection
from .protocols import Stores

__all__ = ["Collection", "Stores"]
