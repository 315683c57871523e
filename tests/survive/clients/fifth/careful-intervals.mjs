// A tick each half minute, one at a time, with signals that abort. Odd but right.
import { CUSTOMER, broadcast, load, save } from "../js/common.mjs";
import { locked } from "./lock.mjs";
import { FINAL, SENDER, opened, prepared, url } from "./wallet.mjs";

const WAITS = 20_000;
const HOURS = 26;

async function ask(address, body) {
  const controller = new AbortController();
  const guard = setTimeout(() => controller.abort(new Error("too slow")), WAITS);
  try {
    const request = { method: body ? "POST" : "GET", headers: SENDER, signal: controller.signal };
    const response = await fetch(address, { ...request, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return opened(await response.json());
  } finally {
    clearTimeout(guard);
  }
}

const job = load("job.json", {});
const keep = (news) => save("job.json", Object.assign(job, news));
const began = Date.now();
let [busy, skips, patience] = [false, 0, 0];

/** Return an exit status once the job has come to its end. */
async function step() {
  const late = Date.now() - began > HOURS * 3_600_000;
  if (!job.tx) {
    try {
      keep(await prepared(ask, 36, CUSTOMER));
    } catch (problem) {
      console.error("nothing is paid:", problem.message);
      return 4;
    }
  }
  if (!broadcast(job.tx, job.nonce)) return 5;
  if (!job.id && !late) keep({ id: (await ask(url("submitOrder"), job.body)).id });
  if (!job.end && job.id) {
    const { status, amountOut } = await ask(url("checkOrder", { id: job.id }));
    if (FINAL.includes(status)) keep({ end: BigInt(amountOut || 0) >= BigInt(job.least) ? status : "short" });
  }
  if (job.end === "Succeeded") return 0;
  if (job.end === "Refunded" || job.ticket) return 1;
  if (!job.end && !late) return undefined;
  keep({ ticket: (await ask(url("submitTicket"), { hash: job.tx, chain: "ARB" })).ticketId });
  return 1;
}

async function tick() {
  if (busy || (skips += 1) < patience) return;
  busy = true;
  skips = 0;
  try {
    const code = await step();
    if (code !== undefined) process.exit(code);
    patience = Math.min(patience + 1, 60);
  } catch (problem) {
    console.error(problem.message);
    patience = Math.min(2 * patience + 1, 120);
    if (Date.now() - began > 3 * HOURS * 3_600_000) process.exit(3);
  } finally {
    busy = false;
  }
}

const unlock = locked();
if (!unlock) process.exit(75);
process.on("exit", unlock);
setInterval(tick, 30_000);
await tick();
