"""The controllers of running queries: asked by Spark's driver after each batch for the punctuations.

The answer after a batch is the watermark from then on, and the state of the controllers is in the query's checkpoint
before Spark commits the batch: one that is repeated after a fault finds the state that it found the first time.
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
from slackwater.spark.watermark.accounts import numbered
from slackwater.spark.watermark.punctuate import Account, Controlled
from slackwater.spark.watermark.readings import LISTED, read
from slackwater.spark.watermark.seen import Seen, Sight
from slackwater.spark.watermark.spec import Spec
from slackwater.spark.watermark.state_files import StateFiles

ENDED = 8
"""So many queries that have ended can still be asked what they counted."""
BODY = b"\n\n"
END = "end"


@dataclass(frozen=True, slots=True)
class Request:
    """What Spark's driver tells of a batch that is to begin, if the run begins with it, or to end: of each gauge, in
    the order in which they were made, what it is for and its readings."""

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
        """Enters what the gauge read in a batch."""
        reading = read(readings, in_arrival_order=self.spec.in_arrival_order)
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
        """The account, what was seen in the last batch, and what holds the punctuation where it is now."""
        seen = self.seen.document if self.seen else {}
        return {**asdict(self.controlled.account), **seen, "holds": self.controlled.controller.explain()}

    @property
    def answer(self) -> str:
        """The punctuation, the kind of reading of the next batch, the delay of the watermark, and what goes ahead."""
        kind = LISTED if self.spec.named else self.controlled.controller.tallies
        account = self.controlled.account
        return f"{account.punctuation} {kind} {self.controlled.delay} {account.ahead}"


@dataclass(slots=True)
class Run:
    """What is known of one run of a query: its controllers by their names, and why they failed if they did.

    Only the thread of the query changes it, and never a dictionary that others may be reading.
    """

    query: str
    controls: Mapping[str, Control] = field(default_factory=dict)
    failure: SlackwaterError | None = None

    @property
    def told(self) -> str:
        """What the controls have counted, saw in the last batch, and say about it, as JSON by the name of each."""
        return json.dumps({name: each.document for name, each in self.controls.items() if each.seen})


def watermark_before(request: Request) -> int:
    """Return the watermark of the batch before, by which windows were emitted, as Spark logged it."""
    return watermark_of(locate(request.checkpoint, SparkSession.active()), request.batch - 1)


class Controls:
    """The controllers of all queries of a Spark application, in the form in which its driver can call them.

    Of queries that have ended the last are known: what they counted, and why they failed.
    """

    def __init__(self) -> None:
        self.folder = own_folder()
        self.given: dict[str, Callable[[Spec], Controller]] = {}
        """By the folder of a query's checkpoint: what takes the place of its controllers, in tests."""
        self.runs: dict[str, Run] = {}
        self.lock = Lock()

    def apply(self, file: str) -> str:
        """The answers to a request in a file, for each gauge of the query in the order of their names; then what its
        controls saw, for Spark's own progress."""
        given = Path(file)
        request = Request.of(given.read_bytes())
        given.unlink()
        run = self._run(request)
        try:
            return self._answered(run, request) + BODY.decode() + run.told
        except SlackwaterError as failure:
            run.failure = failure
            raise

    def _answered(self, run: Run, request: Request) -> str:
        answers = []
        alike: Counter[str] = Counter()
        for spec, readings in request.gauges:
            alike[spec.control] += 1
            control = self._control(run, numbered(spec.control, alike[spec.control]), spec, request)
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
        """The run of a request; one that begins takes the place of the run before of its query."""
        with self.lock:
            if request.run not in self.runs:
                running = active_queries(SparkSession.active()) | {request.query}
                others = {run: each for run, each in self.runs.items() if each.query != request.query}
                ended = [run for run, each in others.items() if each.query not in running]
                self.runs = {run: each for run, each in others.items() if run not in ended[:-ENDED]}
                self.runs[request.run] = Run(request.query)
            return self.runs[request.run]

    def accounts(self, run: str) -> dict[str, Account]:
        """What the controls of a run have counted, by their names."""
        found = self.runs.get(run)
        return {name: each.controlled.account for name, each in found.controls.items()} if found else {}

    def dratios(self, run: str) -> dict[str, float | None]:
        """The share of late rows that each control of a run may leave, by its name."""
        found = self.runs.get(run)
        return {name: effective(each.spec.policy).dratio for name, each in found.controls.items()} if found else {}

    def told(self, run: str) -> str:
        """What the controls of a run saw in its last batch, as JSON."""
        found = self.runs.get(run)
        return found.told if found else "{}"

    def failure(self, run: str) -> SlackwaterError | None:
        """Why the controllers of a run failed, if they did."""
        found = self.runs.get(run)
        return found.failure if found else None

    class Java:
        """What Spark's driver takes this for."""

        implements: ClassVar = ["java.util.function.Function"]
