// Express with ajv, doing the same work: run with `node express.js DATA.json`, NODE_PATH naming
// a folder with both packages.
const fs = require("fs");
const express = require("express");
const Ajv = require("ajv/dist/2020");

const data = JSON.parse(fs.readFileSync(process.argv[2]));
const submission = new Ajv({ strict: false }).compile(data.submission);
const chains = new Map(data.chains.list.map((one) => [one.nickName, one]));
const tokens = new Map(data.assets.list.map((one) => [one.symbol, one]));
const orders = new Map();
const app = express();
const yes = (response, found) => response.json({ code: 0, msg: "success", data: found });
const no = (response, reason) => response.json({ code: 2, msg: reason, data: {} });

app.disable("x-powered-by");
app.disable("etag");
app.use(express.json());
app.get("/v1/getChain", (request, response) => yes(response, data.chains));
app.get("/v1/getBridgeQuote", (request, response) => {
  const { amount, symbol, fromChain, toChain } = request.query;
  const token = tokens.get(symbol);
  if (!token || !chains.has(fromChain) || !chains.has(toChain) || !/^[0-9]+$/.test(amount || ""))
    return no(response, "a name that nobody knows, or an amount that is none");
  const into = BigInt(token.contracts[toChain].decimals);
  const back = BigInt(token.contracts[fromChain].decimals);
  const gross = (BigInt(amount) * 10n ** into) / 10n ** back;
  const fee = (gross * 6n) / 10000n;
  const gas = (3n * 10n ** into) / 10n;
  if (gross - fee - gas <= 0n) return no(response, "the amount does not cover gas and fee");
  const usd = (gross * 10n ** 18n) / 10n ** into;
  const digits = usd.toString().padStart(19, "0");
  return yes(response, {
    price: data.price,
    outAmount: gross.toString(),
    outAmountUsd: `${digits.slice(0, -18)}.${digits.slice(-18)}`,
    serviceFee: fee.toString(),
    gasFee: gas.toString(),
    serviceFeeRate: "6",
  });
});
app.post("/v1/submitOrder", (request, response) => {
  if (!submission(request.body)) return no(response, JSON.stringify(submission.errors));
  const id = String(30000000001 + orders.size);
  orders.set(id, request.body);
  return yes(response, { id });
});
app.get("/v1/checkOrder", (request, response) => {
  if (!orders.has(request.query.id)) return no(response, "the order does not exist");
  const found = { status: "Pending", timestamp: 1, execHash: "", reason: "", amountOut: "0" };
  return yes(response, found);
});
const server = app.listen(0, "127.0.0.1", () =>
  console.log(`ready on http://127.0.0.1:${server.address().port}`));
process.on("SIGTERM", () => process.exit(0));
