// What the careful JavaScript clients share: patience, a lock, and tickets.
import { readFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ME, RefusedError, STATE, get, post, sleep } from "./common.mjs";

export const DAY = 86_400;
export const ENDS = ["Succeeded", "Failed", "Dropped", "Refunded"];

/** Repeat what may be repeated for a day; refusals only where `refusals` is set. */
export async function patiently(work, { refusals = false } = {}) {
  let waited = 0;
  for (let pause = 1; ; pause = Math.min(pause * 2, 300)) {
    try {
      return await work();
    } catch (problem) {
      if ((problem instanceof RefusedError && !refusals) || waited >= DAY) throw problem;
      console.error("trying again:", problem.message);
    }
    await sleep(pause);
    waited += pause;
  }
}

/** Leave if another run that is alive works in this folder. */
export function alone() {
  const file = join(STATE, "lock");
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      break;
    } catch {
      const holder = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
      if (!holder || alive(holder)) process.exit(75);
      rmSync(file, { force: true });
    }
  }
  process.on("exit", () => rmSync(file, { force: true }));
}

function alive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (problem) {
    return problem.code === "EPERM";
  }
}

export function onChain(payment) {
  const file = join(STATE, "chain", String(payment.nonce));
  return existsSync(file) && readFileSync(file, "utf8") === payment.tx;
}

/** Return the token of a chain, if both can be used now. */
export async function usable(chain, symbol) {
  const chains = await patiently(async () => (await get("getChain")).list.map((item) => item));
  const here = chains.find((item) => item.nickName === chain);
  if (!here || here.disabled || here.delisted || here.noSwap) throw new RefusedError(`${chain} is not offered`);
  const tokens = await patiently(async () => (await get("getAssetsByChain", { chain })).list.map((item) => item));
  const token = tokens.find((item) => item.symbol === symbol && !item.delisted && !item.disableBridge);
  if (!token) throw new RefusedError(`${symbol} is not offered on ${chain}`);
  return token;
}

export const net = (quote) => BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);

/** Follow an order to its end; return 0 if enough arrived, else more than 0. */
export async function follow(payment, keep) {
  let end = { status: "Unknown" };
  let pause = 4;
  for (let waited = 0; !ENDS.includes(end.status) && waited < DAY; waited += pause) {
    await sleep(pause);
    end = await patiently(
      async () => {
        const { status, amountOut } = await get("checkOrder", { id: payment.id });
        if (typeof status !== "string") throw new Error("no status");
        return { status, amountOut: BigInt(amountOut || 0) };
      },
      { refusals: true },
    );
    pause = Math.min(pause * 2, 60);
  }
  if (end.status === "Succeeded" && end.amountOut >= BigInt(payment.least)) return 0;
  if (end.status === "Refunded") return 5;
  await report(payment, keep);
  return 3;
}

/** Open a ticket for a transaction, unless there is one. */
async function report(payment, keep) {
  if (payment.ticket !== undefined) return;
  for (const filter of ["Unknown", "Pending", "Succeeded"]) {
    const { list } = await patiently(() => get("getAllTicketByAddress", { address: ME, filter }));
    payment.ticket ??= list.find((ticket) => ticket.hash === payment.tx)?.ticketId;
  }
  payment.ticket ??= (
    await patiently(() => post("submitTicket", { hash: payment.tx, chain: payment.chain }), { refusals: true })
  ).ticketId;
  keep();
}
