// A market maker: what was swapped is booked at the price of the quote.
import { ME, NATIVE, RefusedError, get, load, order, post, save, sleep, transfer } from "./common.mjs";

const AMOUNT = "900000000";

async function firm(work) {
  for (let pause = 1; pause < 100; pause *= 2) {
    try {
      return await work();
    } catch (problem) {
      if (problem instanceof RefusedError) throw problem;
      await sleep(pause);
    }
  }
  return work();
}

const quote = await firm(() =>
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
const tx = transfer("ARB", "USDT", AMOUNT);
const place = { tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 8, receiver: ME };
const { id } = await firm(() => post("submitOrder", order({ ...place, type: "2", slippage: "100" })));
for (;;) {
  const data = await firm(() => get("checkOrder", { id }));
  if (data.status === "Succeeded") break;
  if (["Failed", "Dropped", "Refunded"].includes(data.status)) process.exit(1);
  await sleep(5);
}
const book = load("book.json", { usdt: "0", bnb: "0" });
book.usdt = String(BigInt(book.usdt) - BigInt(AMOUNT));
book.bnb = String(BigInt(book.bnb) + BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee));
save("book.json", book);
