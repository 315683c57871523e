// A dashboard that keeps its orders as numbers, since they look like numbers.
import { CUSTOMER, get, load, order, post, save, sleep, transfer } from "./common.mjs";

const AMOUNT = "34000000";

async function place() {
  await get("getBridgeQuote", { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
  const tx = transfer("ARB", "USDT", AMOUNT);
  const body = order({ tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER });
  return Number((await post("submitOrder", body)).id);
}

const orders = load("orders.json", []);
if (orders.length === 0) {
  orders.push({ id: await place(), open: true });
  save("orders.json", orders);
}
for (const entry of orders.filter((each) => each.open)) {
  for (let polls = 0; entry.open && polls < 500; polls += 1) {
    try {
      const { status } = await get("checkOrder", { id: entry.id });
      entry.open = !["Succeeded", "Failed", "Dropped", "Refunded"].includes(status);
      entry.good = status === "Succeeded";
    } catch (problem) {
      console.log("order", entry.id, problem.message);
    }
    if (entry.open) await sleep(5);
  }
  save("orders.json", orders);
}
process.exit(orders.every((entry) => entry.good) ? 0 : 1);
