"""The prompt: statements over several lines, history, completion; what a statement says comes below it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from rich.console import Console

from slackwater.app.secrets import holds_secret
from slackwater.app.shell.statements import is_complete
from slackwater.app.shell.workbench import Quit, Workbench
from slackwater.errors import SlackwaterError

PROMPT, MORE = "slackwater> ", "        ... "
GREETING = "Statements end with a semicolon. \\help lists the commands, \\quit or Ctrl-D ends."


class NameCompleter(Completer):
    """Completes names of the catalog and words of the language."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        from slackwater.app.shell.completion import complete  # noqa: PLC0415

        length, words = complete(document.text_before_cursor, self.bench.declared.catalog)
        return (Completion(word, start_position=-length) for word in words)


class Remembered(FileHistory):
    """The history of earlier sessions, in a file that only its owner can read; statements with secrets are left out."""

    def store_string(self, string: str) -> None:
        if not holds_secret(string):
            super().store_string(string)


def history_file() -> Path:
    """Return the file of the history, which may not exist yet."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "slackwater" / "history"


def history() -> FileHistory | InMemoryHistory:
    """Return the history of statements: in a file, or in memory if the file cannot be written."""
    file = history_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return Remembered(str(file))


def keys() -> KeyBindings:
    """Return the binding of Enter: it runs a complete statement, and otherwise begins another line."""
    bindings = KeyBindings()

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


def interact(bench: Workbench, **terminal: Any) -> None:
    """Read and execute statements until the user leaves; a mistake loses nothing but its statement."""
    session: PromptSession[str] = PromptSession(
        PROMPT,
        multiline=True,
        prompt_continuation=MORE,
        history=history(),
        completer=NameCompleter(bench),
        complete_while_typing=False,
        key_bindings=keys(),
        **terminal,
    )
    bench.console.print(GREETING, style="dim")
    while True:
        try:
            bench.execute(session.prompt())
        except SlackwaterError as error:
            bench.console.print(str(error), style="red", markup=False, soft_wrap=True)
        except KeyboardInterrupt:
            continue  # at the prompt it clears the line, in a query it has stopped it
        except (EOFError, Quit):
            return


def execute_all(bench: Workbench, text: str) -> int:
    """Execute statements that come from a file or a pipe, up to the first mistake; return the exit code."""
    try:
        bench.execute(text)
    except SlackwaterError as error:
        Console(stderr=True, highlight=False).print(str(error), markup=False, soft_wrap=True)
        return 2
    except Quit:
        pass
    return 0


def is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
