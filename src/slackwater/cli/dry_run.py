"""`slackwater dry-run`."""

from __future__ import annotations

from rich.console import Console

from slackwater.cli.options import Conf, File, Settings


def dry_run(file: File, settings: Settings = None, conf: Conf = None) -> None:
    """Check everything in FILE that can be checked without running it.

    Checks the text, every name and type, the formats and columns of sources and sinks, and that Spark accepts every
    plan. Lists what it checked; exits with 2 at the first mistake and says what is wrong and where.

        slackwater dry-run traffic.sql
        slackwater dry-run clicks.sql --conf spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0
    """
    from slackwater.app.dry_run import dry_run as check
    from slackwater.app.dry_run import found_doubtful
    from slackwater.app.load import load
    from slackwater.app.options import parse_conf

    console = Console(highlight=False)

    def starting() -> None:
        console.print("the text is right; starting Spark to check sources, sinks and plans ...", style="dim")

    script = load(file, settings or (), parse_conf(conf or ()))
    for line in found_doubtful(script):
        Console(stderr=True, highlight=False).print(f"warning: {line}", style="yellow", markup=False, soft_wrap=True)
    for line in check(script, starting):
        console.print(f"ok  {line}", soft_wrap=True)
