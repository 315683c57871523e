// Statuses come as an async iterator that ends after a while; the code after the loop takes its end for the order's.
import { CUSTOMER, get, order, post, sleep, transfer } from "../js/common.mjs";

const AMOUNT = "72000000";

async function* statuses(id) {
  for (let look = 0; look < 30; look += 1) {
    try {
      yield (await get("checkOrder", { id })).status;
    } catch (problem) {
      console.error(problem.message);
    }
    await sleep(6);
  }
}

await get("getBridgeQuote", { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
const tx = transfer("ARB", "USDT", AMOUNT);
const { id } = await post(
  "submitOrder",
  order({ tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER }),
);
for await (const status of statuses(id)) {
  if (["Failed", "Dropped", "Refunded"].includes(status)) throw new Error(`${id}: ${status}`);
  if (status === "Succeeded") break;
}
console.log(`${id} has arrived`);
