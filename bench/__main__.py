"""Runs benchmarks by name, all of them without one."""

from __future__ import annotations

import argparse
import importlib
import sys
import time

from bench import BENCHMARKS, BenchmarkRefused


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Run benchmarks, side by side.", allow_abbrev=False
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones; all without a name")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and say what each compares")
    asked, _ = parser.parse_known_args()  # the rest is for the benchmark
    unknown = [name for name in asked.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    refused = []
    for name in asked.names or BENCHMARKS:
        module = importlib.import_module(BENCHMARKS[name])
        if asked.list:
            print(f"{name:16} {module.__doc__.strip().splitlines()[0]}")
        elif not run(name, module):
            refused.append(name)
    if refused:
        print(f"\nNOT RUN: {', '.join(refused)}", file=sys.stderr)
    return 1 if refused else 0


def run(name: str, module: object) -> bool:
    """Run a benchmark; return whether it ran."""
    print(f"\n=== {name}: {module.__doc__.strip().splitlines()[0]}", flush=True)
    started = time.perf_counter()
    try:
        module.main()
    except BenchmarkRefused as reason:
        print(f"=== {name}: NOT RUN: {reason}", file=sys.stderr, flush=True)
        return False
    print(f"=== {name}: {time.perf_counter() - started:.1f} s", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
