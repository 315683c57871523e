"""The recorder passes on what a service answers, unchanged, and keeps it before the answer ends."""

import contextlib
import datetime
import gzip
import http.client
import ipaddress
import json
import os
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys
import threading
import urllib.request
from itertools import pairwise

import click
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from mockserver.errors import CrosschainMockError
from mockserver.recordings import FolderBusy, folder
from tests.conftest import PATIENCE_S, eventually, order
from tests.recordings.conftest import Recorder, answer, recording


def test_an_answer_comes_through_and_is_on_the_disk_by_then(record, upstream):
    raw = b'{"code": 0, "price": 1.00}'
    upstream.reply = lambda handler, _: answer(handler, raw)
    recorder = record()
    assert recorder.call(target="/v1/getChain?a=b+c&a=%C3%A9")[2] == raw
    (kept,) = recorder.exchanges
    assert (kept.operation, kept.response.status, kept.response.body) == ("v2.getChain", 200, raw)
    assert upstream.seen[0][1] == "/v1/getChain?a=b+c&a=%C3%A9"
    assert kept.time_ms
    assert kept.duration_ms is not None
    assert kept.origin == "captured"


def test_nothing_is_added_to_an_answer(record, upstream):
    def bare(handler, _):
        handler.wfile.write(
            b"HTTP/1.1 418 Teapot\r\nX-Odd: a\r\nX-Odd: b\r\nContent-Length: 2\r\n\r\nhi"
        )

    upstream.reply = bare
    connection = http.client.HTTPConnection("127.0.0.1", record().port, timeout=60)
    connection.request("GET", "/v1/getChain")
    response = connection.getresponse()
    assert (response.status, response.reason, response.read()) == (418, "Teapot", b"hi")
    assert response.getheaders() == [("X-Odd", "a"), ("X-Odd", "b"), ("Content-Length", "2")]
    connection.close()


def test_the_service_sees_the_client_and_not_the_recorder(record, upstream):
    recorder = record()
    body = b'{"amount": 1.50}'
    recorder.call(
        "POST", "/open/v1/order/getCrossChainQuote", body, {"appKey": "k", "User-Agent": "mine"}
    )
    method, path, headers, came = upstream.seen[0]
    assert (method, path, came) == ("POST", "/open/v1/order/getCrossChainQuote", body)
    assert headers == {
        "Host": f"127.0.0.1:{upstream.port}",
        "Accept-Encoding": "identity",
        "Content-Length": str(len(body)),
        "appKey": "k",
        "User-Agent": "mine",
        "Connection": "close",
    }


@pytest.mark.parametrize("cuts", [(0, None), (0, 5, None)], ids=["one member", "two members"])
def test_a_compressed_answer_stays_so_for_the_client_and_is_readable_in_the_file(
    record, upstream, cuts
):
    plain = b'{"code":0,"msg":"success"}'
    packed = b"".join(gzip.compress(plain[a:b]) for a, b in pairwise(cuts))
    headers = (("Content-Encoding", "gzip"), ("Content-Type", "application/json"))
    upstream.reply = lambda handler, _: answer(handler, packed, headers=headers)
    recorder = record()
    status, got, body = recorder.call(headers={"Accept-Encoding": "gzip"})
    assert (status, got["content-encoding"], body) == (200, "gzip", packed)
    (kept,) = recorder.exchanges
    assert kept.response.body == plain
    assert (kept.response.coded.coding, kept.response.coded.body) == ("gzip", packed)


@pytest.mark.parametrize(
    ("asked", "passed_on"),
    [
        ("gzip, deflate, br, zstd", "gzip, deflate"),
        ("br;q=1.0, x-gzip;q=0.8, *;q=0.1", "x-gzip;q=0.8"),
        ("br", "identity"),
        ("", "identity"),
    ],
)
def test_only_what_can_be_searched_is_asked_for(record, upstream, asked, passed_on):
    record().call(headers={"Accept-Encoding": asked})
    assert upstream.seen[0][2]["Accept-Encoding"] == passed_on


@pytest.mark.parametrize(
    ("coding", "body", "why"),
    [
        ("gzip", b"\x1f\x8bbroken", "not gzip, or is damaged"),
        ("br", b"\x00\x01", "'br' is not read here"),
        ("gzip", gzip.compress(b"half", mtime=0)[:-9], "not gzip, or is damaged"),
    ],
)
def test_what_cannot_be_searched_for_secrets_is_not_kept(record, upstream, coding, body, why):
    headers = (("Content-Encoding", coding),)
    upstream.reply = lambda handler, _: answer(handler, body, headers=headers)
    recorder = record()
    assert recorder.call()[2] == body
    (kept,) = recorder.exchanges
    assert kept.response.body == b""
    assert why in kept.response_omitted


def test_a_chunked_answer_comes_as_it_is_sent(record, upstream):
    go_on = threading.Event()

    def chunked(handler, _):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for number in range(3):
            handler.wfile.write(b"5\r\npart%d\r\n" % number)
            handler.wfile.flush()
            if number == 1:
                go_on.wait(60)
        handler.wfile.write(b"0\r\n\r\n")

    upstream.reply = chunked
    recorder = record()
    client = http.client.HTTPConnection("127.0.0.1", recorder.port, timeout=60)
    with contextlib.closing(client):
        client.request("GET", "/v1/getChain")
        response = client.getresponse()
        # The chunks of the recorder begin and end elsewhere: it holds the last byte back.
        assert response.read(9) == b"part0part"
        # The service has not ended its answer yet, and nothing is acknowledged.
        assert recorder.exchanges == []
        go_on.set()
        assert response.read() == b"1part2"
    assert recorder.exchanges[0].response.body == b"part0part1part2"


def test_a_large_binary_answer_comes_through(record, upstream, is_deep):
    body = bytes(range(256)) * (4096 * (100 if is_deep else 2))
    upstream.reply = lambda handler, _: answer(handler, body, headers=())
    recorder = record()
    assert recorder.call()[2] == body
    assert recorder.exchanges[0].response.body == body


def test_a_page_of_html_is_kept_as_text(record, upstream):
    page = b"<h1>502 Bad Gateway</h1>\n"
    headers = (("Content-Type", "text/html"),)
    upstream.reply = lambda handler, _: answer(handler, page, 502, headers)
    recorder = record()
    status, got, body = recorder.call()
    assert (status, got["content-type"], body) == (502, "text/html", page)
    (kept,) = recorder.exchanges
    assert (kept.response.status, kept.response.body) == (502, page)
    assert kept.response.header("Content-Type") == "text/html"


def test_submissions_are_not_passed_on_unless_armed(record, upstream):
    recorder = record()
    status, sentence = recorder.said(method="POST", target="/v1/submitOrder", body=b"{}")
    assert status == 403
    assert "v2.submitOrder changes something: it needs --arm-writes" in sentence
    assert upstream.seen == []


def test_a_body_that_the_client_holds_back_is_asked_for(record, upstream):
    recorder = record("--arm-writes")
    head = b"POST /v1/submitOrder HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
    with socket.create_connection(("127.0.0.1", recorder.port), timeout=PATIENCE_S) as raw:
        raw.sendall(head + b"Content-Length: 2\r\n\r\n")
        assert raw.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.sendall(b"{}")
        assert raw.recv(65_536).startswith(b"HTTP/1.1 200")
    assert [body for *_, body in upstream.seen] == [b"{}"]


def test_armed_submissions_are_counted(record, upstream):
    recorder = record("--arm-writes", "--most-writes", "1")
    assert recorder.call("POST", "/v1/submitOrder", b"{}")[0] == 200
    assert (
        "the cap of 1 submissions is reached"
        in recorder.said(method="POST", target="/v1/submitOrder", body=b"{}")[1]
    )
    assert len(upstream.seen) == 1


def test_an_unknown_operation_is_not_passed_on_where_it_may_change_something(record, upstream):
    recorder = record()
    assert recorder.said(method="POST", target="/v1/other", body=b"{}")[0] == 403
    assert upstream.seen == []
    assert recorder.call(target="/favicon.ico")[0] == 200
    assert recorder.exchanges == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--upstream-v2", "https://service.example"), "name it with --allow-host service.example"),
        (
            ("--upstream-v2", "https://a.example", "--allow-host", "a.example", "--arm-writes"),
            "--set confirm-host=a.example",
        ),
        ((), "name the service with --upstream-v1 URL"),
        (("--upstream-v1", "ftp://x"), "is no base address"),
        (("old.yaml",), "recordings simulate old.yaml"),
        (("--check", "old.yaml"), "recordings simulate old.yaml"),
        (("--upstream-v1", "http://127.0.0.1:1", "--salt", "x"), "32 hexadecimal digits"),
    ],
)
def test_wrong_options_end_with_a_sentence(tmp_path, arguments, words):
    with (
        pytest.raises((CrosschainMockError, click.UsageError), match=re.escape(words)),
        recording("--out", str(tmp_path / "out"), *arguments),
    ):
        pass
    assert not (tmp_path / "out").exists()


def test_the_folder_must_be_named():
    with pytest.raises(click.UsageError, match="--out DIR"), recording():
        pass


def test_a_generation_without_address_says_so(tmp_path, upstream):
    with recording("--out", str(tmp_path), "--upstream-v1", upstream.url) as (port, _):
        status, sentence = Recorder(port, tmp_path).said()
    assert (status, "name one with --upstream-v2" in sentence) == (421, True)


def test_a_service_that_is_down_is_named(record, dead_port):
    recorder = record(url=f"http://127.0.0.1:{dead_port}")
    status, sentence = recorder.said()
    assert status == 502
    assert f"http://127.0.0.1:{dead_port} cannot be reached" in sentence


def test_a_service_that_resets_loses_nothing_that_was_kept(record, upstream):
    def reset(handler, _):
        linger = struct.pack("ii", 1, 0)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        handler.close_connection = True

    recorder = record()
    recorder.call()
    upstream.reply = reset
    status, sentence = recorder.said()
    assert (status, "broke off before the answer was whole" in sentence) == (502, True)
    assert len(recorder.exchanges) == 1


def test_a_client_never_sees_the_end_of_an_answer_that_broke_off(record, upstream):
    def broken(handler, _):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for _number in range(2):
            handler.wfile.write(b"%x\r\n%s\r\n" % (200_000, b"x" * 200_000))
            handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    upstream.reply = broken
    recorder = record()
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        recorder.call()
    assert recorder.exchanges == []


def test_a_slow_service_is_told_of(record, upstream):
    release = threading.Event()
    upstream.reply = lambda handler, _: release.wait(60)
    recorder = record("--wait", "200ms")
    status, sentence = recorder.said()
    release.set()
    assert (status, "took too long to answer" in sentence) == (504, True)


def test_a_service_without_tls_is_told_of(record, upstream):
    recorder = record(url=f"https://127.0.0.1:{upstream.port}")
    status, sentence = recorder.said()
    assert (status, "speaks no TLS that works" in sentence) == (502, True)


@pytest.fixture
def secure(upstream, tmp_path):
    """Serve with TLS, under a certificate that nobody but its own file vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "service")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "service.pem"
    certificate = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(private + certificate)
    (tmp_path / "trusted.pem").write_bytes(certificate)
    upstream.secure(file)
    return tmp_path / "trusted.pem"


def test_a_certificate_that_nobody_vouches_for_is_told_of(record, upstream, secure):
    recorder = record(url=f"https://127.0.0.1:{upstream.port}")
    status, sentence = recorder.said()
    assert (status, upstream.seen, recorder.exchanges) == (502, [], [])
    assert f"the certificate of https://127.0.0.1:{upstream.port} is not valid: " in sentence
    assert "self-signed certificate" in sentence
    assert "trust one more with --upstream-ca FILE" in sentence
    url = f"https://127.0.0.1:{upstream.port}"
    trusting = record("--upstream-ca", str(secure), url=url, out="trusting")
    assert trusting.call()[0] == 200
    assert len(trusting.exchanges) == 1


def test_a_server_that_records_trusts_whom_the_machine_trusts(upstream, secure, tmp_path):
    ready = tmp_path / "ready.json"
    words = ("serve", "--port", "0", "--ready-file", str(ready), "--record", "once")
    where = ("--recordings", str(tmp_path / "kept"))
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "mockserver", *words, *where),
            *("--upstream-v2", f"https://127.0.0.1:{upstream.port}"),
        ],
        env={**os.environ, "SSL_CERT_FILE": str(secure), "SSL_CERT_DIR": os.devnull},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        eventually(ready.exists, "the server")
        url = f"{json.loads(ready.read_text())['url']}/v1/getChain"
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert (answer.status, len(upstream.seen)) == (200, 1)
    finally:
        server.terminate()
        _, said = server.communicate(timeout=60)
    assert "recorded 1 exchange" in said


def test_a_certificate_of_another_host_is_told_of(record, upstream, secure):
    recorder = record("--upstream-ca", str(secure), url=f"https://localhost:{upstream.port}")
    status, sentence = recorder.said()
    assert (status, upstream.seen) == (502, [])
    assert "certificate is not valid for 'localhost'" in sentence
    assert "--upstream-ca" not in sentence


def test_two_recorders_do_not_share_a_folder(record):
    record()
    with pytest.raises(FolderBusy, match="another recorder is writing to"):
        record()


def test_sigterm_in_the_middle_ends_with_whole_files(record_process, upstream):
    begun = threading.Event()

    def never(handler, _):
        begun.set()
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        handler.wfile.flush()
        handler.rfile.read(1)

    recorder = record_process()
    recorder.call()
    upstream.reply = never
    client = socket.create_connection(("127.0.0.1", recorder.port), timeout=60)
    client.sendall(b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\n\r\n")
    assert begun.wait(60)
    code, out, _ = recorder.stop()
    client.close()
    assert code == 0
    assert "kept 1 exchange in 1 file" in out
    assert len(recorder.exchanges) == 1
    assert not list(recorder.folder.rglob("*.new"))


def test_a_client_that_leaves_costs_no_exchange(record_process, upstream):
    came, kept = threading.Event(), threading.Event()

    def late(handler, _):
        came.set()
        kept.wait(60)
        answer(handler, b'{"code":0}')

    upstream.reply = late
    recorder = record_process()
    client = socket.create_connection(("127.0.0.1", recorder.port), timeout=60)
    client.sendall(b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\n\r\n")
    assert came.wait(60)
    client.close()
    kept.set()
    # What is still on its way when it is stopped gets two seconds.
    eventually(lambda: recorder.exchanges, "it is kept")
    recorder.stop()
    assert [one.response.body for one in recorder.exchanges] == [b'{"code":0}']


def test_a_full_disk_is_told_of_and_costs_nothing_that_was_kept(record_process, upstream):
    # The system lets this process write no file of more bytes: it stops in the middle, as it does
    # where a disk is full.
    room = 20_000
    recorder = record_process(
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    )
    upstream.reply = lambda handler, _: answer(handler, b'{"code":0,"more":"%s"}' % (b"x" * 8000))
    assert [recorder.call()[0] for _ in range(2)] == [200, 200]
    status, sentence = recorder.said()
    assert status == 507
    assert "v2.getChain.yaml': file too large; the answer was not kept" in sentence
    upstream.reply = lambda handler, _: answer(handler, b'{"code":0}')
    assert recorder.call()[0] == 200
    assert len(recorder.exchanges) == 3
    assert not list(recorder.folder.rglob(".*.new"))
    code, out, err = recorder.stop()
    assert (code, "kept 3 exchanges in 1 file" in out) == (0, True)
    assert "Traceback" not in err


def test_a_folder_that_somebody_tidies_away_is_made_again(record_process, upstream):
    recorder = record_process()
    recorder.call(target="/v1/getChain?n=1")
    large = b'{"code":0,"more":"%s"}' % (b"x" * 100_000)
    shutil.rmtree(recorder.folder)
    upstream.reply = lambda handler, _: answer(handler, large)
    assert recorder.call(target="/v1/getChain?n=2")[0] == 200
    assert [one.request.query for one in recorder.exchanges] == ["n=1", "n=2"]
    assert recorder.exchanges[1].response.body == large
    code, out, _ = recorder.stop()
    assert (code, "kept 2 exchanges in 1 file" in out) == (0, True)


def test_the_summary_comes_also_where_the_last_words_cannot_be_written(record_process):
    recorder = record_process()
    recorder.call()
    (file,) = recorder.folder.glob("*.yaml")
    file.unlink()
    file.mkdir()
    code, out, err = recorder.stop()
    assert code == 2
    assert "kept 1 exchange in 1 file" in out
    assert f"error: cannot write '{file}': is a directory" in err


def test_what_a_parser_quotes_is_not_told(record_process, upstream):
    private = "Pr1vate0fSomebody"
    recorder = record_process()
    upstream.reply = lambda handler, _: handler.wfile.write(f"token={private}\r\n\r\n".encode())
    assert recorder.call()[0] == 502
    with socket.create_connection(("127.0.0.1", recorder.port), timeout=PATIENCE_S) as client:
        client.sendall(f"GET /v1/getChain?appKey=\xff{private} HTTP/1.1\r\n\r\n".encode("latin-1"))
        assert client.recv(65_536).startswith(b"HTTP/1.0 400")
    _, out, err = recorder.stop()
    assert "answers no HTTP: Bad status line" in err
    assert "Invalid char in url query; nothing was sent" in err
    assert private not in out + err


def test_a_request_of_no_path_is_not_passed_on(record, upstream):
    status, sentence = record().said(method="OPTIONS", target="*")
    assert (status, upstream.seen) == (400, [])
    assert "OPTIONS * names no path of a service" in sentence


def test_a_large_answer_is_not_held_against_the_contract(record_process, upstream):
    # It takes longer than to keep it, and smaller ones tell the same.
    upstream.reply = lambda handler, _: answer(handler, b'{"more":"%s"}' % (b"x" * 1024 * 1024))
    recorder = record_process()
    recorder.call()
    _, out, _ = recorder.stop()
    assert "kept 1 exchange" in out
    assert "answers looked at" not in out


ORDER = {"status": "Succeeded", "timestamp": 1, "execHash": "", "reason": "", "amountOut": "9"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"timestamp": "1"}, "1 of 1 answer looked at breaks what the description says, in the"),
        ({"amountOut": "9.7"}, "1 of 1 answer looked at has a form of its own where the"),
        ({}, ""),
    ],
)
@pytest.mark.deep(quick=1)
def test_only_what_is_documented_is_called_broken(record_process, upstream, change, sentence):
    body = json.dumps({"code": 0, "msg": "success", "data": {**ORDER, **change}}).encode()
    upstream.reply = lambda handler, _: answer(handler, body)
    recorder = record_process()
    recorder.call(target="/v1/checkOrder?id=1")
    _, out, _ = recorder.stop()
    assert ("looked at" in out) is bool(sentence)
    assert sentence in out


def test_a_flow_can_have_one_file(record):
    recorder = record("--file-per", "flow", "--title", "my flow")
    recorder.call(target="/v1/getChain")
    recorder.call(target="/v1/getAssets")
    (file,) = recorder.folder.glob("*.yaml")
    assert (file.name, len(recorder.exchanges)) == ("flow.yaml", 2)
    assert "title: 'my flow: flow'" in file.read_text()


def test_dialect_and_clock_are_noted(record_process, serve):
    running = serve(dialect="observed")
    recorder = record_process(url=f"http://127.0.0.1:{running.port}")
    for path in ("/v1/getChain", "/v1/getChainGasUsd"):
        assert recorder.call(target=path)[0] == 200
    code, out, _ = recorder.stop()
    assert code == 0
    assert "dialect: observed" in out
    text = (recorder.folder / "v2.getChain.yaml").read_text()
    assert "dialect: observed\n" in text
    assert "clockSkew: " in text


@pytest.mark.parametrize(
    ("date", "how"),
    [
        ("Thu, 01 Jan 1970 00:00:05 GMT", "behind"),
        ("Fri, 01 Jan 2100 00:00:00 GMT", "ahead of"),
    ],
)
def test_a_clock_that_is_wrong_is_told(record_process, upstream, date, how):
    raw = f"HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 2\r\n\r\n{{}}".encode()
    upstream.reply = lambda handler, _: handler.wfile.write(raw)
    recorder = record_process()
    assert recorder.call(target="/v1/getChain")[0] == 200
    _, out, _ = recorder.stop()
    assert re.search(
        rf"^the service's clock is \d+d[0-9dhms]* {how} this machine's$", out, re.MULTILINE
    ), out


def test_a_flow_through_the_recorder_against_the_mock(record, serve):
    running = serve()
    recorder = record("--arm-writes", url=f"http://127.0.0.1:{running.port}")
    client = type(running.client)(recorder.port, running.client.contract)
    client.get(
        "/v1/getBridgeQuote",
        query={"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"},
    )
    placed = client.post("/v1/submitOrder", order(), headers=client.wallet).data
    client.get("/v1/checkOrder", query={"id": placed["id"]})
    client.close()
    kept = {one.operation: one for one in recorder.exchanges}
    assert list(kept) == ["v2.checkOrder", "v2.getBridgeQuote", "v2.submitOrder"]
    sent = kept["v2.submitOrder"].request
    assert "Signature" not in sent.headers
    assert "Signature" in kept["v2.submitOrder"].removed


def test_an_answer_without_end_goes_on_for_nobody(record, upstream, capfd):
    closed = threading.Event()

    def endless(handler, _):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            while not closed.is_set():
                handler.wfile.write(b"9\r\ndata: 1\n\n\r\n")
        except OSError:
            closed.set()

    upstream.reply = endless
    recorder = record("--wait", "500ms")
    with socket.create_connection(("127.0.0.1", recorder.port), timeout=60) as client:
        client.sendall(b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(1)
    assert closed.wait(PATIENCE_S)
    assert recorder.exchanges == []
    eventually(lambda: "the client left, and" in capfd.readouterr().err, "it is told")


def test_paths_of_requests_that_were_not_kept_are_masked_on_the_terminal(record_process):
    recorder, key = record_process(), "-".join(("a", "plain", "word", "of", "mine"))
    for path in (f"/v1/none/{key}", f"/v1/token/{key}2/none", f"/open/v1/none/{key}?appKey={key}"):
        recorder.call(target=path, headers={"appKey": key})
        # Refused before anything is sent: no writes without --arm-writes.
        recorder.call(method="POST", target=path, headers={"appKey": key}, body=b"{}")
    _, out, err = recorder.stop()
    assert "/v1/token/redacted/none is no operation of the service" in err
    assert "nothing was sent" in err
    assert key not in out + err


SCHEMA_LINE = "# yaml-language-server: $schema=../.crosschain-mock/formats/recording.json\n"


def test_files_name_their_schema_where_a_project_has_it(upstream, call, tmp_path, monkeypatch):
    assert call("schemas", ".crosschain-mock").returncode == 0
    monkeypatch.setattr(folder, "FULL_FILE", 1024)
    out, sent = tmp_path / "recorded", []
    bases = ("--upstream-v1", upstream.url, "--upstream-v2", upstream.url)
    with recording("--out", str(out), *bases) as (port, _):
        recorder = Recorder(port, out)
        for number in range(12):
            body = b'{"code": 0, "n": %d}' % number
            # An hour of the service's own changes the head of all files, full ones at the end.
            late = (("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),) if number == 10 else ()
            upstream.reply = lambda handler, _, body=body, late=late: answer(
                handler, body, headers=late
            )
            sent.append(recorder.call()[2])
            if number == 8:
                shutil.rmtree(tmp_path / ".crosschain-mock")
    files = sorted(out.glob("*.yaml"), key=lambda file: (len(file.name), file.name))
    texts = [file.read_text("utf-8") for file in files]
    assert len(texts) > 2
    assert [text.count("format: ") for text in texts] == [1] * len(texts)
    assert [text.count("clockSkew: ") for text in texts] == [1] * len(texts)
    assert texts[0].startswith(SCHEMA_LINE)
    assert texts[-1].startswith("format: ")
    assert [kept.response.body for kept in recorder.exchanges] == sent
    for words in (("validate",), ("recordings", "scan")):
        ended = call(*words, *map(str, files))
        assert ended.returncode == 0, ended.stderr
