// http.request on an agent that keeps three connections. A submission that loses its race against a timer is paid anew.
import { Agent, request } from "node:http";
import { CUSTOMER, ME, V2, load, order, save, sleep, transfer } from "../js/common.mjs";

const agent = new Agent({ keepAlive: true, maxSockets: 3 });

const ask = (path, body) =>
  new Promise((done, failed) => {
    const headers = { "Content-Type": "application/json", EvmAddress: ME, Signature: "00" };
    const sent = request(`${V2}/v1/${path}`, { agent, method: body ? "POST" : "GET", headers }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("error", failed);
      answer.on("end", () => {
        try {
          const { code, data, msg } = JSON.parse(Buffer.concat(parts));
          code === 0 ? done(data) : failed(new Error(msg));
        } catch (problem) {
          failed(problem);
        }
      });
    });
    sent.on("error", failed);
    if (body) sent.write(JSON.stringify(body).slice(0, 20));
    sent.end(body && JSON.stringify(body).slice(20));
  });

async function pay(name, amount) {
  const paid = load(`${name}.json`, {});
  for (let turn = 0; turn < 4 && !paid.id; turn++) {
    await ask(`getBridgeQuote?amount=${amount}&symbol=USDT&fromChain=ARB&toChain=BNB`);
    const tx = transfer("ARB", "USDT", amount);
    const body = order({ tx, amount, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER });
    const first = await Promise.race([ask("submitOrder", body), sleep(15).then(() => null)]);
    if (first) save(`${name}.json`, Object.assign(paid, first));
  }
  for (let look = 0; look < 200; look++) {
    const { status } = await ask(`checkOrder?id=${paid.id}`).catch(() => ({}));
    if (status === "Succeeded") return;
    if (["Failed", "Dropped", "Refunded"].includes(status)) throw new Error(`${name}: ${status}`);
    await sleep(7);
  }
  throw new Error(`${name} is under way`);
}

await Promise.all([pay("gas", "18000000"), pay("water", "26000000"), pay("light", "39000000")]);
agent.destroy();
