// An order as an async iterator of steps, each in a file before it counts. Odd but right.
import { closeSync, openSync, unlinkSync, writeFileSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { join } from "node:path";
import {
  CUSTOMER, ME, RefusedError, STATE, V2, broadcast, load, nextNonce, order, save, sign,
} from "../js/common.mjs";

const AMOUNT = 26n;
const FINAL = new Set(["Succeeded", "Failed", "Dropped", "Refunded"]);

/** Ask with an AbortController of its own for each attempt; the timer goes with the attempt. */
async function ask(path, body) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error("20 seconds are over")), 20_000);
  try {
    const response = await fetch(`${V2}/v1/${path}`, {
      method: body ? "POST" : "GET",
      headers: { "Content-Type": "application/json", EvmAddress: ME, Signature: "00" },
      body: body && JSON.stringify(body),
      signal: controller.signal,
    });
    if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
    const answer = await response.json();
    if (answer.code !== 0) throw new RefusedError(answer.msg);
    return answer.data;
  } finally {
    clearTimeout(timer);
  }
}

async function usdt(chain) {
  const entry = (await ask("getChain")).list.find((c) => c.nickName === chain);
  if (!entry || entry.disabled || entry.delisted || entry.noSwap) throw new RefusedError(`no ${chain}`);
  const { list } = await ask(`getAssetsByChain?chain=${chain}`);
  const token = list.find((t) => t.symbol === "USDT" && !t.delisted && !t.disableBridge);
  if (!token) throw new RefusedError(`no USDT on ${chain}`);
  return token;
}

async function plan() {
  const [here, there] = [await usdt("ARB"), await usdt("BNB")];
  const amount = AMOUNT * 10n ** BigInt(here.decimals);
  const asked = performance.now();
  const quote = await ask(`getBridgeQuote?amount=${amount}&symbol=USDT&fromChain=ARB&toChain=BNB`);
  if (performance.now() - asked > 20_000) throw new Error("an old quote");
  const net = BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);
  if (net * 100n < AMOUNT * 85n * 10n ** BigInt(there.decimals)) throw new RefusedError("too dear");
  const nonce = nextNonce();
  const tx = sign("ARB", here.contractAddress, amount, nonce);
  const body = order({
    tx, amount, from: "ARB", fromIndex: here.index, to: "BNB", toIndex: there.index, receiver: CUSTOMER,
  });
  return { tx, nonce, body, least: String((net * 98n) / 100n) };
}

/** Yield the step that has been reached, until nothing more can be done in this run. */
async function* progress(state, seconds) {
  for (let wait = 2, waited = 0; waited < seconds; waited += wait, wait = Math.min(wait * 1.5, 3_000)) {
    try {
      if (!state.id) {
        state.id = (await ask("submitOrder", state.body)).id;
      } else if (!state.end) {
        const { status, amountOut } = await ask(`checkOrder?id=${state.id}`);
        const short = status === "Succeeded" && BigInt(amountOut) < BigInt(state.least);
        if (FINAL.has(status)) state.end = short ? "Short" : status;
      }
      save("steps.json", state);
      yield state.end;
      if (state.end) return;
    } catch (problem) {
      console.error(problem.message);
    }
    await pause(wait * 1000);
  }
}

async function main() {
  let state = load("steps.json", null);
  if (!state) {
    try {
      state = await plan();
    } catch (problem) {
      console.error("nothing was sent:", problem.message);
      return 4;
    }
    save("steps.json", state);
  }
  if (!broadcast(state.tx, state.nonce)) return 9;
  for await (const end of progress(state, 90_000)) {
    if (end) break;
  }
  if (state.end === "Succeeded") return 0;
  if (state.end === "Refunded") return 2;
  for (let wait = 5; !state.ticket && wait < 40_000; wait *= 3) {
    try {
      state.ticket = (await ask("submitTicket", { hash: state.tx, chain: "ARB" })).ticketId;
      save("steps.json", state);
    } catch (problem) {
      console.error(problem.message);
      await pause(wait * 1000);
    }
  }
  return 3;
}

/** Take the lock of a living process never; that of a dead one always. */
function locked() {
  const file = join(STATE, "lock");
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      const handle = openSync(file, "wx");
      writeFileSync(handle, String(process.pid));
      closeSync(handle);
      return true;
    } catch {
      const owner = Number(readFileSync(file, "utf8"));
      try {
        if (owner) process.kill(owner, 0);
        return false;
      } catch {
        unlinkSync(file);
      }
    }
  }
  return false;
}

if (!locked()) process.exit(75);
const code = await main();
unlinkSync(join(STATE, "lock"));
process.exit(code);
