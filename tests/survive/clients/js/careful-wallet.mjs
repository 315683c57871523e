// A wallet sends 10 USDT from Arbitrum to the user's account on BNB Chain.
import { alone, follow, net, onChain, patiently, usable } from "./careful.mjs";
import { ME, RefusedError, broadcast, get, load, nextNonce, order, post, save, sign } from "./common.mjs";

async function pay() {
  const here = await usable("ARB", "USDT");
  const there = await usable("BNB", "USDT");
  const amount = 10n * 10n ** BigInt(here.decimals);
  const query = { amount: String(amount), symbol: "USDT", fromChain: "ARB", toChain: "BNB" };
  const arriving = await patiently(async () => net(await get("getBridgeQuote", query)));
  if (arriving < 9n * 10n ** BigInt(there.decimals)) throw new RefusedError("the fees take more than a tenth");
  const nonce = nextNonce();
  const tx = sign("ARB", here.contractAddress, amount, nonce);
  const route = { from: "ARB", fromIndex: here.index, to: "BNB", toIndex: there.index, receiver: ME };
  const payment = { chain: "ARB", tx, nonce, least: String((arriving * 99n) / 100n) };
  payment.body = order({ tx, amount, ...route });
  save("wallet.json", payment);
  if (!broadcast(tx, nonce)) throw new RefusedError("the nonce is taken");
  return payment;
}

async function main() {
  alone();
  let payment = load("wallet.json");
  if (!payment || !onChain(payment)) payment = await pay();
  const keep = () => save("wallet.json", payment);
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
    console.error("not sent:", problem.message);
    process.exit(2);
  },
);
