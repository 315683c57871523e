// Three suppliers at once by Promise.all. The quotes' bodies are read, from the last, when all their headers are there.
import { CUSTOMER, ME, broadcast, get, load, nextNonce, order, post, save, sign, V2 } from "../js/common.mjs";
import { alone, follow, net, patiently, usable } from "../js/careful.mjs";

const BILLS = [
  { name: "paper", amount: "31000000", to: "BNB", receiver: CUSTOMER },
  { name: "ink", amount: "47000000", to: "BNB", receiver: ME },
  { name: "post", amount: "23000000", to: "POLYGON", receiver: CUSTOMER },
];

/** Quote all bills together; none is paid on a quote of another moment. */
async function quoted(bills) {
  const answers = await Promise.all(
    bills.map(({ amount, to }) => {
      const query = new URLSearchParams({ amount, symbol: "USDT", fromChain: "ARB", toChain: to });
      return fetch(new Request(`${V2}/v1/getBridgeQuote?${query}`), { signal: AbortSignal.timeout(20_000) });
    }),
  );
  const quotes = [];
  for (const answer of answers.reverse()) {
    const { code, data, msg } = await answer.json();
    if (code !== 0) throw new Error(msg);
    if (net(data) <= 0n) throw new Error("nothing would arrive");
    quotes.unshift(data);
  }
  return quotes;
}

async function settle(bill, payment) {
  const keep = () => save(`${bill.name}.json`, payment);
  if (payment.over !== undefined) return payment.over;
  if (!payment.id) {
    payment.id = (await patiently(() => post("submitOrder", payment.body), { refusals: true })).id;
    keep();
  }
  payment.over = await follow(payment, keep);
  keep();
  return payment.over;
}

alone();
const payments = BILLS.map(({ name }) => load(`${name}.json`, null));
// What was written down and perhaps not sent comes before others take its nonce.
for (const payment of payments) if (payment && !broadcast(payment.tx, payment.nonce)) throw new Error("the nonce is taken");
const missing = BILLS.filter((_, place) => !payments[place]);
if (missing.length) {
  const source = await usable("ARB", "USDT");
  const targets = await Promise.all(missing.map(({ to }) => usable(to, "USDT")));
  const quotes = await patiently(() => quoted(missing));
  for (const [place, bill] of missing.entries()) {
    const nonce = nextNonce();
    const tx = sign("ARB", "USDT", bill.amount, nonce);
    const body = order({ ...bill, tx, from: "ARB", fromIndex: source.index, toIndex: targets[place].index });
    const payment = { tx, nonce, body, chain: "ARB", least: String((net(quotes[place]) * 99n) / 100n) };
    save(`${bill.name}.json`, payment);
    if (!broadcast(tx, nonce)) throw new Error("the nonce is taken");
    payments[BILLS.indexOf(bill)] = payment;
  }
}
const ends = await Promise.allSettled(BILLS.map((bill, place) => settle(bill, payments[place])));
process.exitCode = ends.every(({ value }) => value === 0) ? 0 : 1;
