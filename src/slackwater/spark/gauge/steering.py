"""The controllers of running queries: asked by Spark's driver after each batch for the punctuations.

The answer after a batch is the watermark from then on, and the state of the controllers is in the query's checkpoint
before Spark commits the batch: one that is repeated after a fault finds the state that it found the first time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import ClassVar

from pyspark.sql import SparkSession

from slackwater.algebra.nodes import Policy
from slackwater.errors import SlackwaterError
from slackwater.spark.accounts import control_folder, numbered
from slackwater.spark.gauge.compiled import own_folder
from slackwater.spark.gauge.readings import LISTED, read
from slackwater.spark.punctuate import Account, Controlled
from slackwater.spark.state_files import StateFiles, files_of

ENDED = 8
"""So many queries that have ended can still be asked what they counted."""
BODY = b"\n\n"
END = "end"


@dataclass(frozen=True, slots=True)
class Spec:
    """What is controlled, and how."""

    control: str
    policy: Policy
    in_arrival_order: bool
    named: bool


@dataclass(frozen=True, slots=True)
class Request:
    """What Spark's driver tells of a batch that is to begin, if the run begins with it, or to end: the readings of each
    gauge, by its name."""

    what: str
    query: str
    run: str
    batch: int
    checkpoint: str
    readings: dict[str, list[bytes]]

    @classmethod
    def of(cls, given: bytes) -> Request:
        head, _, body = given.partition(BODY)
        what, query, run, batch, checkpoint, *gauges = head.decode().split("\n")
        readings: dict[str, list[bytes]] = {}
        at = 0
        for name, *sizes in (gauge.split(" ") for gauge in gauges):
            readings[name] = []
            for size in map(int, sizes):
                readings[name].append(body[at : at + size])
                at += size
        return cls(what, query, run, int(batch), checkpoint, readings)


class Control:
    """One controller of a running query, with its state after the last batch."""

    def __init__(self, spec: Spec, files: StateFiles, batch: int) -> None:
        self.spec = spec
        self.files = files
        self.controlled = Controlled(spec.policy, in_arrival_order=spec.in_arrival_order, kept=files.read(batch))
        self.kept = self.controlled.kept()

    def step(self, batch: int, readings: list[bytes]) -> None:
        """Enters what the gauge read in a batch."""
        reading = read(readings, in_arrival_order=self.spec.in_arrival_order)
        before = self.controlled.account
        if self.controlled.enter(reading) != before:
            self.kept = self.controlled.kept()
        self.files.write(batch, self.kept)

    @property
    def answer(self) -> str:
        """The punctuation, and the kind of reading of the next batch."""
        kind = LISTED if self.spec.named else self.controlled.controller.tallies
        return f"{self.controlled.account.punctuation} {kind}"


class Controls:
    """The controllers of all running queries of a session, in the form in which the driver can call them."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self.folder = own_folder()
        self.specs: dict[str, Spec] = {}
        self.runs: dict[str, dict[str, Control]] = {}
        self.queries: dict[str, str] = {}
        self.failures: dict[str, SlackwaterError] = {}
        self.lock = Lock()

    def apply(self, file: str) -> str:
        """The answers to a request in a file, for each gauge of the query in the order of their names."""
        given = Path(file)
        request = Request.of(given.read_bytes())
        given.unlink()
        try:
            return self._answered(request)
        except SlackwaterError as failure:
            self.failures[request.run] = failure
            raise

    def _answered(self, request: Request) -> str:
        with self.lock:
            self._forget(request)
            controls = self.runs.setdefault(request.run, {})
        answers = []
        alike: Counter[str] = Counter()
        for gauge, readings in request.readings.items():
            spec = self.specs[gauge]
            alike[spec.control] += 1
            control = self._control(controls, numbered(spec.control, alike[spec.control]), spec, request)
            if request.what == END:
                control.step(request.batch, readings)
            answers.append(control.answer)
        return " ".join(answers)

    def _control(self, controls: dict[str, Control], name: str, spec: Spec, request: Request) -> Control:
        if name not in controls:
            files, checkpoint = files_of(self.session, request.checkpoint)
            controls[name] = Control(spec, StateFiles(control_folder(checkpoint, name), files), request.batch)
        return controls[name]

    def _forget(self, request: Request) -> None:
        """When a query begins: what its run before knew, and all but the last of those that have ended."""
        if self.queries.get(request.query) == request.run:
            return
        self.runs.pop(self.queries.get(request.query, ""), None)
        self.queries[request.query] = request.run
        active = {str(query.runId) for query in self.session.streams.active}
        for run in [run for run in self.runs if run not in active][:-ENDED]:
            del self.runs[run]

    def accounts(self, run: str) -> dict[str, Account]:
        """What the controls of a run have counted, by their names."""
        with self.lock:
            return {name: each.controlled.account for name, each in self.runs.get(run, {}).items()}

    class Java:
        """What Spark's driver takes this for."""

        implements: ClassVar = ["java.util.function.Function"]
