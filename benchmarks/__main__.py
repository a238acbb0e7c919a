"""`make bench`: every measurement in one run, each against its bar; ratios come from runs
interleaved on this machine."""

from __future__ import annotations

import importlib
import sys

PARTS = {
    "turns": "Cost of a turn, its work, and how that grows with a result",
    "beside": "Ours, Strands Agents and bare boto3, side by side over TLS",
    "cost": "What a deployment costs",
    "cold_start": "Cold import of each function",
}


def main(arguments: list[str]) -> int:
    """Run all parts, or those named; 1 when a bar is missed."""
    if unknown := set(arguments) - PARTS.keys():
        print(
            f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}",
            file=sys.stderr,
        )
        return 2
    missed = []
    for part in arguments or PARTS:
        print(f"\n== {PARTS[part]}\n", flush=True)
        if importlib.import_module(f"benchmarks.{part}").main():
            missed.append(part)
    print(f"\nbars missed: {', '.join(missed)}" if missed else "\nall bars held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
