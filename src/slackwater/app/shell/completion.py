"""Completion of a statement while it is typed: names of the catalog, words of the language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlglot import exp

from slackwater.algebra.aggregates import AGGREGATES
from slackwater.algebra.catalog import TIMESTAMPS, Catalog, StreamDef, ViewDef
from slackwater.algebra.expressions import DIALECT
from slackwater.algebra.lengths import MICROSECONDS
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import PSEUDO_COLUMNS, Field
from slackwater.app.shell.statements import is_open, split_statements
from slackwater.disorder import ESTIMATORS
from slackwater.lang.parsing.syntax import CLAUSES

COMMANDS = ("\\account", "\\drop", "\\help", "\\late", "\\quit", "\\read")
BEGINNINGS = ("CREATE", "DESCRIBE", "EXPLAIN", "INSERT INTO", "SELECT", "SET", "SHOW")
FORMATS = ("console", "csv", "generate", "json", "kafka", "orc", "parquet", "postgres", "rate", "replay")
UNITS = (*(f"{unit.upper()}S" for unit in MICROSECONDS), "TUPLES")
BRACKET_WORDS = (*CLAUSES, "PARTITIONED BY", "WITHIN")
WORDS = ("AS", "AND", "CASE", "DISTINCT", "EMIT CHANGES", "EMIT FINAL", "EXCEPT", "FROM", "GROUP BY", "HAVING", "IN",
         "IS NULL", "JOIN", "NOT", "ON", "OR", "UNION ALL", "WHERE", "WITH SYNC")  # fmt: skip
FUNCTIONS = ("COALESCE(", "COUNT(*)", *(call(this=exp.var("x")).sql(DIALECT).removesuffix("x)") for call in AGGREGATES))
AFTER = {
    "FROM": "sources",
    "JOIN": "sources",
    "INTO": "sinks",
    "DESCRIBE": "names",
    "DROP": "names",
    "USING": "formats",
    "SHOW": "shown",
    "CREATE": "kinds",
    "EXPLAIN": "explained",
    "WATTR": "clocks",
    "BY": "columns",
}
_WORD = re.compile(r"[\w$.]*$")


def complete(text: str, catalog: Catalog) -> tuple[int, list[str]]:
    """Return the number of characters of the word before the cursor, and the words that could replace it.

    >>> from slackwater.algebra.schema import Field
    >>> catalog = Catalog((StreamDef("Traffic", (Field("speed", "double"),)),))
    >>> complete("SELECT * FROM Tr", catalog), complete("SELECT sp", catalog)
    ((2, ['Traffic']), (2, ['speed']))
    """
    ended, statement = split_statements(text)
    if ended and ended[-1].startswith("\\"):
        statement = statement or ended[-1]  # a command has no semicolon: it is still being typed
    if text.lstrip().startswith("\\") and " " not in text.strip():
        return len(text.lstrip()), _beginning(text.strip(), COMMANDS)
    if is_open(statement):
        return 0, []
    begun = _WORD.search(text)
    word = begun[0] if begun else ""
    before = statement[: len(statement) - len(word)] if statement.endswith(word) else ""
    return len(word), _beginning(word, _choices(before, catalog))


def _beginning(word: str, choices: Iterable[str]) -> list[str]:
    found = dict.fromkeys(each for each in choices if each.lower().startswith(word.lower()) and each != word)
    return sorted(found, key=str.lower)


def _choices(before: str, catalog: Catalog) -> Sequence[str]:
    """Return the words that may follow a text whose last word is complete."""
    if not before.strip():
        return BEGINNINGS
    last = re.search(r"([\w$]+)\W*$", before)
    kind = AFTER.get(last[1].upper().lstrip("\\"), "") if last and re.search(r"[\w,\s]$", before) else ""
    in_bracket = before.rfind("[") > before.rfind("]")
    match kind:
        case "sources":
            return [*(each.name for each in catalog.streams), *(each.name for each in catalog.views)]
        case "sinks":
            return [each.name for each in catalog.sinks]
        case "names":
            parts = (catalog.streams, catalog.views, catalog.sinks)
            return [each.name for part in parts for each in part]
        case "formats":
            return sorted(ESTIMATORS) if in_bracket else FORMATS
        case "shown":
            return ("SINKS", "STREAMS", "VIEWS")
        case "kinds":
            return ("SINK", "STREAM", "VIEW")
        case "explained":
            return ("PHYSICAL", "REWRITES", "SELECT")
        case "clocks":
            return _columns(before, catalog, clocks=True)
        case "columns":
            return _columns(before, catalog)
    if in_bracket:
        return UNITS if last and last[1].replace(".", "").isdigit() else BRACKET_WORDS
    return [*_columns(before, catalog), *PSEUDO_COLUMNS, *FUNCTIONS, *WORDS]


def _columns(before: str, catalog: Catalog, *, clocks: bool = False) -> list[str]:
    """Return the columns of the streams and views that a text names, or of all if it names none.

    With `clocks`, only timestamps.
    """
    known: tuple[StreamDef | ViewDef, ...] = (*catalog.streams, *catalog.views)
    words = {each.lower() for each in re.findall(r"\w+", before)}
    named = [each for each in known if each.name.lower() in words] or known
    fields = [field for each in named for field in _fields(each)]
    return [field.name for field in fields if not clocks or field.type in TIMESTAMPS]


def _fields(definition: StreamDef | ViewDef) -> Iterable[Field]:
    return schema_of(definition.query) if isinstance(definition, ViewDef) else definition.fields
