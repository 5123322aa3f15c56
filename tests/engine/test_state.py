"""State as bytes: what can be told from them, what is read, and when."""

from __future__ import annotations

import pytest
from tests.engine.chains import batch, grouped, kernel, ticks, window

from slackwater.engine.columns.state import State, pack
from slackwater.errors import RunError


def state_of(rows: int = 10) -> State:
    fused = kernel(window(ticks(100)), grouped("avg"))
    times = list(range(rows))
    return fused.step(fused.init(), batch([1] * rows, [0.5] * rows, times), rows // 2).state


def read(pieces: dict[str, bytes]) -> State:
    return State.read(pieces.__getitem__)


def test_nothing_but_the_head_is_read_until_it_is_needed():
    state, asked = state_of(), []
    pieces = {name: state.piece(name) for name in state.names()}

    def fetch(name: str) -> bytes:
        asked.append(name)
        return pieces[name]

    again = State.read(fetch)
    assert asked == ["head"]
    assert again.names() == state.names()
    assert again.rows == state.rows == 10
    assert asked == ["head"]
    again.piece("hold/0")
    again.piece("hold/0")
    assert asked == ["head", "hold/0"]


@pytest.mark.parametrize("torn", [b"", b"SWk1", b"something else altogether"])
def test_bytes_that_are_no_state_are_refused(torn: bytes):
    with pytest.raises(RunError, match="SW-550"):
        read({"head": torn})


def test_a_flipped_bit_is_found():
    piece = bytearray(state_of().piece("head"))
    piece[-20] ^= 1
    with pytest.raises(RunError, match="torn"):
        read({"head": bytes(piece)})


def test_a_state_of_another_version_is_refused():
    head = state_of()._head()
    about = {**head.schema.metadata, b"version": b"99"}
    with pytest.raises(RunError, match="version 99"):
        read({"head": pack(head.replace_schema_metadata(about))})
