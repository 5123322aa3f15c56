"""Ctrl-C as a request: it is noticed between two calls, and tears none that is under way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Asked = Callable[[], bool]


@contextmanager
def interrupts() -> Iterator[Asked]:
    """Gives whether Ctrl-C was pressed. Pressed again, it interrupts at once.

    Spark's own handler cancels every job and raises wherever Python is, mostly inside a call to the JVM: a traceback
    is shown before the run is stopped.
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
