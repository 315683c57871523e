// A serverless function has three minutes; what runs out of time was cancelled by the user.
import { CUSTOMER, ME, V2, order, transfer } from "../js/common.mjs";

const AMOUNT = "47000000";
const deadline = AbortSignal.timeout(180_000);

async function ask(path, body) {
  const response = await fetch(`${V2}/v1/${path}`, {
    method: body ? "POST" : "GET",
    headers: { "Content-Type": "application/json", EvmAddress: ME, Signature: "00" },
    body: body && JSON.stringify(body),
    signal: deadline,
  });
  const answer = await response.json();
  if (answer.code !== 0) throw new Error(`refused: ${answer.msg}`);
  return answer.data;
}

async function handler() {
  await ask(`getBridgeQuote?amount=${AMOUNT}&symbol=USDT&fromChain=ARB&toChain=BNB`);
  const tx = transfer("ARB", "USDT", AMOUNT);
  const place = { tx, amount: AMOUNT, from: "ARB", fromIndex: 5, to: "BNB", toIndex: 5, receiver: CUSTOMER };
  const { id } = await ask("submitOrder", order(place));
  for (;;) {
    const { status } = await ask(`checkOrder?id=${id}`);
    if (status === "Succeeded") return { statusCode: 200 };
    if (["Failed", "Dropped", "Refunded"].includes(status)) throw new Error(`${id}: ${status}`);
    await new Promise((done) => setTimeout(done, 4_000));
  }
}

try {
  console.log(await handler());
} catch (problem) {
  if (problem.name !== "TimeoutError" && problem.name !== "AbortError") throw problem;
  console.log({ statusCode: 204, reason: "cancelled" });
}
