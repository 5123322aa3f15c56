"""A small cluster of processes, one of which is killed: the driver lives, and the answers are the same."""

import psutil
import pytest
from tests.faults.pipelines import answers, arrived, finish, script, spawn, strike, wait_until

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
def test_an_executor_that_is_killed_is_done_without(spark, tmp_path):
    hit, spared = tmp_path / "hit", tmp_path / "spared"
    arrived(tmp_path / "in")
    for folder in (hit, spared):
        folder.mkdir()
        (folder / "in").symlink_to(tmp_path / "in")
    process = spawn(hit, script(hit, [NAME]), "--master", "local-cluster[2,1,1024]")
    wait_until((hit / "check" / NAME / "offsets" / "1").exists, process)
    running = executors(process.pid)
    assert len(running) == 2, (hit / "shown.txt").read_text()
    running[0].kill()
    try:
        process.wait(PATIENCE)
    finally:
        strike(process)
    assert process.returncode == 0, (hit / "shown.txt").read_text()
    assert not running[0].is_running()
    finish(spared, script(spared, [NAME]))
    assert answers(spark, hit, [NAME]) == answers(spark, spared, [NAME]) != {NAME: {}}
