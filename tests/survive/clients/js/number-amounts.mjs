// Send a whole balance of XCHNG (18 decimals) from Arbitrum to Fusion.
import { ME, get, order, post, sleep, transfer } from "./common.mjs";

const BALANCE = "1234.567890123456789";

async function decimals(chain, symbol) {
  const { list } = await get("getAssetsByChain", { chain });
  return list.find((token) => token.symbol === symbol).decimals;
}

const units = Number(BALANCE) * 10 ** (await decimals("ARB", "XCHNG"));
const amount = units.toLocaleString("fullwide", { useGrouping: false });
const quote = await get("getBridgeQuote", { amount, symbol: "XCHNG", fromChain: "ARB", toChain: "FSN" });
if (Number(quote.outAmount) <= Number(quote.serviceFee) + Number(quote.gasFee)) process.exit(2);
const tx = transfer("ARB", "XCHNG", amount);
const body = order({ tx, amount, from: "ARB", fromIndex: 1, to: "FSN", toIndex: 1, receiver: ME });
const { id } = await post("submitOrder", body);
for (;;) {
  const { status, amountOut } = await get("checkOrder", { id });
  if (status === "Succeeded") {
    console.log("moved", BALANCE, "arrived", Number(amountOut) / 1e18);
    break;
  }
  if (["Failed", "Dropped", "Refunded"].includes(status)) process.exit(1);
  await sleep(5);
}
