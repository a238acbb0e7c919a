"""Where state lives: one store per table or two, each over DynamoDB or over tables in dicts.

May import: aws, catalogue, config, language, errors, types, sdk.
Entrance: `protocols.Stores`.
"""

from .paging import Collection
from .protocols import Stores

__all__ = ["Collection", "Stores"]
