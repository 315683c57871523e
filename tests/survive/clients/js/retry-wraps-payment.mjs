// A check-out: one helper retries whatever it is given.
import { CUSTOMER, get, order, post, sleep, transfer } from "./common.mjs";

const AMOUNT = "21000000";

async function withRetry(work, times = 4) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (problem) {
      if (attempt === times) throw problem;
      await sleep(attempt);
    }
  }
}

async function pay() {
  const tx = transfer("ARB", "USDT", AMOUNT);
  const body = order({ tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER });
  const { id } = await post("submitOrder", body);
  return id;
}

const query = { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" };
await withRetry(() => get("getBridgeQuote", query));
const id = await withRetry(pay);
for (;;) {
  const { status } = await withRetry(() => get("checkOrder", { id }));
  if (status === "Succeeded") break;
  if (["Failed", "Dropped", "Refunded"].includes(status)) process.exit(1);
  await sleep(4);
}
