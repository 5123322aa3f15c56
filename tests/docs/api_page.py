"""docs/api.md from the docstrings of what `slackwater` exports: `python -m tests.docs.api_page` writes it anew."""
# ruff: noqa: E501 (it holds the text of a page)

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import slackwater as sw
from slackwater.dashboard.session import dashboard

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
INTRODUCTION = """\
# Python API

`import slackwater as sw` imports nothing heavy; Spark is loaded when a function needs it. This page is made from the docstrings, and
its examples are run by a test. In them, `spark` is a `SparkSession` and `F` is `pyspark.sql.functions`.

```python
from pathlib import Path
from tempfile import mkdtemp

import slackwater as sw
from pyspark.sql import functions as F
```
"""
FUNCTIONS = {
    "sw.with_disorder_control": sw.with_disorder_control,
    "sw.accounts": sw.accounts,
    "sw.late": sw.late,
    "sw.sql": sw.sql,
    "sw.stream": sw.stream,
    "sw.scan": sw.scan,
    "sw.explain": sw.explain,
    "sw.run": sw.run,
    "sw.advise": sw.advise,
    "sw.watch": sw.watch,
    "sw.dashboard": dashboard,
    "sw.testing.run_case": sw.testing.run_case,
    "sw.testing.run_cases": sw.testing.run_cases,
}
ERRORS = """\
## sw.SlackwaterError

The root of all errors that Slackwater raises on purpose. `error.code` is stable, such as `SW-201`; `str(error)` has the message, the place,
what was expected and what to do. [Errors](errors.md) lists them.
"""
SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)


def sections_of(function: object) -> dict[str, str]:
    """Return the parts of a numpydoc docstring by their headings; what comes before the first has none."""
    parts = SECTION.split(inspect.getdoc(function) or "")
    return {"": parts[0].strip()} | {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def _fields(text: str) -> Iterator[str]:
    """Yield the entries of a section: a line with a name, then its description, indented."""
    for name, about in re.findall(r"^(\S.*)\n((?:(?:    .*)?\n?)+)", text, re.MULTILINE):
        yield f"| `{name}` | {' '.join(about.split())} |"


def write_function(name: str, function: object) -> str:
    """Return the section of one function."""
    found = sections_of(function)
    lines = [f"## {name}\n", "```text", f"{name}{_signature(function)}", "```\n", found[""] + "\n"]
    if "Parameters" in found:
        lines += ["| parameter | meaning |", "|---|---|", *_fields(found["Parameters"]), ""]
    if "Returns" in found:
        kind, _, about = found["Returns"].partition("\n")
        lines += [f"Returns `{kind}`: {' '.join(about.split())}\n"]
    if "Examples" in found:
        lines += ["```python", found["Examples"], "```\n"]
    return "\n".join(lines)


def _signature(function: object) -> str:
    text = re.sub(r"((?:: |-> ))'([^']*)'", r"\1\2", str(inspect.signature(function)))  # types only, not defaults
    inner, _, result = text[1:].rpartition(") -> ")
    if len(text) < 100:
        return text
    return "(\n    " + ",\n    ".join(re.split(r", (?=[\w*])(?![^\[]*\])", inner)) + f",\n) -> {result}"


def write_page() -> str:
    return "\n".join([INTRODUCTION, *(write_function(*each) for each in FUNCTIONS.items()), ERRORS])


if __name__ == "__main__":
    PAGE.write_text(write_page())
