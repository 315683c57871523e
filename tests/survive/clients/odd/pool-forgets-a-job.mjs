// Three workers take jobs off a shared iterator. A job whose worker fails is not seen by anybody: the pool says that all is done.
import { CUSTOMER, get, load, order, post, save, sleep, transfer } from "../js/common.mjs";

const JOBS = ["11", "13", "17", "19", "29"].map((whole, place) => ({ name: `job-${place}`, amount: `${whole}000000` }));

async function* orders(jobs) {
  for (const job of jobs) {
    if (load(`${job.name}.json`, null)) continue;
    await get("getBridgeQuote", { amount: job.amount, symbol: "USDT", fromChain: "ARB", toChain: "BNB" });
    const tx = transfer("ARB", "USDT", job.amount);
    save(`${job.name}.json`, { tx });
    yield [job, tx];
  }
}

async function work(jobs) {
  for await (const [{ name, amount }, tx] of jobs) {
    const body = order({ tx, amount, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER });
    const { id } = await post("submitOrder", body);
    save(`${name}.json`, { tx, id });
    let status = "";
    for (let look = 0; look < 100 && status !== "Succeeded"; look++, await sleep(9)) {
      ({ status } = await get("checkOrder", { id }));
      if (["Failed", "Dropped", "Refunded"].includes(status)) throw new Error(`${name}: ${status}`);
    }
  }
}

const jobs = orders(JOBS);
await Promise.allSettled([work(jobs), work(orders(JOBS.slice(3))), work(jobs)]);
