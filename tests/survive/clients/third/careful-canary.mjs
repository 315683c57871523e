// A canary first: a small amount goes the way that the rest will go, and has to arrive.
// Odd but right: two orders for one purpose; a payment is written down as a text of its own; ids
// are compared as texts, amounts as BigInt; an unknown word for a status means "wait".
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CUSTOMER, ME, STATE, broadcast, get, load, nextNonce, order, post, save, sign, sleep } from "../js/common.mjs";

const DAY = 86_400;

async function until(work, limit) {
  let waited = 0;
  for (let pause = 2; ; pause = Math.min(pause * 3, 1_200)) {
    try {
      return await work();
    } catch (problem) {
      if (waited > limit) throw problem;
      console.error("again:", problem.message);
    }
    await sleep(pause);
    waited += pause;
  }
}

async function offered(chain) {
  const { list: chains } = await get("getChain");
  const here = chains.find(({ nickName }) => nickName === chain);
  const { list } = await get("getAssetsByChain", { chain });
  const token = list.find(({ symbol, delisted, disableBridge }) => symbol === "USDT" && !delisted && !disableBridge);
  if (!token || !here || here.disabled || here.delisted || here.noSwap) throw new Error(`${chain} is closed`);
  return token;
}

async function prepare(name, whole) {
  const [from, to] = [await offered("ARB"), await offered("BNB")];
  const amount = whole * 10n ** BigInt(from.decimals);
  const query = { amount: String(amount), symbol: "USDT", fromChain: "ARB", toChain: "BNB" };
  const quote = await get("getBridgeQuote", query);
  const arriving = BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);
  if (arriving * 4n < whole * 10n ** BigInt(to.decimals)) throw new Error("too dear");
  const nonce = nextNonce();
  const tx = sign("ARB", from.contractAddress, amount, nonce);
  const way = { from: "ARB", fromIndex: from.index, to: "BNB", toIndex: to.index, receiver: CUSTOMER };
  const payment = { tx, nonce, body: order({ tx, amount, ...way }), least: String((arriving * 97n) / 100n) };
  save(name, payment);
  return payment;
}

async function carry(name, whole) {
  const payment = load(name) ?? (await until(() => prepare(name, whole), 900));
  const file = join(STATE, "chain", String(payment.nonce));
  if (!broadcast(payment.tx, payment.nonce) || !existsSync(file) || readFileSync(file, "utf8") !== payment.tx) {
    throw new Error("the money did not move");
  }
  if (payment.end === undefined) {
    payment.id ??= (await until(() => post("submitOrder", payment.body), DAY)).id;
    save(name, payment);
    for (let waited = 0, pause = 6; waited < DAY; waited += pause, pause = Math.min(pause + 6, 300)) {
      await sleep(pause);
      const { status, amountOut } = await until(async () => {
        const data = await get("checkOrder", { id: payment.id });
        if (typeof data.status !== "string") throw new Error("no status");
        return { status: data.status, amountOut: BigInt(data.amountOut || 0) };
      }, DAY);
      if (status === "Succeeded") payment.end = amountOut < BigInt(payment.least) ? "short" : "good";
      else if (["Failed", "Dropped", "Refunded"].includes(status)) payment.end = status;
      if (payment.end !== undefined) break;
    }
    payment.end ??= "stuck";
    save(name, payment);
  }
  if (payment.end !== "good" && payment.end !== "Refunded" && payment.ticket === undefined) {
    payment.ticket = (await until(() => post("submitTicket", { hash: payment.tx, chain: "ARB" }), DAY)).ticketId;
    save(name, payment);
  }
  return payment.end === "good";
}

async function main() {
  try {
    const canary = await carry("canary.json", 3n);
    if (!canary) return 4;
    return (await carry("rest.json", 140n)) ? 0 : 4;
  } catch (problem) {
    console.error(ME, "stopped:", problem.message);
    return 2;
  }
}

// One run at a time: the file is made by whoever comes first, and taken over from the dead.
for (const lock = join(STATE, "lock"); ; rmSync(lock, { force: true })) {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    break;
  } catch {
    const holder = readFileSync(lock, "utf8");
    if (!holder || existsSync(`/proc/${holder}`)) process.exit(75);
  }
}
process.exit(await main());
