"""Inspector: what the classifier sees, what it does not, and why. Pure: everything is computed from
a `TurnView`.

    explain     the whole report: blocks, apps that failed to load, sections, turns, functions
    sections    per section: raw data, what compression kept and dropped by which rule, age, next
    refresh turns       per remembered turn: calls, guards, grounding, facts with their cuts and
    masks functions   per function: in the catalogue or why not, and how near the message's words
    are search      a value: every channel where it stands, where it was cut or masked, or "never
    written"

The report shows real values beside placeholders, so it is for the session's own user only.
"""

from .explain import explain
from .search import search

__all__ = ["explain", "search"]
