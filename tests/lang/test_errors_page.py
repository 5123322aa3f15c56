"""docs/errors.md says what is really said."""

import re

from tests.lang.errors_page import PAGE, SECTIONS, page


def test_the_page_is_true():
    assert PAGE.read_text() == page(), "run python -m tests.lang.errors_page"


def test_every_message_is_complete():
    """Code, place, the line with something underlined, what was expected, what to do."""
    messages = re.findall(r"```text\n(SW-\d{3}: .*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert len(messages) == sum(map(len, SECTIONS.values()))
    for message in messages:
        lines = message.splitlines()
        assert re.fullmatch(r"  at query\.sql:\d+:\d+", lines[1]), message
        assert re.fullmatch(r" +\| *\^+", lines[3]), message
        assert lines[4].startswith("  expected: "), message
        assert lines[5].startswith("  do: "), message
