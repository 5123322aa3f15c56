"""Completion of the command line: in bash as a person uses it, in zsh and fish by what they ask the program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("slackwater")


def ask(**environment: str) -> str:
    done = subprocess.run([COMMAND], env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return done.stdout


def test_bash_completes_a_command_an_option_and_a_file(tmp_path):
    (tmp_path / "completion").write_text(ask(_SLACKWATER_COMPLETE="source_bash"))
    script = f"""
        source {tmp_path / "completion"}
        for line in 'slackwater ex' 'slackwater run --av'; do
            COMP_WORDS=($line); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
            _slackwater_completion {COMMAND}
            echo "${{COMPREPLY[@]}}"
        done
        complete -p slackwater"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    command, option, rule = done.stdout.splitlines()
    assert (command, option) == ("explain", "--available-now")
    assert "-o default" in rule, "where the program has no answer, bash completes files"


@pytest.mark.parametrize(
    ("shell", "more"), [("zsh", {}), ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"})], ids=["zsh", "fish"]
)
def test_other_shells_are_answered(shell, more):
    script = ask(_SLACKWATER_COMPLETE=f"source_{shell}")
    assert f"_SLACKWATER_COMPLETE=complete_{shell}" in script
    assert "explain" in ask(_SLACKWATER_COMPLETE=f"complete_{shell}", _TYPER_COMPLETE_ARGS="slackwater ex", **more)
