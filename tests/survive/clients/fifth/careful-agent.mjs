// node:http with kept connections and a generator of steps. Odd but right.
import { Agent, request } from "node:http";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { CUSTOMER, broadcast, load, save } from "../js/common.mjs";
import { locked } from "./lock.mjs";
import { FINAL, SENDER, opened, prepared, url } from "./wallet.mjs";

const agent = new Agent({ keepAlive: true, maxSockets: 2 });

async function ask(address, body) {
  const sent = request(address, { agent, method: body ? "POST" : "GET", headers: SENDER, timeout: 20_000 });
  sent.on("timeout", () => sent.destroy(new Error("too slow")));
  sent.end(body && JSON.stringify(body));
  const [answer] = await once(sent, "response");
  const content = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode}`);
  return opened(JSON.parse(content));
}

async function insist(address, body, limit) {
  for (let wait = 2, waited = 0; ; waited += wait, wait = Math.min(2 * wait, 3_600)) {
    try {
      return await ask(address, body);
    } catch (problem) {
      console.error(problem.message);
      if (waited > limit) throw problem;
    }
    await pause(wait * 1000);
  }
}

async function* steps(bill) {
  if (!bill.tx) yield prepared(ask, 58, CUSTOMER);
  if (!broadcast(bill.tx, bill.nonce)) throw new Error("the nonce is taken");
  if (!bill.id && !bill.end) {
    yield insist(url("submitOrder"), bill.body, 30_000).then(
      ({ id }) => ({ id }),
      () => ({ end: "no order" }),
    );
  }
  for (let wait = 10, waited = 0; !bill.end && waited < 90_000; waited += wait, wait *= 1.2) {
    await pause(wait * 1000);
    try {
      const { status, amountOut } = await ask(url("checkOrder", { id: bill.id }));
      if (FINAL.includes(status)) yield { end: BigInt(amountOut || 0) >= BigInt(bill.least) ? status : "short" };
    } catch (problem) {
      console.error(problem.message);
    }
  }
  if (bill.end === "Succeeded" || bill.end === "Refunded" || bill.ticket) return;
  const { ticketId } = await insist(url("submitTicket"), { hash: bill.tx, chain: "ARB" }, 90_000);
  yield { ticket: ticketId };
}

const unlock = locked();
if (!unlock) process.exit(75);
const bill = load("bill.json", {});
try {
  for await (const step of steps(bill)) save("bill.json", Object.assign(bill, step));
  process.exitCode = bill.end === "Succeeded" ? 0 : 1;
} catch (problem) {
  console.error(problem.message);
  process.exitCode = 4;
}
agent.destroy();
unlock();
