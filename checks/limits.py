"""The limits `make check` holds the layer to: each a figure and its reason, in one place.

`python -m checks.limits` prints every figure beside its limit and exits 1 when one is missed.
"""

from __future__ import annotations

import ast
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ruff_complexity import complexities

ROOT = Path(__file__).resolve().parents[1]
