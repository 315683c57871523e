// The wallet's core lives in a worker thread, the main thread is its watchdog. Odd but right.
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  CUSTOMER, RefusedError, STATE, broadcast, get, load, nextNonce, order, post, save, sign, sleep,
} from "../js/common.mjs";

const WHOLE = 17n;
const FINAL = ["Succeeded", "Failed", "Dropped", "Refunded"];

async function token(chain) {
  const entry = (await get("getChain")).list.find((c) => c.nickName === chain);
  if (!entry || entry.disabled || entry.delisted || entry.noSwap) throw new RefusedError(`no ${chain}`);
  const found = (await get("getAssetsByChain", { chain })).list.find(
    (t) => t.symbol === "USDT" && !t.delisted && !t.disableBridge,
  );
  if (!found) throw new RefusedError(`no USDT on ${chain}`);
  return found;
}

async function begin() {
  const here = await token("ARB");
  const there = await token("BNB");
  const amount = WHOLE * 10n ** BigInt(here.decimals);
  const before = Date.now();
  const quote = await get("getBridgeQuote", { amount, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
  if (Date.now() - before > 20_000) throw new Error("slow quote");
  const net = BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);
  if (net * 10n < WHOLE * 8n * 10n ** BigInt(there.decimals)) throw new RefusedError("too dear");
  const nonce = nextNonce();
  const tx = sign("ARB", here.contractAddress, amount, nonce);
  const place = { tx, amount, from: "ARB", fromIndex: here.index, to: "BNB", toIndex: there.index };
  return { tx, nonce, body: order({ ...place, receiver: CUSTOMER }), least: String((net * 98n) / 100n) };
}

async function insist(work, limit) {
  for (let wait = 2, waited = 0; ; waited += wait, wait = Math.min(2 * wait, 3_600)) {
    try {
      return await work();
    } catch (problem) {
      console.error(problem.message);
      if (waited > limit) throw problem;
    }
    await sleep(wait);
  }
}

async function core() {
  let state = load("core.json", null);
  if (!state) {
    state = await begin().catch((problem) => console.error("nothing was sent:", problem.message));
    if (!state) return 4;
    save("core.json", state);
  }
  if (!broadcast(state.tx, state.nonce)) return 9;
  if (!state.id) {
    await insist(() => post("submitOrder", state.body), 30_000).then(
      ({ id }) => save("core.json", Object.assign(state, { id })),
      (problem) => console.error("no order:", problem.message),
    );
  }
  for (let waited = 0, wait = 5; state.id && !state.end && waited < 90_000; waited += wait, wait += 1) {
    await sleep(wait);
    try {
      const { status, amountOut } = await get("checkOrder", { id: state.id });
      if (!FINAL.includes(status)) continue;
      const short = status === "Succeeded" && BigInt(amountOut) < BigInt(state.least);
      save("core.json", Object.assign(state, { end: short ? "Short" : status }));
    } catch (problem) {
      console.error(problem.message);
    }
  }
  if (state.end === "Succeeded") return 0;
  if (state.end === "Refunded") return 2;
  if (!state.ticket) {
    const { ticketId } = await insist(() => post("submitTicket", { hash: state.tx, chain: "ARB" }), 30_000);
    save("core.json", Object.assign(state, { ticket: ticketId }));
  }
  return 3;
}

if (isMainThread) {
  // A folder is the lock: a run that was killed leaves it, so it names its owner's start.
  const lock = join(STATE, `lock`);
  const owner = load("owner.json", null);
  try {
    mkdirSync(lock);
  } catch {
    let alive = true;
    try {
      process.kill(owner ?? process.pid, 0);
    } catch {
      alive = false;
    }
    if (alive) process.exit(75);
  }
  save("owner.json", process.pid);
  const worker = new Worker(fileURLToPath(import.meta.url));
  let code = 8;
  worker.on("message", (told) => {
    code = told;
  });
  worker.on("error", (problem) => console.error("core:", problem.message));
  worker.on("exit", () => {
    rmSync(lock, { recursive: true });
    process.exit(code);
  });
} else {
  parentPort.postMessage(await core().catch((problem) => (console.error(problem.message), 7)));
}
