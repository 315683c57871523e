// A queue in a file: an entry is taken off before it is worked on, so that no payment is made twice. What fails is lost.
import { CUSTOMER, ME, get, load, order, post, save, sleep, transfer } from "../js/common.mjs";

const JOBS = [
  { name: "rent", amount: "45000000", receiver: CUSTOMER },
  { name: "power", amount: "12000000", receiver: ME },
];

class PersistentQueue {
  constructor(file, first) {
    this.file = file;
    this.entries = load(file, first);
  }
  take() {
    const entry = this.entries.shift();
    save(this.file, this.entries);
    return entry;
  }
  *[Symbol.iterator]() {
    while (this.entries.length) yield this.take();
  }
}

for (const { name, amount, receiver } of new PersistentQueue("queue.json", JOBS)) {
  await get("getBridgeQuote", { amount, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
  const tx = transfer("ARB", "USDT", amount);
  const { id } = await post(
    "submitOrder",
    order({ tx, amount, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver }),
  );
  for (;;) {
    const { status } = await get("checkOrder", { id });
    if (status === "Succeeded") break;
    if (["Failed", "Dropped", "Refunded"].includes(status)) throw new Error(`${name}: ${status}`);
    await sleep(5);
  }
}
