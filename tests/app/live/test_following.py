"""Queries of a session that are no pipelines, followed from outside."""

from time import monotonic, sleep

from pyspark.sql import functions as F  # noqa: N812

import slackwater as sw
from slackwater.app.live.following import Following
from slackwater.app.live.notebook import watch
from slackwater.app.monitor.board import Board


def test_a_query_over_dataframes_is_followed_with_its_account_its_delays_and_its_end(spark, capsys):
    rows = spark.readStream.format("rate").option("rowsPerSecond", 200).load()
    sent = rows.select(
        (F.col("timestamp").cast("double") - F.col("value") % 5 / 10).cast("timestamp").alias("ts"),
        F.col("timestamp").alias("received"),
    )
    controlled = sw.with_disorder_control(sent, "ts", "2%", arrival="received")
    query = (
        controlled.groupBy(F.window("ts", "1 second")).count().writeStream.format("noop").queryName("counts").start()
    )
    board = Board()
    following = Following([board.enter])
    try:
        end = monotonic() + 120
        while (
            len(board.pipelines) == 0 or board.pipelines["counts"].history.total("rows_in") == 0
        ) and monotonic() < end:
            following.look()
            sleep(0.2)
        watch(query, seconds=1)
    finally:
        query.stop()
    following.look()
    followed = board.pipelines["counts"]
    account = sw.accounts(query)["ts"]
    assert 0 < followed.history.total("rows_in") <= account.rows
    assert followed.allowed == 0.02 and followed.state == "stopped"
    assert sum(followed.delays.all.values()) > 0
    assert "counts" in capsys.readouterr().out, "outside of a notebook the live table is shown"
