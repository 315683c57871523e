"""TronWeb and web3.js of Solana do with our nodes what the vendor's SDK has its users do.

They run where Node is there and CROSSCHAIN_NODE_MODULES names a folder into which
`npm install tronweb @solana/web3.js@1 @solana/spl-token` has put them; ethers and viem over a
WebSocket, after `npm ci` in `tests/npm`.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import USDT_BNB
from tests.node.mock import MockChain
from tests.node.rpc import fetch
from tests.node.test_libraries import FOLDER, NPM
from tests.node.test_solana import ORDER
from tests.node.test_solana import USDT as USDT_SOL
from tests.node.test_solana import VAULT as VAULT_SOL
from tests.node.test_tron import PROXY, USDT, VAULT

MODULES = Path(os.environ.get("CROSSCHAIN_NODE_MODULES", "node_modules"))


def _seen(server, tmp_path, script, package, *, orders=1, modules=MODULES, **given):
    if shutil.which("node") is None or not (modules / package).is_dir():
        pytest.skip(f"needs Node and {package}; see above")
    # Polls of a clock that stands bring blocks, and so confirmations.
    chain = MockChain(server, blockPace="2s")
    given["url"] = f"{chain.control}/chains/{given['chain']}"
    (tmp_path / "given.json").write_text(json.dumps(given), "utf-8")
    (tmp_path / "node_modules").symlink_to(modules.resolve())
    shutil.copy(FOLDER / script, tmp_path)
    ended = subprocess.run(
        ["node", script, "given.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert len(fetch(f"{chain.control}/orders")["orders"]) == orders
    return json.loads(ended.stdout)


def test_tronweb_approves_pays_and_reads(server, tmp_path):
    given = {"chain": "TRX", "key": "11" * 32, "token": USDT, "proxy": PROXY, "vault": VAULT}
    order = "0x" + ORDER.encode().hex()
    assert _seen(server, tmp_path, "with_tronweb.mjs", "tronweb", order=order, **given) == {
        "decimals": "6",
        "unapproved": "REVERT",
        "allowance": "25000000",
        "paid": ["SUCCESS", 2],
        "moved": "25000000",
        "tooMuch": "REVERT opcode executed",
        "coins": 1_000_000,
        "sent": [{"contractRet": "SUCCESS"}],
        "again": "DUP_TRANSACTION_ERROR",
        "poor": "CONTRACT_VALIDATE_ERROR",
        "height": True,
    }


def test_web3_of_solana_pays_with_a_memo_and_reads(server, tmp_path):
    given = {"chain": "SOL", "seed": "07" * 32, "token": USDT_SOL, "vault": VAULT_SOL}
    failed = "Transaction simulation failed: Error processing Instruction 0: custom program error: "
    assert _seen(server, tmp_path, "with_solana.mjs", "@solana", order=ORDER, **given) == {
        "decimals": 6,
        "confirmed": None,
        "moved": "25000000",
        "read": ["transferChecked", "memo"],
        "balances": 2,
        "tooMuch": f"{failed}0x1",
        "decimalsRefused": f"{failed}0x12",
        "held": 1,
        "fee": 5_000,
        "simulated": None,
        "paid": 5_005,
        "version": 0,
        "again": "Transaction simulation failed: This transaction has already been processed",
        "listed": True,
        "block": True,
        "settled": "confirmed",
        "confirmedBySocket": None,
        "accountChanged": 7,
    }


def test_ethers_and_viem_hear_over_a_websocket(server, tmp_path):
    given = {"chain": "BNB", "key": "0x" + "11" * 32, "token": USDT_BNB}
    seen = _seen(server, tmp_path, "with_sockets.mjs", "ethers", orders=0, modules=NPM, **given)
    assert seen == {
        "status": 1,
        "deep": True,
        "told": [[True, "5"]],
        "pending": [True],
        "watched": "bigint",
    }
