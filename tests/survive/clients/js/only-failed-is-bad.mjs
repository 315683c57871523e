// Follow an order: it is over when it has a hash, or when it failed.
import { CUSTOMER, RefusedError, get, order, post, sleep, transfer } from "./common.mjs";

const AMOUNT = "47000000";

async function stubborn(work) {
  for (let pause = 1; pause < 200; pause *= 2) {
    try {
      return await work();
    } catch (problem) {
      if (problem instanceof RefusedError) throw problem;
      await sleep(pause);
    }
  }
  return work();
}

async function main() {
  await stubborn(() => get("getBridgeQuote", { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" }));
  const tx = transfer("ARB", "USDT", AMOUNT);
  const body = order({ tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER });
  const { id } = await stubborn(() => post("submitOrder", body));
  const pending = new Set(["Unknown", "Pending", "Verified", "WaitVerify"]);
  let status = "Unknown";
  while (pending.has(status)) {
    await sleep(5);
    ({ status } = await stubborn(() => get("checkOrder", { id })));
  }
  if (status === "Failed") throw new Error("failed");
  console.log("delivered");
}

main().then(() => process.exit(0), () => process.exit(1));
