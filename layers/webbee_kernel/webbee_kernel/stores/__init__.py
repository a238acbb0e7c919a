"""Storage adapters, one per table or two, over DynamoDB or in memory.

May import: aws, catalogue, config, language, errors, types, sdk.
Entrance: `protocols.Stores`.
"""

from .paging import Collection
from .protocols import Stores

__all__ = ["Collection", "Stores"]
