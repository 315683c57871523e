// A converter that checks what arrived against its minimum, both as they come from the service.
import { CUSTOMER, NATIVE, RefusedError, get, order, post, sleep, transfer } from "../js/common.mjs";

const AMOUNT = "150000000";

async function steady(work) {
  for (let pause = 1; pause < 300; pause *= 3) {
    try {
      return await work();
    } catch (problem) {
      if (problem instanceof RefusedError) throw problem;
      await sleep(pause);
    }
  }
  return work();
}

const quote = await steady(() =>
  get("getAggregateQuote", {
    fromAmount: AMOUNT,
    fromTokenAddress: "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9",
    fromDecimal: "6",
    fromChain: "ARB",
    toTokenAddress: NATIVE,
    toDecimal: "18",
    toChain: "BNB",
  }),
);
const net = BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);
const least = String((net * 99n) / 100n);
const tx = transfer("ARB", "USDT", AMOUNT);
const place = { tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 8, receiver: CUSTOMER };
const { id } = await steady(() => post("submitOrder", order({ ...place, type: "2", slippage: "100" })));
for (;;) {
  const { status, amountOut } = await steady(() => get("checkOrder", { id }));
  if (status === "Succeeded") process.exit(amountOut >= least ? 0 : 1);
  if (["Failed", "Dropped", "Refunded"].includes(status)) process.exit(1);
  await sleep(5);
}
