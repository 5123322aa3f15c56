"""A small cluster of processes, one of which is killed: the driver lives, and the answers are the same."""

import psutil
import pytest
from tests.faults.pipelines import answers, finish, script, spawn, strike, wait_until

NAMES = ("mixed",)
EXECUTOR = "CoarseGrainedExecutorBackend"
PATIENCE = 300


def executors(driver: int) -> list[psutil.Process]:
    """The executors below a driver, oldest first."""
    found = []
    for process in psutil.Process(driver).children(recursive=True):
        try:
            if any(EXECUTOR in word for word in process.cmdline()):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return sorted(found, key=lambda process: process.create_time())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_executor_that_is_killed_is_done_without(spark, tmp_path):
    spared, struck = tmp_path / "spared", tmp_path / "struck"
    for folder in (spared, struck):
        folder.mkdir()
    finish(spared, script(spared, NAMES))
    process = spawn(struck, script(struck, NAMES), "--master", "local-cluster[2,1,1024]")
    wait_until((struck / "check" / "mixed" / "offsets" / "1").exists, process)
    running = executors(process.pid)
    assert len(running) == 2, (struck / "shown.txt").read_text()
    running[0].kill()
    try:
        process.wait(PATIENCE)
    finally:
        strike(process)
    assert process.returncode == 0, (struck / "shown.txt").read_text()
    assert not running[0].is_running()
    assert answers(spark, struck, NAMES) == answers(spark, spared, NAMES)
