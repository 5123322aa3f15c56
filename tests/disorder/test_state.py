"""State as bytes: what goes in comes out, and nothing else is taken for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.disorder.state import pack, unpack
from slackwater.errors import RunError

whole = st.integers(-(2**63), 2**63 - 1)


@given(
    whole=whole, real=st.floats(allow_nan=False), blob=st.binary(), times=st.lists(whole), reals=st.lists(st.floats())
)
def test_a_record_round_trips(whole, real, blob, times, reals):
    fields = {
        "whole": whole,
        "real": real,
        "blob": blob,
        "times": np.array(times, np.int64),
        "reals": np.array(reals, np.float64),
    }
    found = unpack(pack("record", 3, fields), "record", 3)
    assert found.integer("whole") == whole
    assert found.number("real") == real
    assert found.blob("blob") == blob
    assert found.times("times").tolist() == times
    np.testing.assert_array_equal(found.numbers("reals"), fields["reals"])


def test_what_is_read_back_can_be_written_to():
    found = unpack(pack("record", 1, {"times": np.arange(3)}), "record", 1).times("times")
    found += 1
    assert found.tolist() == [1, 2, 3]


@given(cut=st.integers(0, 400), flipped=st.integers(0, 400))
def test_torn_bytes_are_refused(cut, flipped):
    state = pack("record", 1, {"rows": 1, "times": np.arange(9)})
    wrong = bytearray(state)
    wrong[flipped % len(state)] ^= 0x10
    for torn in (state[: cut % len(state)], bytes(wrong), state + b"\0"):
        with pytest.raises(RunError) as refused:
            unpack(torn, "record", 1)
        assert refused.value.code == "SW-520"


@pytest.mark.parametrize(("kind", "version"), [("other", 1), ("record", 2)])
def test_another_kind_or_version_is_refused(kind, version):
    with pytest.raises(RunError, match="record version 1") as refused:
        unpack(pack("record", 1, {"rows": 1}), kind, version)
    assert refused.value.code == "SW-521"
    assert refused.value.problem.expected == f"{kind} version {version}"


def test_a_missing_field_is_refused():
    with pytest.raises(RunError, match="lacks 'late'"):
        unpack(pack("record", 1, {"rows": 1}), "record", 1).integer("late")
    assert unpack(pack("record", 1, {"rows": 1}), "record", 1).integer("late", 7) == 7
