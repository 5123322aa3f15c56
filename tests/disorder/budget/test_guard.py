"""What the latest rows ask for, worked out by hand."""

import numpy as np

from slackwater.disorder.budget.guard import Guard

NONE = np.zeros(2)
"""The delay that serves otherwise."""


def guard(ages, *lengths):
    made = Guard()
    made.observe(np.stack([ages, ages]).astype(np.int64))
    clock = 0
    for length in lengths:
        made.lasted((clock, clock), (clock + length, clock + length))
        clock += length
    return made


def test_a_share_that_chance_does_not_explain_sets_the_delay():
    # 64 rows at 1%: 0.01 + 3 (sqrt(0.01/64) + 1/64) = 9.4% of them, 48 of the 512 places, lie above the answer.
    few, many = np.zeros(64), np.zeros(64)
    few[-6:], many[-7:] = 1_000, 1_000
    assert guard(few).asks((0.01, 0.01), NONE, cautious=False).tolist() == [0, 0]
    assert guard(many).asks((0.01, 0.01), NONE, cautious=False).tolist() == [1_000, 1_000]


def test_the_next_batch_is_taken_to_last_half_as_long_as_the_shortest():
    # All ages are 1,000, and eight places are spread over half a batch of 160: 5, 15, ... 75. The first lies above
    # 9.4% of all, 48 of the 64 places that it holds.
    ages = np.full(64, 1_000)
    assert guard(ages, 400, 160, 400).asks((0.01, 0.01), NONE, cautious=False).tolist() == [995, 995]
    assert guard(ages).asks((0.01, 0.01), NONE, cautious=False).tolist() == [1_000, 1_000]


def test_who_is_cautious_wants_sixteen_batches():
    ages = np.full(64, 1_000)
    assert guard(ages, *[160] * 15).asks((0.01, 0.01), NONE, cautious=True).tolist() == [1_000, 1_000]
    assert guard(ages, *[160] * 16).asks((0.01, 0.01), NONE, cautious=True).tolist() == [995, 995]


def test_a_short_batch_is_forgotten_after_sixteen_longer_ones():
    ages = np.full(64, 1_000)
    assert guard(ages, 160, *[320] * 15).asks((0.01, 0.01), NONE, cautious=False)[0] == 995
    assert guard(ages, 160, *[320] * 16).asks((0.01, 0.01), NONE, cautious=False)[0] == 990


def test_few_rows_ask_for_nothing():
    assert guard(np.full(31, 1_000)).asks((0.01, 0.01), NONE, cautious=False).tolist() == [0, 0]


def test_each_clock_has_its_own_level():
    # 64 rows at 10%: 0.1 + 3 (sqrt(0.1/64) + 1/64) = 26.5% of them, 17 rows, may be explained by chance.
    many = np.zeros(64)
    many[-7:] = 1_000
    assert guard(many).asks((0.01, 0.1), NONE, cautious=False).tolist() == [1_000, 0]


def test_what_was_asked_for_all_along_is_nothing_new():
    """Four times 1,000 was asked for though 200 served; of what is more, twice that is added to what serves."""
    made, serves = guard(np.full(64, 1_000)), np.array([200.0, 200.0])
    asked = [made.asks((0.01, 0.01), serves, cautious=False).tolist() for _ in range(5)]
    assert asked == [[1_000, 1_000]] * 4 + [[200, 200]]
    made.observe(np.full((2, 64), 1_050))
    assert made.asks((0.01, 0.01), serves, cautious=False).tolist() == [300, 300]
    made.observe(np.full((2, 64), 3_000))
    assert made.asks((0.01, 0.01), serves, cautious=False).tolist() == [3_000, 3_000]


def test_what_is_usual_is_forgotten_after_sixty_four_batches():
    made = guard(np.full(64, 1_000))
    for age in (100, *[1_000] * 63):
        made.observe(np.full((2, 1_024), age))
        made.asks((0.01, 0.01), NONE, cautious=False)
    assert made.asks((0.01, 0.01), NONE, cautious=False).tolist() == [1_000, 1_000]
    assert made.asks((0.01, 0.01), NONE, cautious=False).tolist() == [0, 0]


def test_to_a_steady_stream_nothing_is_new_that_was_asked_for_once():
    """Delays scatter between 1,000 and 1,200: the least of that is what a changing stream is used to."""
    made, serves = guard(np.full(64, 1_000)), np.array([200.0, 200.0])
    for age in [1_000, 1_200] * 8:
        made.observe(np.full((2, 1_024), age))
        made.asks((0.01, 0.01), serves, cautious=False)
    assert made.asks((0.01, 0.01), serves, cautious=False, steady=True).tolist() == [200, 200]
    assert made.asks((0.01, 0.01), serves, cautious=False).tolist() == [600, 600]


def test_the_wait_for_the_end_of_a_batch_is_half_of_it():
    assert guard(np.zeros(1)).wait == 0
    assert guard(np.zeros(1), 100, 300).wait == 100
    assert guard(np.zeros(1), 100, 300).shortest == (100, 100)
