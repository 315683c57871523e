"""One server, two worlds, two dialects: both flows, step by step in turn."""

from mockserver.contract import load
from tests.conftest import HASH, WALLET, Client, order, v1_submission
from tests.dialects.conftest import field_order, v1_order

SUBMIT = "/open/v1/order/submitCrossChain"


def test_two_dialects_interleaved(serve):
    served = serve()
    plain = served.client
    plain.control("POST", "/worlds", {"key": "by-the-book"})
    plain.control("POST", "/worlds", {"key": "in-the-field", "dialect": "observed"})
    book = Client(served.port, load(), prefix="/w/by-the-book")
    field = Client(served.port, load("observed"), prefix="/w/in-the-field")

    # first the lists of v1
    tokens = "/open/v1/base/getSupportTokens"
    assert book.get(tokens, headers={"chain": "MATIC"}).json["code"] == 0
    assert field.get(tokens, query={"chain": "MATIC"}).json["code"] == 200
    assert "E-02" in book.get(tokens, query={"chain": "MATIC"}).refusal
    assert "E-02" in field.get(tokens, headers={"chain": "MATIC"}).refusal

    # then submissions of v1, each refused by the other world
    documented = v1_submission()
    assert "E-03" in book.post(SUBMIT, v1_order(), headers=book.keys).refusal
    assert "E-03" in field.post(SUBMIT, documented, headers=field.keys).refusal
    assert book.post(SUBMIT, documented, headers=book.keys).json["code"] == 0
    sent = field.post(SUBMIT, v1_order(), headers=field.keys)
    assert sent.json["code"] == 200

    # the same deposit through 2.0 in both worlds
    book_id = book.post("/v1/submitOrder", order(), headers=book.wallet).data["id"]
    field_id = field.post("/v1/submitOrder", field_order(), headers=field.wallet).data["id"]
    assert book_id == field_id  # worlds count for themselves

    # time passes in one world only
    field.control("POST", "/clock", {"advance": "10m"})
    field.timestamp += 600_000
    assert _status(book, book_id) == "Unknown"
    assert _status(field, field_id) == "Succeeded"
    lookup = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    query = {"chain": "MATIC", "hash": HASH, "evmAddress": WALLET}
    assert book.get(lookup, query=query, headers=book.keys).data["order"]["status"] == 1
    assert field.get(lookup, query=query, headers=field.keys).data["order"]["status"] == 2
    by_number = field.get(
        "/open/v1/order/getOrderDetail",
        query={"sn": sent.data["sn"]},
        headers=field.keys,
    )
    assert by_number.data["order"]["status"] == 2
    missing = book.get("/open/v1/order/getOrderDetail", query={"sn": sent.data["sn"]})
    assert (missing.status, "E-06" in missing.refusal) == (404, True)

    # refusals have the shape of each dialect
    for_book = book.get("/v1/checkOrder", query={"id": "1"}).json
    for_field = field.get("/v1/checkOrder", query={"id": "1"}).json
    assert for_book["data"] == {}
    assert for_field == {"code": 3, "msg": "order not found"}
    for client in (book, field):
        client.close()


def test_keys_belong_to_a_world(serve):
    served = serve(dialect="observed")
    strict = Client(served.port, load("observed"), prefix="/w/strict")
    easy = Client(served.port, load("observed"), prefix="/w/easy")
    strict.control("POST", "/keys", {"verifyWallets": True})
    sent = field_order()
    assert strict.post("/v1/submitOrder", sent, headers=strict.wallet).refusal
    assert easy.post("/v1/submitOrder", sent, headers=easy.wallet).data["id"]
    for client in (strict, easy):
        client.close()


def _status(client, order_id):
    return client.get("/v1/checkOrder", query={"id": order_id}).data["status"]
