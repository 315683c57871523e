// Swap 60 USDT on Arbitrum into BNB, with a minimum of 1 % below the quote of the moment.
import { alone, follow, net, onChain, patiently, usable } from "./careful.mjs";
import { CUSTOMER, RefusedError, broadcast, get, load, nextNonce, order, post, save, sign } from "./common.mjs";

const SLIPPAGE = 100n; // hundredths of a percent

async function quote(usdt, bnb, amount) {
  const data = await get("getAggregateQuote", {
    fromAmount: String(amount),
    fromTokenAddress: usdt.contractAddress,
    fromDecimal: String(usdt.decimals),
    fromChain: "ARB",
    toTokenAddress: bnb.contractAddress,
    toDecimal: String(bnb.decimals),
    toChain: "BNB",
  });
  return net(data);
}

async function pay() {
  const [usdt, bnb] = [await usable("ARB", "USDT"), await usable("BNB", "BNB")];
  const amount = 60n * 10n ** BigInt(usdt.decimals);
  const expected = await patiently(() => quote(usdt, bnb, amount));
  if (expected <= 0n) throw new RefusedError("the fees take everything");
  const least = (expected * (10_000n - SLIPPAGE)) / 10_000n;
  const nonce = nextNonce();
  const tx = sign("ARB", usdt.contractAddress, amount, nonce);
  const route = { from: "ARB", fromIndex: usdt.index, to: "BNB", toIndex: bnb.index, receiver: CUSTOMER };
  const body = order({ tx, amount, ...route, type: "2", slippage: String(SLIPPAGE) });
  body.extra = `1_${expected};3_2;4_${least};5_BNB`;
  const payment = { chain: "ARB", tx, nonce, least: String(least), body };
  save("swap.json", payment);
  if (!broadcast(tx, nonce)) throw new RefusedError("the nonce is taken");
  return payment;
}

async function main() {
  alone();
  let payment = load("swap.json");
  if (!payment || !onChain(payment)) payment = await pay();
  const keep = () => save("swap.json", payment);
  if (payment.id === undefined) {
    const submit = async () => String((await post("submitOrder", payment.body)).id);
    payment.id = await patiently(submit, { refusals: true });
    keep();
  }
  return follow(payment, keep);
}

main().then(
  (code) => process.exit(code),
  (problem) => {
    console.error("not swapped:", problem.message);
    process.exit(2);
  },
);
