// An agent that keeps its connections; what fails on a socket that is used again is built anew.
import { Agent, request } from "node:http";
import { CUSTOMER, broadcast, load, save, sleep } from "../js/common.mjs";
import { FINAL, SENDER, opened, prepared, url } from "./wallet.mjs";

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Send what `build` makes; where a kept connection was cut, build and send it again, at once. */
const send = async (address, build) => {
  const body = build && (await build());
  return new Promise((resolve, reject) => {
    const sent = request(address, { agent, method: body ? "POST" : "GET", headers: SENDER, timeout: 20_000 }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("error", reject);
      answer.on("end", () => {
        try {
          resolve(opened(JSON.parse(Buffer.concat(parts))));
        } catch (problem) {
          reject(problem);
        }
      });
    });
    sent.on("timeout", () => sent.destroy(new Error("too slow")));
    sent.on("error", (problem) => {
      if (sent.reusedSocket && problem.code === "ECONNRESET") send(address, build).then(resolve, reject);
      else reject(problem);
    });
    sent.end(body && JSON.stringify(body));
  });
};
const ask = (address, body) => send(address, body && (() => body));

let bill = load("bill.json", null);
async function pay() {
  bill = await prepared(ask, 58, CUSTOMER);
  save("bill.json", bill);
  broadcast(bill.tx, bill.nonce);
  return bill.body;
}

try {
  if (!bill) {
    const { id } = await send(url("submitOrder"), pay);
    save("bill.json", Object.assign(bill, { id }));
  }
} catch (problem) {
  console.error(problem.message);
  if (!bill) process.exit(4);
}
broadcast(bill.tx, bill.nonce);
for (let tries = 0; tries < 14 && !bill.id; tries += 1) {
  await sleep(Math.min(4 * 2 ** tries, 3_600));
  try {
    const { id } = await ask(url("submitOrder"), bill.body);
    save("bill.json", Object.assign(bill, { id }));
  } catch (problem) {
    console.error(problem.message);
  }
}
let good = false;
for (let looks = 0; bill.id && looks < 1_000; looks += 1) {
  await sleep(40);
  try {
    const { status, amountOut } = await ask(url("checkOrder", { id: bill.id }));
    if (!FINAL.includes(status)) continue;
    good = status === "Succeeded" && BigInt(amountOut) >= BigInt(bill.least);
    break;
  } catch (problem) {
    console.error(problem.message);
  }
}
if (!good) {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      await ask(url("submitTicket"), { hash: bill.tx, chain: "ARB" });
      break;
    } catch {
      await sleep(900);
    }
  }
  process.exit(1);
}
agent.destroy();
