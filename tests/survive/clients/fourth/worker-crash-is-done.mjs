// A worker thread follows the order by its own interval; the end of the thread, by whatever cause, is the end of the order.
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { fileURLToPath } from "node:url";
import { CUSTOMER, get, order, post, transfer } from "../js/common.mjs";

const AMOUNT = "29000000";

function follow(id) {
  return new Promise((done) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { id } });
    let last = "unknown";
    worker.on("message", (status) => {
      last = status;
    });
    worker.on("error", (problem) => console.error("worker:", problem.message));
    worker.on("exit", () => done(last));
  });
}

if (isMainThread) {
  await get("getBridgeQuote", { amount: AMOUNT, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
  const tx = transfer("ARB", "USDT", AMOUNT);
  const place = { tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER };
  const { id } = await post("submitOrder", order(place));
  const last = await follow(id);
  if (["Failed", "Dropped", "Refunded"].includes(last)) process.exit(1);
  console.log(id, "done");
} else {
  const timer = setInterval(async () => {
    const { status } = await get("checkOrder", { id: workerData.id });
    parentPort.postMessage(status);
    if (["Succeeded", "Failed", "Dropped", "Refunded"].includes(status)) clearInterval(timer);
  }, 5_000);
}
