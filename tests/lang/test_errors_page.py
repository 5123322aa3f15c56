"""docs/errors.md says what is really said."""

import re

from tests.lang.errors_page import CHANGELOGS, PAGE, PLANS, SECTIONS, page


def test_the_page_is_true():
    assert PAGE.read_text() == page(), "run python -m tests.lang.errors_page"


def test_every_message_is_complete():
    """Code, place, the line with something underlined, what was expected, what to do."""
    messages = re.findall(r"```text\n(SW-\d{3}: .*?)```", PAGE.read_text(), flags=re.DOTALL)
    count = sum(map(len, SECTIONS.values()))
    assert len(messages) == count + len(PLANS) + len(CHANGELOGS)
    for message in messages[count:]:
        assert re.search(r"\n  expected: .*\n  do: ", message), message
    for message in messages[:count]:
        lines = message.splitlines()
        assert re.fullmatch(r"  at query\.sql:\d+:\d+", lines[1]), message
        assert re.fullmatch(r" +\| *\^+", lines[3]), message
        assert lines[4].startswith("  expected: "), message
        assert lines[5].startswith("  do: "), message
