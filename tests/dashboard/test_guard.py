"""The dashboard's server against requests that it must refuse; the real process, over real connections."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from tests.dashboard.records import records

from slackwater.dashboard.process import Dashboard
from slackwater.errors import InputError

pytestmark = pytest.mark.long

SECRET = "ebb-and-flow"


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Iterator[Dashboard]:
    """Yield a dashboard on loopback that has a pipeline's records, and one earlier pipeline from a log."""
    log = tmp_path_factory.mktemp("log") / "progress.jsonl"
    log.write_text("".join(json.dumps(each) + "\n" for each in records("earlier", 5)))
    with Dashboard(port=0, history=str(log)) as dashboard:
        for each in records():
            dashboard.enter(each)
        assert dashboard.url
        yield dashboard


def asked(port: int, path: str = "/", method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    given = {"Host": f"127.0.0.1:{port}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(method, path, headers=given)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(errors="replace"), dict(answer.getheaders())
    connection.close()
    return found


def test_pages_and_metrics_are_answered_with_headers_that_keep_others_out(shown):
    for path in ("/", "/pipeline?name=fastest", "/metrics"):
        status, text, headers = asked(shown.port, path)
        assert status == 200 and text
        assert headers["X-Frame-Options"] == "DENY" and "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "unsafe-eval" not in headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in headers or headers["Access-Control-Allow-Origin"] != "*"
    assert 'slackwater_batches_total{pipeline="earlier"} 5.0' in text, "the history of the log"
    assert 'slackwater_pipeline_up{pipeline="earlier"} 0.0' in text, "but it does not run"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_only_get_is_answered(shown, method):
    assert asked(shown.port, "/", method)[0] == 405


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example:{port}"]
)
def test_a_foreign_host_is_refused_as_after_dns_rebinding(shown, host):
    assert asked(shown.port, "/", Host=host.format(port=shown.port))[0] == 403


@pytest.mark.parametrize("path", ["/", "/ws", "/metrics"])
def test_a_foreign_origin_is_refused_and_our_own_is_not(shown, path):
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "eA==",
    }
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{shown.port + 1}"):
        assert asked(shown.port, path, Origin=origin, **upgrade)[0] == 403
    if path == "/metrics":
        assert asked(shown.port, path, Origin=f"http://127.0.0.1:{shown.port}")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "/../../../../etc/passwd", "/static/../../../../../../../etc/passwd", "//etc/passwd",
        "/static/%2e%2e/%2e%2e/server.py", "/static/js/../../../server.py", "/static//etc/passwd",
        "/static/extensions/../../x",
    ],
)  # fmt: skip
def test_no_file_is_reached(shown, path):
    connection = socket.create_connection(("127.0.0.1", shown.port), timeout=20)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{shown.port}\r\nConnection: close\r\n\r\n".encode())
    answer = b"".join(iter(lambda: connection.recv(65_536), b"")).decode(errors="replace")
    connection.close()
    assert answer.split()[1] in ("403", "404"), answer[:200]
    assert "root:" not in answer and "import" not in answer.partition("\r\n\r\n")[2][:200]


def test_what_a_page_is_asked_for_is_text_and_never_markup_or_an_option(shown):
    status, text, _ = asked(
        shown.port, "/pipeline?name=%3Cscript%3Ealert(1)%3C/script%3E&theme=../../etc/passwd&ports=1"
    )
    assert status == 200 and "<script>alert(1)" not in text and "etc/passwd" not in text


def test_other_addresses_ask_for_a_token(monkeypatch):
    monkeypatch.setenv("SLACKWATER_UI_TOKEN", SECRET)
    with Dashboard("0.0.0.0", 0) as dashboard:  # noqa: S104
        assert dashboard.url.endswith(f"/?token={SECRET}")
        port = dashboard.port
        arguments = Path(f"/proc/{dashboard.process.pid}/cmdline").read_text()
        assert SECRET not in arguments, "other users of the machine can read it"
        for path in ("/", "/metrics", "/static/js/bokeh.min.js", "/?token=wrong"):
            status, text, headers = asked(port, path)
            assert (status, "Set-Cookie" in headers) == (401, False) and SECRET not in text
        status, text, headers = asked(port, f"/?token={SECRET}")
        assert status == 200 and "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
        assert SECRET not in text
        assert asked(port, "/metrics", Authorization=f"Bearer {SECRET}")[0] == 200
        assert asked(port, "/metrics", Cookie=headers["Set-Cookie"].partition(";")[0])[0] == 200
        assert asked(port, f"/?token={SECRET}", Host="evil.example")[0] == 403


def test_without_a_token_of_ones_own_a_new_one_is_made():
    with Dashboard("0.0.0.0", 0, pages=False) as one, Dashboard("0.0.0.0", 0, pages=False) as two:  # noqa: S104
        assert len(one.token) >= 24 and one.token != two.token
        assert asked(two.port if two.metrics_url else 0, "/metrics")[0] == 401


def test_a_flood_of_connections_and_pages_is_borne_and_the_pipeline_does_not_wait(shown):
    idle = [socket.create_connection(("127.0.0.1", shown.port)) for _ in range(150)]
    try:
        statuses = [asked(shown.port)[0] for _ in range(45)]
        assert statuses[0] == 200 and statuses[-1] == 503, "pages are bounded"
        began = time.perf_counter()
        for each in records("flooded", 300):
            shown.enter(each)
        assert time.perf_counter() - began < 5.0, "an event is taken at once"
        assert asked(shown.port, "/metrics")[0] == 200
    finally:
        for each in idle:
            each.close()


def test_a_port_that_is_taken_is_told_unless_another_may_be_chosen(shown):
    with pytest.raises(InputError, match=r"SW-483.*cannot listen"), Dashboard(port=shown.port) as refused:
        assert refused.url
    with Dashboard(port=0) as other:
        assert other.url and other.port != shown.port


def test_the_process_ends_with_the_one_that_started_it():
    dashboard = Dashboard(port=0)
    assert dashboard.url
    dashboard.close()
    assert dashboard.process.returncode == 0
