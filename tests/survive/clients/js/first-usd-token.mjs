// Find the dollar token of a chain in its list.
import { CUSTOMER, get, order, post, sleep, transfer } from "./common.mjs";

const AMOUNT = "38000000";

async function dollar(chain) {
  const { list } = await get("getAssetsByChain", { chain });
  return list.find((token) => token.symbol.startsWith("USD") && !token.delisted);
}

async function main() {
  const source = await dollar("ARB");
  const target = await dollar("BNB");
  await get("getBridgeQuote", { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
  const tx = transfer("ARB", source.contractAddress, AMOUNT);
  const body = order({
    tx,
    amount: AMOUNT,
    from: "ARB",
    fromIndex: source.index,
    to: "BNB",
    toIndex: target.index,
    receiver: CUSTOMER,
  });
  const { id } = await post("submitOrder", body);
  for (;;) {
    const { status } = await get("checkOrder", { id });
    if (status === "Succeeded") return 0;
    if (["Failed", "Dropped", "Refunded"].includes(status)) return 1;
    await sleep(4);
  }
}

process.exit(await main());
