// Jobs are looked at each minute; a tick does not know that the tick before is still at work.
import { CUSTOMER, broadcast, load, save } from "../js/common.mjs";
import { FINAL, SENDER, opened, prepared, url } from "./wallet.mjs";

const ask = async (address, body) => {
  const request = { method: body ? "POST" : "GET", headers: SENDER, body: body && JSON.stringify(body) };
  const response = await fetch(address, request);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return opened(await response.json());
};

const job = load("job.json", { state: "new" });
let ticks = 0;

async function tick() {
  ticks += 1;
  try {
    if (job.state === "new") {
      const paid = await prepared(ask, 36, CUSTOMER);
      broadcast(paid.tx, paid.nonce);
      const { id } = await ask(url("submitOrder"), paid.body);
      Object.assign(job, paid, { id, state: "ordered" });
      save("job.json", job);
    }
    const { status, amountOut } = await ask(url("checkOrder", { id: job.id }));
    if (FINAL.includes(status)) {
      if (status === "Succeeded" && BigInt(amountOut) >= BigInt(job.least)) process.exit(0);
      await ask(url("submitTicket"), { hash: job.tx, chain: "ARB" });
      process.exit(1);
    }
  } catch (problem) {
    console.error(problem.message);
  }
  if (ticks > 1_000) process.exit(2);
}

setInterval(tick, 60_000);
tick();
