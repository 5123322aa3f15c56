"""Examples that the documents quote figures of: what they print is what the documents say."""

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from tests.docs.blocks import ROOT


def load_example(path: Path):
    """Return a script of examples/ as a module."""
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_the_readme_states_what_bad_clock_prints(spark):
    example = load_example(ROOT / "examples" / "bad_clock.py")
    plain, controlled = example.compare(spark, example.stream())
    readme = (ROOT / "README.md").read_text()
    assert controlled[1] == controlled[2], "every window is answered"
    assert plain[1] < plain[2] / 2
    for name, answers, windows, counted, rows in (plain, controlled):
        stated = re.search(rf"^\| `{re.escape(name)}` \| (.*) \| ([\d.]+)% of (.*) \|$", readme, re.MULTILINE)
        assert (stated[1], stated[3]) == (f"{answers:,} of {windows:,}", f"{rows:,}")
        assert abs(float(stated[2]) - 100 * counted / rows) < 0.3, "a better controller may count a few rows more"
