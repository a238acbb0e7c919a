"""Write or check the hashed locks. `make lock` writes them, `make check` finds a stale one without
network.

A lock is a requirements file with the hash of every artefact and no index address. Its second line
holds the digest of everything it was compiled from: its `.in` file and, through `-r` and `-c`, the
files that one names.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# In this order: each lock constrains the next, so one package has one version everywhere.
LOCKS = {
    HERE / "kernel.in": ROOT / "layers/webbee_kernel/requirements.txt",
    HERE / "local.in": HERE / "local.txt",
    HERE / "mcp.in": ROOT / "layers/mcp/requirements.txt",
    HERE / "dev.in": HERE / "dev.txt",
    HERE / "emulator.in": HERE / "emulator.txt",
    HERE / "sam.in": HERE / "sam.txt",
    HERE / "servers.in": HERE / "servers.txt",
    HERE / "sdk5.in": HERE / "sdk5.txt",
    HERE / "measures.in": HERE / "measures.txt",
    HERE / "mutants.in": HERE / "mutants.txt",
    HERE / "clients.in": HERE / "clients.txt",
    HERE / "peer.in": HERE / "peer.txt",
    HERE / "ministack.in": HERE / "ministack.txt",
    HERE / "model.in": HERE / "model.txt",
}

ALONE = {HERE / "mcp.in", HERE / "sdk5.in", HERE / "measures.in", HERE / "mutants.in"}
"""Locks of named packages only, without what these need: they are laid over an environment that has
it."""

CONSTRAINTS = ROOT / "extensions/constraints.txt"
"""The versions of the kernel's two layers, which what extensions require may not replace: all
layers unpack into one folder."""


def inputs_of(source: Path) -> list[Path]:
    """The source and every file it names by `-r` or `-c`, each once, in order of first mention."""
    found = [source]
    for path in found:
        for name in re.findall(r"^-[rc]\s+(\S+)", path.read_text(), re.MULTILINE):
            named = (path.parent / name).resolve()
            if named not in found:
                found.append(named)
    return found


def digest_of(source: Path) -> str:
    digest = hashlib.sha256()
    for path in inputs_of(source):
        digest.update(path.read_bytes())
    return f"# inputs sha256:{digest.hexdigest()}"


def write(source: Path, lock: Path) -> None:
    """Compile one lock with uv; versions already in it are kept unless UPGRADE is set."""
    upgrade = ["--upgrade"] if os.environ.get("UPGRADE") else []
    command = [
        "uv",
        "pip",
        "compile",
        "--universal",
        "--python-version=3.11",
        "--generate-hashes",
        "--no-header",
        "--quiet",
    ]
    command += [
        "--no-emit-index-url",
        "--no-emit-find-links",
        "--no-config",
        *upgrade,
        *(["--no-deps"] if source in ALONE else []),
    ]
    subprocess.run(
        [*command, "--output-file", str(lock.relative_to(ROOT)), str(source.relative_to(ROOT))],
        cwd=ROOT,
        check=True,
    )
    body = "\n".join(line for line in lock.read_text().splitlines() if not line.startswith("# "))
    lock.write_text(
        f"# Compiled from requirements/{source.name} by `make lock`; do not"
        f" edit.\n{digest_of(source)}\n{body}\n"
    )


def problems(source: Path, lock: Path) -> list[str]:
    """What is wrong with one lock, one sentence each."""
    name = lock.relative_to(ROOT)
    if not lock.exists():
        return [f"{name} is missing: run `make lock`"]
    text = lock.read_text()
    found = []
    if digest_of(source) not in text.splitlines()[:2]:
        found.append(f"{name} is stale, its inputs changed: run `make lock`")
    if "://" in text or re.search(r"^-", text, re.MULTILINE):
        found.append(
            f"{name} holds an address or an option; a lock names packages, versions and hashes only"
        )
    pins = re.findall(r"^([A-Za-z0-9][^\s=]*)==[^\n]*\n(?=\s+(--hash)?)", text, re.MULTILINE)
    unhashed = [package for package, hashed in pins if not hashed]
    if not pins or unhashed:
        found.append(f"{name} has requirements without a hash: {', '.join(unhashed) or 'all'}")
    return found


def constraints() -> str:
    """The text of that file: those locks' pins without hashes."""
    layers = "".join(LOCKS[HERE / name].read_text() for name in ("kernel.in", "mcp.in"))
    pins = re.findall(r"^([A-Za-z0-9][^\s=]*==[^\s;]+)", layers, re.MULTILINE)
    return (
        "# The kernel layers' versions, for pip and check_requirements.py. Written by `make lock`;"
        " do not edit.\n" + "\n".join(pins) + "\n"
    )


def main(arguments: list[str]) -> int:
    if arguments == ["write"]:
        for source, lock in LOCKS.items():
            print(f"locking {lock.relative_to(ROOT)}")
            write(source, lock)
        CONSTRAINTS.write_text(constraints())
    elif arguments != ["check"]:
        print("usage: locks.py check|write", file=sys.stderr)
        return 2
    found = [problem for source, lock in LOCKS.items() for problem in problems(source, lock)]
    if not CONSTRAINTS.exists() or CONSTRAINTS.read_text() != constraints():
        found.append("extensions/constraints.txt is stale: run `make lock`")
    print("\n".join(found) or f"{len(LOCKS)} locks are fresh")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
