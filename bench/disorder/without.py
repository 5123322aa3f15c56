"""The parts of `budget`: of each, the settings without it."""

from __future__ import annotations

from dataclasses import replace

from slackwater.disorder.budget.settings import DEFAULT, Settings

PARTS: dict[str, Settings] = {
    "recent": replace(DEFAULT, recent=1e-9),
    "latest": replace(DEFAULT, latest=()),
    "account": replace(DEFAULT, strictest=0.0),
    "dips": replace(DEFAULT, dips=False),
    "reserve": replace(DEFAULT, reserve=0.0),
    "caution": replace(DEFAULT, cautious_rows=0.0),
    "start": replace(DEFAULT, start_delays=0.0),
    "quick-rows": replace(DEFAULT, delayed_rows=0),
    "first-rows": replace(DEFAULT, first_rows=0, first_share=0.0),
    "stretch": replace(DEFAULT, stretch=1.0),
    "longest": replace(DEFAULT, longest=1e9),
    "arrival-clock": replace(DEFAULT, quick_share=1e-9, quick_rows=1e-9),
    "seen": replace(DEFAULT, seen_delays=0.0),
    "senders": replace(DEFAULT, sender_rows=1 << 60),
}
