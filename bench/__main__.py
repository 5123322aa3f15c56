"""Runs benchmarks by name, all of them without one."""

from __future__ import annotations

import argparse
import importlib
import sys
import time

from bench import BENCHMARKS


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
    for name in asked.names or BENCHMARKS:
        module = importlib.import_module(BENCHMARKS[name])
        if asked.list:
            print(f"{name:16} {module.__doc__.strip().splitlines()[0]}")
        else:
            run(name, module)
    return 0


def run(name: str, module: object) -> None:
    print(f"\n=== {name}: {module.__doc__.strip().splitlines()[0]}", flush=True)
    started = time.perf_counter()
    module.main()
    print(f"=== {name}: {time.perf_counter() - started:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
