"""Windows that are shorter than their jumps: the rows between are passed over where they wait."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.chains import batch, grouped, kernel, tuples, window

from slackwater.engine.columns.state import State


@pytest.mark.parametrize(("length", "every"), [(1, 2), (3, 10), (9, 10), (10, 10), (25, 10)])
@pytest.mark.parametrize("size", [1, 7, 64])
def test_every_window_holds_the_rows_before_its_instant(length, every, size):
    rng = np.random.default_rng(length + every)
    keys, values = rng.integers(0, 3, 200), rng.integers(0, 50, 200).astype(float)
    fused = kernel(window(tuples(length), tuples(every)), grouped("sum"))
    state, found = fused.init(), []
    for start in range(0, 200, size):
        times = np.arange(start, min(start + size, 200))
        rng.shuffle(times)
        given = batch(keys[times], values[times], times * 1000)
        state, output = fused.step(state, given, (start + size) * 1000)
        found += zip(output.column("k").to_pylist(), output.column("a").to_pylist(), strict=True)
        pieces = {name: state.piece(name) for name in state.names()}
        state = State.read(pieces.__getitem__)
    wanted = []
    for end in range(every, 201, every):
        here = slice(max(0, end - length), end)
        wanted += [(key, values[here][keys[here] == key].sum()) for key in range(3) if key in keys[here]]
    assert found == wanted
