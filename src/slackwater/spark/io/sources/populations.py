"""The columns of the papers' streams, apart from their times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Columns = dict[str, npt.NDArray[np.generic]]
Population = Callable[[np.random.Generator, npt.NDArray[np.float64], npt.NDArray[np.int64]], Columns]
"""Returns the columns of rows, given a random generator, their event times in seconds and their senders."""

SPECIES = np.array(["cow", "sheep", "goat", "horse"])


def vehicles(rng: np.random.Generator, seconds: npt.NDArray[np.float64], sender: npt.NDArray[np.int64]) -> Columns:
    """Return ADC's and WIN's reports of vehicles on ten road segments, whose usual speed rises and falls."""
    segment = rng.integers(0, 10, len(sender))
    usual = 60.0 + 4.0 * segment + 20.0 * np.sin(2 * np.pi * seconds / 120.0 + segment)
    return {
        "vehID": sender,
        "segment": segment,
        "speed": np.round(np.maximum(rng.normal(usual, 8.0), 0.0), 1),
    }


def sensors(rng: np.random.Generator, seconds: npt.NDArray[np.float64], sender: npt.NDArray[np.int64]) -> Columns:
    """Return ADC-J's reports of sensors, one value each."""
    usual = 20.0 + 5.0 * np.sin(2 * np.pi * seconds / 600.0) + 0.1 * sender
    return {"sensor": sender, "value": np.round(rng.normal(usual, 1.0), 3)}


def pulses(rng: np.random.Generator, seconds: npt.NDArray[np.float64], sender: npt.NDArray[np.int64]) -> Columns:
    """Return CSQL's Pulse(Id, Timestamp): one row per heart beat of an animal."""
    return {"Id": sender}


def body_conditions(
    rng: np.random.Generator, seconds: npt.NDArray[np.float64], sender: npt.NDArray[np.int64]
) -> Columns:
    """Return CSQL's BodyCondition(Id, Species, BTemp, BloodP, Timestamp). One animal in ten has a fever."""
    fever = (sender % 10 == 0) * 1.5
    return {
        "Id": sender,
        "Species": SPECIES[sender % len(SPECIES)],
        "BTemp": np.round(rng.normal(38.5 + fever, 0.4), 1),
        "BloodP": np.round(rng.normal(120.0, 15.0, len(sender))).astype(np.int64),
    }


POPULATIONS: dict[str, tuple[Population, str]] = {
    "vehicles": (vehicles, "vehID int, segment int, speed double"),
    "sensors": (sensors, "sensor int, value double"),
    "pulses": (pulses, "Id int"),
    "body_conditions": (body_conditions, "Id int, Species string, BTemp double, BloodP int"),
}
"""For each name of the option `stream`: the function that makes rows, and their columns without the two times."""
