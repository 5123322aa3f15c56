"""A code means one thing, wherever it is raised."""

import re
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "slackwater"
SHARED = {
    "SW-101": "text that does not fit here",
    "SW-102": "nested too deeply",
    "SW-104": "too many parts",
    "SW-110": "a length without a known unit",
    "SW-113": "not a drop ratio",
    "SW-114": "not a number of rows",
    "SW-120": "opened and not closed",
    "SW-121": "outside of brackets",
    "SW-123": "given twice",
    "SW-126": "a plan document of the wrong shape",
    "SW-127": "not an estimator of the language",
    "SW-130": "not a statement that may stand here",
    "SW-140": "SQL that is not supported",
    "SW-201": "no such column, field or source",
    "SW-203": "not a type",
    "SW-206": "two columns of one name",
    "SW-207": "a name that is taken",
    "SW-221": "disorder control away from a stream's entry",
    "SW-222": "not an aggregate",
    "SW-223": "not a time",
    "SW-230": "no final answer",
    "SW-232": "EMIT inside a query",
    "SW-243": "no changelog",
    "SW-352": "not an expression of the fused operator",
    "SW-354": "not an aggregate of the fused operator",
    "SW-363": "no changelog of windows that count rows",
    "SW-401": "no such file",
    "SW-422": "not an estimator of the controller",
    "SW-423": "a drop ratio that an estimator cannot keep",
    "SW-424": "a number of rows that is too small",
    "SW-441": "an option that is missing",
    "SW-445": "a source without the column",
    "SW-581": "a value that does not fit its type",
}
"""What several modules raise, and its one meaning: who adds a module reads whether that is what they mean."""


def raised() -> dict[str, set[str]]:
    """Return the modules that raise each code."""
    found = defaultdict(set)
    for file in SOURCE.rglob("*.py"):
        for code in re.findall(r'"(SW-\d{3})"', file.read_text()):
            found[code].add(str(file.relative_to(SOURCE)))
    return found


def test_a_code_is_raised_by_one_module_or_means_the_same_in_all():
    several = {code: sorted(modules) for code, modules in raised().items() if len(modules) > 1}
    assert {code: modules for code, modules in several.items() if code not in SHARED} == {}
    assert set(SHARED) - set(several) == set()


def test_no_module_of_the_text_shares_a_code_with_one_of_plan_documents():
    modules = raised()
    documents = {code for code, where in modules.items() if any("document" in each for each in where)}
    text = {code for code, where in modules.items() if any(each.startswith("lang/") for each in where)}
    assert documents
    assert documents & text == set()
