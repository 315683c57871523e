// A check-out with a state file; the supervisor restarts it when it throws.
import { CUSTOMER, get, load, order, post, save, sleep, transfer } from "./common.mjs";

const AMOUNT = "24000000";

async function checkout() {
  const cart = `cart-${Date.now()}`;
  const payments = load("payments.json", {});
  const payment = (payments[cart] ??= {});
  if (!payment.tx) {
    await get("getBridgeQuote", { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
    payment.tx = transfer("ARB", "USDT", AMOUNT);
    save("payments.json", payments);
  }
  if (!payment.id) {
    const { tx } = payment;
    const body = order({ tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER });
    payment.id = (await post("submitOrder", body)).id;
    save("payments.json", payments);
  }
  for (;;) {
    const { status } = await get("checkOrder", { id: payment.id });
    if (["Succeeded", "Failed", "Dropped", "Refunded"].includes(status)) return status === "Succeeded" ? 0 : 1;
    await sleep(5);
  }
}

for (let restarts = 0; restarts < 5; restarts += 1) {
  try {
    process.exit(await checkout());
  } catch (problem) {
    console.error("restart:", problem.message);
    await sleep(5);
  }
}
process.exit(1);
