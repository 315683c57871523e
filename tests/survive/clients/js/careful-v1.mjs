// The four steps of v1 with a state file: the same hash is submitted until it is taken.
import { DAY, alone, onChain, patiently } from "./careful.mjs";
import { ME, RefusedError, broadcast, load, nextNonce, save, sign, sleep, v1 } from "./common.mjs";

const ROUTE = { fromChain: "MATIC", toChain: "BSC", feeLevel: 0 };
const AMOUNT = 10;

async function pay() {
  const active = await patiently(async () => {
    const { chains } = await v1("base/getSupportChains");
    return chains.filter((chain) => chain.isActive).map((chain) => chain.name);
  });
  if (!active.includes("MATIC") || !active.includes("BSC")) throw new RefusedError("a chain is not offered");
  const out = await patiently(async () => {
    const { crossChain } = await v1("order/getCrossChainQuote", { ...ROUTE, amount: AMOUNT, token: "USDT" });
    return crossChain.amountOut;
  });
  if (!(out >= AMOUNT * 0.9)) throw new RefusedError("the fees take more than a tenth");
  const wanted = { amount: AMOUNT, chain: "MATIC", evmAddress: ME, fromAddress: ME, token: "USDT" };
  const raw = await patiently(async () => (await v1("order/getTransferToMinterRaw", wanted)).raw.split("_")[0]);
  const nonce = nextNonce();
  const tx = sign("MATIC", raw, AMOUNT, nonce);
  const payment = { tx, nonce, least: out * 0.99 };
  save("v1.json", payment);
  if (!broadcast(tx, nonce)) throw new RefusedError("the nonce is taken");
  return payment;
}

function submission(tx) {
  const body = { ...ROUTE, fromAmount: AMOUNT, fromToken: "USDT", certHash: tx, evmAddres: ME, fromAddress: 0 };
  // JSON.stringify would round an integer of this size
  return JSON.stringify(body).replace('"fromAddress":0', `"fromAddress":${BigInt(ME)}`);
}

async function main() {
  alone();
  let payment = load("v1.json");
  if (!payment || !onChain(payment)) payment = await pay();
  const { tx } = payment;
  if (!payment.sn) {
    const submit = async () => (await v1("order/submitCrossChain", submission(tx))).sn;
    payment.sn = await patiently(submit, { refusals: true });
    save("v1.json", payment);
  }
  const query = { chain: "MATIC", hash: tx, evmAddress: ME };
  const readDetail = async () => {
    const { order } = await v1("order/getOrderDetailByHashAndEvmAddress", undefined, query);
    return { status: order.status, amount: Number(order.toAmount) };
  };
  let pause = 4;
  for (let waited = 0; waited < DAY; waited += pause) {
    await sleep(pause);
    const { status, amount } = await patiently(readDetail, { refusals: true });
    if (status === 2) return amount >= payment.least ? 0 : 3;
    if (status === 3) return 3;
    pause = Math.min(pause * 2, 60);
  }
  return 3;
}

main().then(
  (code) => process.exit(code),
  (problem) => {
    console.error("not moved:", problem.message);
    process.exit(2);
  },
);
