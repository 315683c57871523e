// Fire the payout, show the receipt.
import { CUSTOMER, get, order, post, save, sleep, transfer } from "./common.mjs";

const AMOUNT = "52000000";
const query = { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" };

async function submit(tx) {
  const body = order({ tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER });
  const { id } = await post("submitOrder", body);
  save("receipt.json", { tx, id, at: Date.now() });
  for (;;) {
    const { status } = await get("checkOrder", { id });
    if (status === "Succeeded") return id;
    if (["Failed", "Dropped", "Refunded"].includes(status)) throw new Error(status);
    await sleep(4);
  }
}

async function main() {
  const { outAmountUsd } = await get("getBridgeQuote", query);
  const tx = transfer("ARB", "USDT", AMOUNT);
  submit(tx).catch((problem) => console.error("background:", problem.message));
  console.log(`sent ${outAmountUsd} USD with ${tx}`);
}

await main();
