"""The controllers of running queries: Spark's driver asks them for the punctuations after each batch.

The answer after a batch is the watermark from then on. The state of the controllers is in the query's checkpoint before
Spark commits the batch, so that a batch that is repeated after a fault begins with the same state.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

from pyspark.sql import SparkSession

from slackwater.algebra.policies import effective
from slackwater.disorder import Controller
from slackwater.errors import SlackwaterError
from slackwater.spark.batches import watermark_of
from slackwater.spark.shim.compiled import own_folder
from slackwater.spark.shim.driver import active_queries
from slackwater.spark.store import locate
from slackwater.spark.watermark.accounts import number_control
from slackwater.spark.watermark.punctuate import Account, Controlled
from slackwater.spark.watermark.readings import LISTED, read_parts
from slackwater.spark.watermark.spec import Spec
from slackwater.spark.watermark.state_files import StateFiles
from slackwater.spark.watermark.statistics import Seen, Sight

ENDED = 8
"""The number of ended queries whose accounts are kept."""
BODY = b"\n\n"
END = "end"


@dataclass(frozen=True, slots=True)
class Request:
    """A request of Spark's driver at the end of a batch, or at the beginning of the first batch of a run.

    It has the specification and the readings of each gauge, in the order in which the gauges were made.
    """

    what: str
    query: str
    run: str
    batch: int
    checkpoint: str
    gauges: list[tuple[Spec, list[bytes]]]

    @classmethod
    def of(cls, given: bytes) -> Request:
        head, _, body = given.partition(BODY)
        what, query, run, batch, checkpoint, *lines = head.decode().split("\n")
        gauges: list[tuple[Spec, list[bytes]]] = []
        at = 0
        for spec, _, sizes in (line.partition("\t") for line in lines):
            gauges.append((Spec.of(spec), []))
            for size in map(int, sizes.split()):
                gauges[-1][1].append(body[at : at + size])
                at += size
        return cls(what, query, run, int(batch), checkpoint, gauges)


class Control:
    """One controller of a running query, with its state after the last batch."""

    def __init__(self, spec: Spec, files: StateFiles, batch: int, controller: Controller | None = None) -> None:
        self.spec = spec
        self.files = files
        self.controlled = Controlled(
            spec.policy, in_arrival_order=spec.in_arrival_order, kept=files.read(batch), controller=controller
        )
        self.kept = self.controlled.kept()
        self.sight = Sight()
        self.seen: Seen | None = None

    def step(self, batch: int, readings: list[bytes]) -> None:
        """Give the readings of a batch to the controller, and write the state after it."""
        reading = read_parts(readings, in_arrival_order=self.spec.in_arrival_order)
        before = self.controlled.account
        after = self.controlled.enter(reading)
        if after != before:
            self.kept = self.controlled.kept()
        controller = self.controlled.controller
        clock = after.clock + after.silence
        self.seen = self.sight.see(reading, before.punctuation, clock, controller.released, controller.skew)
        self.files.write(batch, self.kept)

    @property
    def document(self) -> dict[str, Any]:
        """Return the account, the statistics of the last batch, and why the punctuation is not further ahead."""
        seen = self.seen.document if self.seen else {}
        return {**asdict(self.controlled.account), **seen, "holds": self.controlled.controller.explain()}

    @property
    def answer(self) -> str:
        """Return punctuation, kind of reading for the next batch, the watermark's delay, and `ahead`, as text."""
        kind = LISTED if self.spec.named else self.controlled.controller.tallies
        account = self.controlled.account
        return f"{account.punctuation} {kind} {self.controlled.delay} {account.ahead}"


@dataclass(slots=True)
class Run:
    """One run of a query: its controls by name, and the error if they failed.

    Only the thread of the query changes it. It replaces dictionaries instead of changing them, because other threads
    may be reading them.
    """

    query: str
    controls: Mapping[str, Control] = field(default_factory=dict)
    failure: SlackwaterError | None = None

    @property
    def report(self) -> str:
        """Return the documents of all controls that have seen a batch, as JSON by name."""
        return json.dumps({name: each.document for name, each in self.controls.items() if each.seen})


def watermark_before(request: Request) -> int:
    """Return the watermark of the batch before, by which windows were emitted, as Spark logged it."""
    return watermark_of(locate(request.checkpoint, SparkSession.active()), request.batch - 1)


class Controls:
    """The controllers of all queries of a Spark application, as a Java function that the driver can call.

    The accounts and errors of the last ended queries are kept.
    """

    def __init__(self) -> None:
        self.folder = own_folder()
        self.given: dict[str, Callable[[Spec], Controller]] = {}
        """For the checkpoint of a query, a function that makes its controllers; only tests use it."""
        self.runs: dict[str, Run] = {}
        self.lock = Lock()

    def apply(self, file: str) -> str:
        """Answer a request in a file: return the answer for each gauge, in the order of the request.

        The documents of all controls follow as JSON, for Spark's progress.
        """
        given = Path(file)
        request = Request.of(given.read_bytes())
        given.unlink()
        run = self._run(request)
        try:
            return self._answered(run, request) + BODY.decode() + run.report
        except SlackwaterError as failure:
            run.failure = failure
            raise

    def _answered(self, run: Run, request: Request) -> str:
        answers = []
        alike: Counter[str] = Counter()
        for spec, readings in request.gauges:
            alike[spec.control] += 1
            control = self._control(run, number_control(spec.control, alike[spec.control]), spec, request)
            if request.what == END:
                control.step(request.batch, readings)
            answers.append(control.answer)
        before = 0 if request.what == END else watermark_before(request)
        return " ".join(f"{answer} {before}" for answer in answers)

    def _control(self, run: Run, name: str, spec: Spec, request: Request) -> Control:
        if name not in run.controls:
            checkpoint = locate(request.checkpoint, SparkSession.active())
            give = self.given.get(str(checkpoint))
            made = Control(spec, StateFiles(checkpoint, name), request.batch, give(spec) if give else None)
            run.controls = {**run.controls, name: made}
        return run.controls[name]

    def _run(self, request: Request) -> Run:
        """Return the run of a request. A new run replaces the run before of its query."""
        with self.lock:
            if request.run not in self.runs:
                running = active_queries(SparkSession.active()) | {request.query}
                others = {run: each for run, each in self.runs.items() if each.query != request.query}
                ended = [run for run, each in others.items() if each.query not in running]
                self.runs = {run: each for run, each in others.items() if run not in ended[:-ENDED]}
                self.runs[request.run] = Run(request.query)
            return self.runs[request.run]

    def accounts(self, run: str) -> dict[str, Account]:
        """Return the accounts of a run, by the names of its controls."""
        found = self.runs.get(run)
        return {name: each.controlled.account for name, each in found.controls.items()} if found else {}

    def dratios(self, run: str) -> dict[str, float | None]:
        """Return the share of late rows that each control of a run allows, by name."""
        found = self.runs.get(run)
        return {name: effective(each.spec.policy).dratio for name, each in found.controls.items()} if found else {}

    def report(self, run: str) -> str:
        """Return the accounts and statistics of a run's controls after its last batch, as JSON."""
        found = self.runs.get(run)
        return found.report if found else "{}"

    def failure(self, run: str) -> SlackwaterError | None:
        """Return the error of the controllers of a run, or None."""
        found = self.runs.get(run)
        return found.failure if found else None

    class Java:
        """The Java interface under which the driver calls this object."""

        implements: ClassVar = ["java.util.function.Function"]
