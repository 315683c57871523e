// Reads are hedged: two at once, the first answer counts, the other is aborted. Each deposit is written down before it is sent.
import { CUSTOMER, RefusedError, V2, broadcast, load, nextNonce, order, post, save, sign } from "../js/common.mjs";
import { ENDS, alone, net, patiently, usable } from "../js/careful.mjs";
import { setTimeout as pause } from "node:timers/promises";

async function hedged(operation, query) {
  const control = new AbortController();
  const signal = AbortSignal.any([control.signal, AbortSignal.timeout(20_000)]);
  const ask = async (wait) => {
    await pause(wait, undefined, { signal });
    const response = await fetch(`${V2}/v1/${operation}?${new URLSearchParams(query)}`, { signal });
    const answer = await response.json();
    if (!response.ok || answer?.code === undefined) throw new Error(`HTTP ${response.status}`);
    if (answer.code !== 0) throw new RefusedError(answer.msg);
    return answer.data;
  };
  try {
    return await Promise.any([ask(0), ask(0), ask(2_000)]);
  } catch (problem) {
    throw problem.errors?.[0] ?? problem;
  } finally {
    control.abort();
  }
}

async function prepared(amount) {
  const token = await usable("ARB", "USDT");
  const target = await usable("BNB", "USDT");
  const quote = await patiently(async () => {
    const answer = await hedged("getBridgeQuote", { amount, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
    if (net(answer) <= 0n) throw new Error("nothing would arrive");
    return answer;
  });
  return { token, target, least: String((net(quote) * 99n) / 100n) };
}

/** Sign a transfer with the next nonce; nothing may come between this and its sending. */
function signed(amount, { token, target, least }) {
  const nonce = nextNonce();
  const tx = sign("ARB", "USDT", amount, nonce);
  const body = order({ tx, amount, from: "ARB", fromIndex: token.index, to: "BNB", toIndex: target.index, receiver: CUSTOMER });
  return { nonce, tx, body, least };
}

async function pay(name, amount) {
  const file = `${name}.json`;
  const payment = load(file, null) ?? signed(amount, await prepared(amount));
  const keep = (more) => save(file, Object.assign(payment, more));
  keep();
  if (!broadcast(payment.tx, payment.nonce)) throw new Error("the nonce is taken");
  if (!payment.id) keep(await patiently(() => post("submitOrder", payment.body), { refusals: true }));
  for (let look = 0; look < 400 && !payment.end; look++) {
    await pause(Math.min(5_000 + look * 1_000, 300_000));
    const seen = await hedged("checkOrder", { id: payment.id }).catch(() => ({}));
    if (ENDS.includes(seen.status)) keep({ end: seen.status, arrived: String(seen.amountOut || 0) });
  }
  if (payment.end === "Succeeded" && BigInt(payment.arrived) >= BigInt(payment.least)) return true;
  if (payment.end !== "Refunded" && !payment.ticketId)
    keep(await patiently(() => post("submitTicket", { hash: payment.tx, chain: "ARB" }), { refusals: true }));
  return false;
}

alone();
// Both send what was written down before either takes a new nonce.
const ends = await Promise.allSettled([pay("rent", "64000000"), pay("tax", "27000000")]);
process.exitCode = ends.every(({ value }) => value === true) ? 0 : 1;
