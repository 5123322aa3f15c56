"""Ctrl-C as a request to stop: it is noticed between two calls, and interrupts none of them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Asked = Callable[[], bool]


@contextmanager
def interrupts() -> Iterator[Asked]:
    """Yield a function that returns whether Ctrl-C was pressed. A second Ctrl-C raises KeyboardInterrupt at once.

    This replaces the handler of Spark, which cancels every job and raises wherever Python is, mostly inside a call
    to the JVM, so that the user would see a traceback before the run stops.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def note(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
