"""A recorder that is killed loses nothing that a client had got."""

import http.client
import itertools
import random
import shutil
import signal
import threading

import pytest

from mockserver.recordings import load_folder
from tests.conftest import eventually
from tests.recordings.conftest import answer


def test_a_killed_recorder_has_kept_what_the_client_got(record_process, upstream, is_deep):
    chance = random.Random(13)  # noqa: S311 (no secret)
    numbers, sent = itertools.count(1), set()

    def numbered(handler, _):
        body = b'{"code":0,"number":%d,"more":"%s"}' % (
            next(numbers),
            b"x" * chance.randrange(9000),
        )
        sent.add((handler.path, body))
        answer(handler, body)

    upstream.reply = numbered
    for _ in range(50 if is_deep else 3):
        recorder = record_process()
        got: list[tuple[str, bytes]] = []
        clients = [threading.Thread(target=ask, args=(recorder.port, got)) for _ in range(3)]
        for client in clients:
            client.start()
        # Some exchanges in, at no moment in particular.
        wanted = chance.randrange(1, 30)
        eventually(lambda: len(got) >= wanted, f"{wanted} answers")  # noqa: B023 (called at once)
        recorder.stop(signal.SIGKILL)
        for client in clients:
            client.join(60)
        kept = [
            (one.request.path, one.response.body)
            for file in load_folder(recorder.folder)
            for one in file.exchanges
        ]
        # Each answered one is kept, and each kept one is whole: what the service sent, and once.
        assert set(got) <= set(kept) <= sent
        assert len(set(kept)) == len(kept)
        shutil.rmtree(recorder.folder)


def ask(port, got):
    """Ask until the recorder is gone, and note every answer that came whole."""
    paths = ["/v1/getChain", "/v1/getAssets", "/open/v1/base/getSupportChains"]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        for number in range(10_000):
            path = paths[number % 3]
            connection.request("GET", path)
            got.append((path, connection.getresponse().read()))
    except (OSError, http.client.HTTPException):
        return
    finally:
        connection.close()


@pytest.mark.parametrize("half", [b"", b"format: crosschain-mock/recording@2\ntitle: hal"])
def test_what_a_killed_recorder_left_half_is_not_read(record, half):
    recorder = record()
    recorder.call()
    (recorder.folder / ".v2.getChain.yaml.new").write_bytes(half)
    assert len(recorder.exchanges) == 1
    recorder.call()
    assert len(recorder.exchanges) == 2
