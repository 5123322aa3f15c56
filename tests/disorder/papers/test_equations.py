"""n and the punctuation by the papers' equations, against numbers worked out by hand."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
import pytest

from slackwater.disorder import NO_PUNCTUATION
from slackwater.disorder.estimator import z
from slackwater.disorder.papers.adaptive import Adaptive, largest_n, width
from slackwater.disorder.papers.adhoc import AdHoc
from slackwater.disorder.papers.periodic import Periodic, exact_n, high_rate_n, periodic
from slackwater.disorder.papers.quantile import Quantile
from slackwater.disorder.papers.two_max import TwoMax
from slackwater.errors import InputError


def test_z_is_the_upper_percentile_of_the_papers():
    assert z(0.05) == pytest.approx(1.65, abs=0.006)
    assert z(0.01) == pytest.approx(2.33, abs=0.004)
    assert z(0.6) == 0.0, "a ratio that half of all rows keep needs no room"


@pytest.mark.parametrize("dratio", [0.0, 1.0, -0.1, 7])
def test_a_ratio_without_a_percentile_is_refused(dratio):
    with pytest.raises(InputError) as refused:
        z(dratio)
    assert refused.value.code == "SW-423"


# C = 2.3263^2 = 5.4119. (C + sqrt(C^2 + 8 C s^2)) / 2 with s = sigma / theta:
BY_HAND = [
    (20.0, 68.56),  # (5.4119 + sqrt(29.289 + 17318.1)) / 2 = (5.4119 + 131.710) / 2
    (10.0, 35.71),  # (5.4119 + sqrt(29.289 + 4329.5)) / 2 = (5.4119 + 66.021) / 2
    (1000.0, 3292.66),  # (5.4119 + 6579.91) / 2
]


@pytest.mark.parametrize(("ratio", "n"), BY_HAND)
def test_equation_11_by_hand(ratio, n):
    assert exact_n(z(0.01), ratio, 1.0) == pytest.approx(n, abs=0.01)
    assert exact_n(z(0.01), ratio * 1e-3, 1e-3) == pytest.approx(n, abs=0.01), "free of scale"


def test_equation_11_gives_at_least_30():
    assert exact_n(z(0.01), 1.0, 1.0) == 30  # 6.97 by the formula
    assert exact_n(z(0.01), 0.0, 1.0) == 30
    assert exact_n(z(0.01), 0.0, 0.0) == 30


@pytest.mark.parametrize("dratio", [0.15, 0.05, 0.01, 0.001])
@pytest.mark.parametrize("ratio", [0.3, 1.0, 7.7, 100.0, 12_345.6])
def test_inequality_7_and_equation_11_agree(dratio, ratio):
    c = z(dratio) ** 2
    n = largest_n(c, ratio, 1.0)
    assert n**2 - c * n - 2 * c * ratio**2 < 0
    assert (n + 1) ** 2 - c * (n + 1) - 2 * c * ratio**2 >= 0
    if n >= 30:
        assert n == ceil(exact_n(z(dratio), ratio, 1.0)) - 1


@pytest.mark.parametrize("dratio", [0.05, 0.01, 0.005, 0.001])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 101), (0.5, 1_000), (5.0, 10_000)])
def test_equation_12_is_within_5_per_cent_of_11_above_100_rows_a_second(dratio, sigma, rate):
    exact = exact_n(z(dratio), sigma, 1 / rate)
    assert high_rate_n(z(dratio), sigma, rate) == pytest.approx(exact, rel=0.05)


def test_equation_12_is_off_where_rows_are_few():
    assert abs(high_rate_n(z(0.01), 1.0, 10) / exact_n(z(0.01), 1.0, 0.1) - 1) > 0.05


def test_the_region_has_a_limit_where_rows_come_at_one_instant():
    c = z(0.01) ** 2
    assert largest_n(c, 3.0, 0.0) == float("inf")
    assert width(float("inf"), c, 3.0, 0.0) == pytest.approx(sqrt(2) * 2.3263 * 3.0, rel=1e-4)
    assert width(largest_n(c, 3.0, 1e-6), c, 3.0, 1e-6) == pytest.approx(sqrt(2) * 2.3263 * 3.0, rel=1e-4)


def test_equation_8_by_hand():
    """30 rows a second apart, delays 100 and 300 by turns: mu 200, sigma 100, theta 29/30.

    s = 103.45, n: (5.4119 + sqrt(29.29 + 43.295 * 10701.5)) / 2 = 343.06, so 343; 343 * 29 / 30 = 331.57;
    the punctuation is 1029 - 200 - 331.57 = 497.43.
    """
    arrival = np.arange(1_000, 1_030)
    delay = np.where(np.arange(30) % 2, 300, 100)
    adaptive = Adaptive(0.01, unit="s")
    assert adaptive.observe((arrival - delay)[:29], arrival[:29]) == NO_PUNCTUATION, "VSeq is not ready"
    assert adaptive.observe((arrival - delay)[29:], arrival[29:]) == 497
    assert adaptive.n == 343, "VSeq grew"


def test_vseq_grows_waits_and_shrinks():
    adaptive = Adaptive(0.01, unit="s")
    clock = np.arange(2_000)
    wild = clock - np.where(np.arange(2_000) % 2, 300, 100)
    first = adaptive.observe(wild[:30], clock[:30])
    assert adaptive.n == 343
    assert adaptive.observe(wild[30:342], clock[30:342]) == first, "not ready until it is filled"
    second = adaptive.observe(wild[342:343], clock[342:343])
    assert second > first
    steady = clock - 200
    adaptive.observe(steady[343:686], clock[343:686])
    assert adaptive.n == 30, "no variance: the least size"
    assert adaptive.observe(steady[686:700], clock[686:700]) == 699 - 200 - 29, "30 theta, theta = 29/30"


def test_adhoc_by_hand():
    """Timestamps 0, 10, ..., 290: mu 145, sigma 86.55; 145 - 86.55 + 0.02 * 86.55 = 60.18."""
    stamps = np.arange(0, 300, 10)
    assert AdHoc(0.01, unit="s").observe(stamps, stamps) == 60


def test_two_max_by_hand():
    """Delays 10, then 4 rows of 2: m1 10; after W = 4 rows m = (10 + 2) / 2 = 6; after 4 more (6 + 2) / 2 = 4."""
    two_max = TwoMax(window=4, unit="s")
    clock = np.arange(100, 112)
    event = clock - np.array([10, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 9])
    seen = [two_max.observe(event[i : i + 1], clock[i : i + 1]) for i in range(12)]
    assert seen[3] == 103 - 10
    assert seen[4] == 104 - 6
    assert seen[8] == 108 - 4
    assert seen[10] == 110 - 4
    assert seen[11] == seen[10], "m rises to 9 at once: 111 - 9 is before what was promised"


def test_two_max_takes_the_rows_of_a_second_for_w():
    clock = np.arange(0, 30_000_000, 100)  # 10,000 rows a second
    two_max = TwoMax(unit="us")
    event = clock - np.where(np.arange(len(clock)) == 20_000, 8_000, 2_000)
    two_max.observe(event[:29_000], clock[:29_000])
    assert two_max.observe(event[29_000:30_000], clock[29_000:30_000]) == clock[29_999] - 8_000
    assert two_max.observe(event[30_000:30_002], clock[30_000:30_002]) == clock[30_001] - 5_000


def test_quantile_by_hand():
    """250 rows, 5 of them 99 behind the row before: at D = 2% these 5 may be late, at D = 1.9% only 4 may."""
    event = np.arange(1_000, 1_250)
    event[[50, 90, 130, 170, 210]] -= 100
    assert Quantile(0.02).observe(event, event) == 1_249
    assert Quantile(0.019).observe(event, event) == 1_249 - 99


def test_quantile_forgets_what_is_more_than_4096_rows_ago():
    event = np.arange(5_000)
    event[903] = 0
    assert Quantile(0.0001).observe(event[:4_999], event[:4_999]) == 4_998 - 902
    assert Quantile(0.0001).observe(event, event) == 4_999


def test_periodic_hands_over_to_two_max_at_a_tenth_of_a_per_cent():
    assert isinstance(periodic(0.001), TwoMax)
    assert isinstance(periodic(0.0011), Periodic)
    assert isinstance(periodic(0.001, handover=0.0), Periodic)


@pytest.mark.parametrize("reservoir", [False, True])
def test_periodic_estimates_n_from_its_sample(reservoir):
    """10,000 rows a second, sigma 0.5 s, D = 1%: n = sqrt(2) * 2.3263 * 0.5 * 10,000 = 16,449."""
    rng = np.random.default_rng(3)
    clock = np.arange(0, 5_000_000, 100)
    delay = rng.normal(2_000_000, 500_000, len(clock)).astype(np.int64)
    estimator = Periodic(0.01, m=200, reservoir=reservoir)
    for start in range(0, len(clock), 500):
        estimator.observe((clock - delay)[start : start + 500], clock[start : start + 500])
    assert estimator.n == pytest.approx(16_449, rel=0.05)


def alternating(rows, gap, sigma):
    """Return rows ``gap`` apart whose delays are 0 and 2 sigma by turns, in microseconds."""
    arrival = np.arange(rows) * gap
    return arrival - 2 * sigma * (np.arange(rows) % 2), arrival


def test_periodic_uses_equation_12_above_100_rows_a_second_and_11_below():
    """sigma 0.1 s, 1,000 rows/s: 12 gives 328.99 (11: 331.7). sigma 1 s, 50 rows/s: 11 gives 167.2 (12: 164.5)."""
    for gap, sigma, n in ((1_000, 100_000, 329), (20_000, 1_000_000, 168)):
        estimator = Periodic(0.01, p_s=1, m=1_000)
        estimator.observe(*alternating(1_000, gap, sigma))
        assert estimator.n == n


def test_periodic_estimates_after_every_p_e_rows_or_a_second():
    event, arrival = alternating(1_000, 100, 50_000)
    fast = Periodic(0.01, p_s=1, m=1_000)
    fast.observe(event, arrival)
    before = fast.n
    later = arrival + 100_000
    fast.observe(later[:999], later[:999])
    assert fast.n == before, "0.1 s and 999 rows later"
    fast.observe(later[999:], later[999:])
    assert fast.n < before, "the 1,000th row without a delay"
    event, arrival = alternating(1_000, 10_000, 500_000)
    slow = Periodic(0.01, p_s=1, m=1_000)
    slow.observe(event, arrival)
    before = slow.n
    slow.observe(arrival[-99:] + 990_000, arrival[-99:] + 990_000)
    assert slow.n == before, "not yet a second later"
    slow.observe(arrival[-99:] + 1_000_000, arrival[-99:] + 1_000_000)
    assert slow.n != before


def test_periodic_keeps_the_latest_n_rows():
    """In order, no variance: n = 30, so the heartbeat is the 30th latest timestamp."""
    clock = np.arange(5_000)
    estimator = Periodic(0.01, unit="s")
    assert estimator.observe(clock[:990], clock[:990]) == NO_PUNCTUATION, "99 samples of 100"
    assert estimator.observe(clock[990:3_000], clock[990:3_000]) == 2_970


def test_periodic_refuses_a_sample_smaller_than_its_period():
    with pytest.raises(InputError) as refused:
        Periodic(0.01, p_e=1_000, p_s=1, m=999)
    assert refused.value.code == "SW-429"
