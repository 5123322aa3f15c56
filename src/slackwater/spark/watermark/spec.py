"""The specification of a control, as one line of text that its host carries along."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from slackwater.algebra.nodes import Policy


@dataclass(frozen=True, slots=True)
class Spec:
    """The name of a control, its policy, and how its stream is read; `named` if its rows name their senders."""

    control: str
    policy: Policy
    in_arrival_order: bool
    named: bool
    extents: tuple[tuple[int, int], ...] = ()
    """RANGE and SLIDE, in ticks, of the windows that read the stream; none if rows are read by their place."""

    @property
    def text(self) -> str:
        """Return the specification as one line without tabs, which the gauge sends back with its readings.

        >>> spec = Spec("Traffic%20north-0badcafe", Policy(dratio=0.01), in_arrival_order=True, named=False)
        >>> Spec.of(spec.text) == spec
        True
        """
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Spec:
        given = json.loads(text)
        extents = tuple((length, slide) for length, slide in given["extents"])
        return cls(**{**given, "policy": Policy(**given["policy"]), "extents": extents})
