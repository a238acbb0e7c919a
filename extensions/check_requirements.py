"""Checks, before the extensions layer is built, that what the extensions require can be installed
together.

All extensions share one set of libraries, and it lies on top of the kernel's own. Two that cannot
agree on a version are named here, with the package and what each of them wants; what their packages
require in turn is pip's to resolve. An extension that imports `imperal_sdk` and requires no version
of it gets the one the kernel is tested with: the name of its requirement is printed, for pip.

    python3 check_requirements.py mail tasks

takes the folders to check, prints what pip has to install, or stops the build. A pin of the SDK
itself is advice: where extensions pin different versions of it, all get the one the kernel is
tested with, and their requirements without the pin are written beside the folders.
"""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

SDK = "imperal-sdk==6.3.7"
CONSTRAINTS = "constraints.txt"
KERNEL = "the kernel"
_SDK_NAME = "imperal-sdk"

_LINE = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#)]*)")
_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*([0-9][0-9A-Za-z.*+!_-]*)")
_IMPORT = re.compile(r"^\s*(?:from|import)\s+imperal_sdk\b", re.MULTILINE)
_CONTINUED = re.compile(r"\\\r?\n")


class Wish(NamedTuple):
    """Who wants which versions of a package: `(operator, version)` clauses, all of which must
    hold."""

    who: str
    clauses: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.who} wants {','.join(o + v for o, v in self.clauses) or 'any'}"


def read(text: str, who: str) -> dict[str, Wish]:
    """The packages of a requirements file; options, addresses and comments say nothing of versions.
    Markers are ignored."""
    found: dict[str, Wish] = {}
    for line in _CONTINUED.sub(" ", text).splitlines():
        if line.strip().startswith(("#", "-")) or " @ " in line or "://" in line:
            continue
        if match := _LINE.match(line):
            name = normal(match[1])
            earlier = found[name].clauses if name in found else ()
            found[name] = Wish(
                who, earlier + tuple(_CLAUSE.findall(match[2].partition("--hash")[0]))
            )
    return found


def normal(name: str) -> str:
    """A package's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def conflicts(files: dict[str, str]) -> list[str]:
    """One sentence for each package on which two files cannot agree."""
    wishes: dict[str, list[Wish]] = {}
    for who, text in files.items():
        for name, wish in read(text, who).items():
            wishes.setdefault(name, []).append(wish)
    return [
        f"{name}: {clash}" for name, wanted in sorted(wishes.items()) if (clash := _clash(wanted))
    ]


def _clash(wanted: list[Wish]) -> str:
    """Those who cannot agree: the first two, or all together where each two could."""
    for i, first in enumerate(wanted):
        for second in wanted[i + 1 :]:
            if not _agree([first, second]):
                return f"{first}, {second}"
    return "" if _agree(wanted) else ", ".join(map(str, wanted))


def _agree(wanted: list[Wish]) -> bool:
    """Whether some version suits all. Tried are the versions they name, the space between, below
    and above them."""
    clauses = [clause for wish in wanted for clause in wish.clauses]
    if not clauses:
        return True
    named = sorted({_key(version) for _, version in clauses})
    between = [(*low, 0, 1) for low, high in pairwise(named) if (*low, 0, 1) < high]
    nexts = [(*key[:-1], key[-1] + 1) for key in named]
    tries = {*named, *between, *nexts, (*named[-1], 1), (0, 0, 1)}
    return any(
        all(_holds(candidate, operator, version) for operator, version in clauses)
        for candidate in tries
    )


def _holds(candidate: tuple[int, ...], operator: str, version: str) -> bool:
    wanted = _key(version)
    prefix = candidate[: len(wanted)] + (0,) * (len(wanted) - len(candidate))
    if version.endswith(".*"):
        return (prefix == wanted) is (operator != "!=")
    a, b = _trim(candidate), _trim(wanted)
    match operator:
        case "==" | "===":
            return a == b
        case "!=":
            return a != b
        case "~=":
            return a >= b and candidate[: len(wanted) - 1] == wanted[:-1]
        case "<=":
            return a <= b
        case ">=":
            return a >= b
        case "<":
            return a < b
        case _:
            return a > b


def _key(version: str) -> tuple[int, ...]:
    """The release numbers; suffixes such as rc1 do not count."""
    return tuple(
        int(n)
        for n in re.findall(
            r"\d+", re.split(r"[A-Za-z+]", version.removesuffix(".*").rpartition("!")[2])[0]
        )
    ) or (0,)


def _trim(key: tuple[int, ...]) -> tuple[int, ...]:
    while key and key[-1] == 0:
        key = key[:-1]
    return key


def additional(folders: list[Path], files: dict[str, str]) -> list[str]:
    """The SDK's requirement, where a folder imports it and nobody requires a version of it."""
    if any(_SDK_NAME in read(text, who) for who, text in files.items()):
        return []
    code = (
        path
        for folder in folders
        for path in folder.rglob("[!.]*.py")
        if "tests" not in path.relative_to(folder).parts
    )
    return [SDK] if any(_IMPORT.search(path.read_text("utf-8", "replace")) for path in code) else []


def advised(files: dict[str, str]) -> dict[str, str]:
    """The files that pin the SDK, less their pins, where these cannot all be had; otherwise
    none."""
    pins = {who: wish for who, text in files.items() if (wish := read(text, who).get(_SDK_NAME))}
    if _agree(list(pins.values())):
        return {}
    print(f"advice not taken: {', '.join(map(str, pins.values()))}; all get {SDK}", file=sys.stderr)
    return {who: _without_sdk(files[who]) for who in pins}


def _without_sdk(text: str) -> str:
    lines = _CONTINUED.sub(" ", text).splitlines()
    kept = [x for x in lines if not ((m := _LINE.match(x)) and normal(m[1]) == _SDK_NAME)]
    return "".join(f"{line}\n" for line in kept)


def requirements(folders: list[Path], changed: dict[str, str]) -> list[str]:
    """pip's arguments: each folder's file, or what stands in for it."""
    arguments = []
    for folder in folders:
        path = folder / "requirements.txt"
        if folder.name in changed:
            path = folder.parent / f".{folder.name}.requirements.txt"
            path.write_text(changed[folder.name], "utf-8")
        if path.exists():
            arguments += ["--requirement", path.as_posix()]
    return arguments


def main(names: list[str]) -> int:
    """Print what pip should install; 1 with a sentence for each conflict."""
    here = Path(__file__).resolve().parent
    folders = [Path(name) for name in names]
    files = {
        f.name: (f / "requirements.txt").read_text("utf-8")
        for f in folders
        if (f / "requirements.txt").exists()
    }
    changed = advised(files)
    files |= changed
    kernel = here / CONSTRAINTS
    found = conflicts(files | ({KERNEL: kernel.read_text("utf-8")} if kernel.exists() else {}))
    if found:
        print(
            "extensions require versions that cannot be installed together:",
            *found,
            sep="\n  ",
            file=sys.stderr,
        )
        return 1
    print(*requirements(folders, changed), *additional(folders, files), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
