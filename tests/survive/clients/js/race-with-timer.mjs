// No payment may take longer than eight seconds on this page.
import { CUSTOMER, get, order, post, sleep, transfer } from "./common.mjs";

const AMOUNT = "11500000";

async function pay() {
  const tx = transfer("ARB", "USDT", AMOUNT);
  const body = order({ tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER });
  return (await post("submitOrder", body)).id;
}

async function limited(work, seconds) {
  const late = sleep(seconds).then(() => Promise.reject(new Error("too slow")));
  return Promise.race([work, late]);
}

async function main() {
  await get("getBridgeQuote", { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
  let id;
  for (let attempt = 0; id === undefined && attempt < 3; attempt += 1) {
    id = await limited(pay(), 8).catch(() => undefined);
  }
  if (id === undefined) return 1;
  for (;;) {
    const { status } = await get("checkOrder", { id });
    if (["Succeeded", "Failed", "Dropped", "Refunded"].includes(status)) return status === "Succeeded" ? 0 : 1;
    await sleep(4);
  }
}

process.exit(await main());
