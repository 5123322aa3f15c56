"""Ctrl-C is noted and raises nothing; pressed twice it interrupts; afterwards everything is as it was."""

import os
import signal
import threading

import pytest

from slackwater.app.live.interrupts import interrupts


def test_ctrl_c_is_a_request_the_first_time_and_an_order_the_second():
    before = signal.getsignal(signal.SIGINT)
    with interrupts() as asked:
        assert not asked()
        os.kill(os.getpid(), signal.SIGINT)
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_there_is_no_ctrl_c_to_note():
    found = []

    def run() -> None:
        with interrupts() as asked:
            found.append(asked())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [False]
