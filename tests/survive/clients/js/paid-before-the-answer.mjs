// A vending machine: the state says "done" before the service has answered.
import { CUSTOMER, get, load, order, post, save, sleep, transfer } from "./common.mjs";

const AMOUNT = "9500000";

async function main() {
  const state = load("machine.json", {});
  if (state.done) {
    console.log("sold already");
    return 0;
  }
  await get("getBridgeQuote", { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
  const tx = transfer("ARB", "USDT", AMOUNT);
  save("machine.json", { done: true, tx });
  const body = order({ tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER });
  const { id } = await post("submitOrder", body);
  for (;;) {
    const { status } = await get("checkOrder", { id });
    if (["Succeeded", "Failed", "Dropped", "Refunded"].includes(status)) return status === "Succeeded" ? 0 : 1;
    await sleep(5);
  }
}

for (let start = 0; start < 3; start += 1) {
  try {
    process.exit(await main());
  } catch (problem) {
    console.error("switched off and on again:", problem.message);
    await sleep(2);
  }
}
process.exit(1);
