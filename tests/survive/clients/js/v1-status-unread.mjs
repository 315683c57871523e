// First generation: the order is good as soon as its detail has a number.
import { ME, sleep, transfer, v1 } from "./common.mjs";

const move = { fromChain: "MATIC", toChain: "BSC", feeLevel: 0 };

async function tries(work) {
  for (let pause = 1; pause <= 64; pause *= 2) {
    try {
      return await work();
    } catch (problem) {
      console.error(problem.message);
      await sleep(pause);
    }
  }
  return work();
}

const { crossChain } = await tries(() => v1("order/getCrossChainQuote", { ...move, amount: 14, token: "USDT" }));
const { raw } = await tries(() =>
  v1("order/getTransferToMinterRaw", { amount: 14, chain: "MATIC", evmAddress: ME, fromAddress: ME, token: "USDT" }),
);
const tx = transfer("MATIC", raw.split("_")[0], 14);
// JSON has no way to write an integer of this size but by hand
const body = JSON.stringify({ ...move, fromAmount: 14, fromToken: "USDT", certHash: tx, evmAddres: ME, fromAddress: 0 });
await tries(() => v1("order/submitCrossChain", body.replace('"fromAddress":0', `"fromAddress":${BigInt(ME)}`)));
const { order } = await tries(() =>
  v1("order/getOrderDetailByHashAndEvmAddress", undefined, { chain: "MATIC", hash: tx, evmAddress: ME }),
);
if (!order.sn) process.exit(1);
console.log("order", order.sn, "brings", crossChain.amountOut);
