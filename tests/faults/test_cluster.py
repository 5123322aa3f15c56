"""A small cluster of processes, one of which is killed: the driver lives, and the answers are the same."""

import psutil
import pytest
from tests.faults.pipelines import answers, script, spawn, strike, wait_until

NAME = "mixed"
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
def test_an_executor_that_is_killed_is_done_without(spark, spared, tmp_path):
    process = spawn(tmp_path, script(tmp_path, [NAME]), "--master", "local-cluster[2,1,1024]")
    wait_until((tmp_path / "check" / NAME / "offsets" / "1").exists, process)
    running = executors(process.pid)
    assert len(running) == 2, (tmp_path / "shown.txt").read_text()
    running[0].kill()
    try:
        process.wait(PATIENCE)
    finally:
        strike(process)
    assert process.returncode == 0, (tmp_path / "shown.txt").read_text()
    assert not running[0].is_running()
    assert answers(spark, tmp_path, [NAME]) == {NAME: spared.rows[NAME]}
