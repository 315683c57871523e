// Swap USDT to BNB; the settings page offers 1, 2 or 3 percent.
import { CUSTOMER, NATIVE, get, order, post, sleep, transfer } from "./common.mjs";

const settings = { slippage: 2 };
const AMOUNT = "150000000";
const USDT = "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9";

const quote = await get("getAggregateQuote", {
  fromAmount: AMOUNT,
  fromTokenAddress: USDT,
  fromDecimal: "6",
  fromChain: "ARB",
  toTokenAddress: NATIVE,
  toDecimal: "18",
  toChain: "BNB",
});
const least = (BigInt(quote.outAmount) * BigInt(100 - settings.slippage)) / 100n;
const tx = transfer("ARB", "USDT", AMOUNT);
const body = order({
  tx,
  amount: AMOUNT,
  from: "ARB",
  fromIndex: 5,
  to: "BNB",
  toIndex: 8,
  receiver: CUSTOMER,
  type: "2",
  slippage: `${settings.slippage}`,
});
const { id } = await post("submitOrder", body);
let data;
do {
  await sleep(5);
  data = await get("checkOrder", { id });
} while (!["Succeeded", "Failed", "Dropped", "Refunded"].includes(data.status));
console.log(data.status, data.amountOut, "at least", String(least));
process.exit(data.status === "Succeeded" ? 0 : 1);
