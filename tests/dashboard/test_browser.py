"""The dashboard in a real browser: the numbers on the page are those of the records."""

import pytest
from tests.dashboard.browser import opened, wait_for
from tests.dashboard.records import records

from slackwater.app.monitor.words import amount, percent
from slackwater.dashboard.process import Dashboard

ODD = "<img src=x onerror=document.title='ow'>"
GRAPH = {
    "nodes": [
        {"name": "Aggregate", "parameters": "MAX(speed) AS top by segment", "by": "native", "reads": [1]},
        {"name": "Scan", "parameters": "Traffic (event time timestamp)", "by": "scan", "reads": []},
    ],
    "sink": "fastest (console)",
}


@pytest.mark.slow
def test_the_pages_show_what_the_records_say_and_go_on_with_them(tmp_path):
    said = [*records(batches=120)]
    with Dashboard(port=0) as dashboard, opened() as browser:
        dashboard.enter(
            {"kind": "pipeline", "pipeline": "fastest", "graph": GRAPH, "windows": {"Traffic": [[5_000, 1_000]]}}
        )
        for each in said[:100]:
            dashboard.enter(each)
        for number in range(20):
            dashboard.enter({"kind": "pipeline", "pipeline": f"p{number:02d}"})
        dashboard.enter({"kind": "pipeline", "pipeline": ODD, "graph": GRAPH})
        dashboard.enter({"kind": "rows", "pipeline": "fastest", "rows": [{"segment": 7, "top": ODD}]})
        driver = browser.driver

        driver.get(dashboard.url)
        wait_for(lambda: len(browser.texts("tbody tr")) == 22)
        late = [f"{percent(said[99]['ratio'])} of 2%"]
        wait_for(lambda: browser.texts("tr[data-pipeline=fastest] [data-field=late]") == late)
        browser.screenshot(str(tmp_path / "overview.png"))

        driver.get(f"{dashboard.url}pipeline?name=fastest&theme=dark")
        wait_for(lambda: browser.texts("[data-field=rows_in]") == [amount(20_000)])
        assert browser.texts("[data-field=ratio]") == [percent(said[99]["ratio"])]
        assert browser.texts("[data-field=late]") == [amount(sum(each["late"] for each in said[:100]))]
        assert browser.texts(".holds") == ["Traffic: 1% of the last 8,192 rows were later than 3.1 s"]
        wait_for(lambda: browser.drawn() >= 7)
        assert "Traffic" in browser.texts("tbody td") and ODD in browser.texts("tbody td")
        wait_for(lambda: any("200 rows/s" in text for text in browser.texts("svg text")))
        for each in said[100:]:
            dashboard.enter(each)
        wait_for(lambda: browser.texts("[data-field=rows_in]") == [amount(24_000)])
        wait_for(lambda: browser.texts("[data-field=ratio]") == [percent(said[-1]["ratio"])])
        browser.screenshot(str(tmp_path / "pipeline.png"))
        overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert driver.execute_script(overflow) == 0, "it fits 1280 pixels"
        assert driver.title != "ow" and not browser.complaints()
        assert (tmp_path / "pipeline.png").stat().st_size > 50_000
