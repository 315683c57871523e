// A client of the first generation: quote, raw transaction, submission, polling.
//
//     node v1.js BASE_URL APP_KEY APP_SECRET RAW_PUBLIC_KEY
//
// RAW_PUBLIC_KEY is the key that signs raw transactions, base64 of its SPKI. Of a mock it is shown by
// GET /__mock/keys.
import { createHmac, createPublicKey, createVerify } from "node:crypto";
import { Transaction, Wallet } from "ethers";

const AMOUNT = "10";
const ROUTE = { fromChain: "MATIC", toChain: "BSC", feeLevel: 2 };
const TOKEN = "USDT";

/** Body keys in order, then header keys in order, nothing between them; HMAC in lower-case hex. */
export function sign(body, headers, secret) {
  const text = (values) =>
    Object.keys(values)
      .sort()
      .map((key) => `${key}=${values[key]}`)
      .join("");
  return createHmac("sha256", secret)
    .update(text(body) + text(headers))
    .digest("hex");
}

export class Client {
  constructor(base, appKey, appSecret) {
    Object.assign(this, { base, appKey, appSecret });
  }

  signed(body) {
    const headers = { appKey: this.appKey, expireTime: 15000, timestamp: new Date().getTime() };
    return { ...headers, signature: sign(body, headers, this.appSecret) };
  }

  async get(path, query = {}) {
    const url = `${this.base}${path}?${new URLSearchParams(query)}`;
    // The query is not part of the signed text.
    return this.data(await fetch(url, { headers: this.signed({}) }));
  }

  async post(path, body) {
    const headers = { "Content-Type": "application/json", ...this.signed(body) };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    return this.data(await fetch(this.base + path, sent));
  }

  async data(response) {
    const result = await response.json();
    if (result.code === 200) return result.data;
    throw new Error(`${result.code} ${result.msg} (${response.headers.get("X-Mock-Refusal")})`);
  }
}

/** The transaction inside `raw`, after its signature has been verified over the text of the hex. */
export function opened(raw, publicKey) {
  const [hex, signature] = raw.split("_");
  const key = createPublicKey({
    key: Buffer.from(publicKey, "base64"),
    format: "der",
    type: "spki",
  });
  const genuine = createVerify("RSA-SHA256").update(hex).verify(key, signature, "hex");
  if (!genuine) throw new Error("the raw transaction is not by the service");
  return Transaction.from(`0x${hex}`);
}

async function main([base, appKey, appSecret, publicKey]) {
  const client = new Client(base, appKey, appSecret);
  const wallet = new Wallet(`0x${"11".repeat(32)}`);
  const address = wallet.address;

  const { chains } = await client.get("/open/v1/base/getSupportChains");
  const chain = chains.find((one) => one.name === ROUTE.fromChain && one.isActive);
  const { tokenVos } = await client.get("/open/v1/base/getSupportTokens", { chain: chain.name });
  const token = tokenVos.find((one) => one.symbol === TOKEN);

  const { crossChain } = await client.post("/open/v1/order/getCrossChainQuote", {
    ...ROUTE,
    amount: AMOUNT,
    token: TOKEN,
  });

  const { raw } = await client.post("/open/v1/order/getTransferToMinterRaw", {
    amount: AMOUNT,
    chain: chain.name,
    evmAddress: address,
    fromAddress: address,
    token: TOKEN,
  });
  const { nonce, gasPrice, gasLimit, to, value, data } = opened(raw, publicKey);
  if (to.toLowerCase() !== token.address) throw new Error(`the transfer goes to ${to}`);
  const deposit = Transaction.from(
    await wallet.signTransaction({
      type: 0,
      chainId: chain.chainId,
      nonce,
      gasPrice,
      gasLimit,
      to,
      value,
      data,
    }),
  );

  const { sn } = await client.post("/open/v1/order/submitCrossChain", {
    ...ROUTE,
    fromAmount: AMOUNT,
    fromToken: TOKEN,
    fromAddress: address,
    evmAddress: address,
    certHash: deposit.hash,
  });

  const seen = [];
  let order;
  do {
    ({ order } = await client.get("/open/v1/order/getOrderDetail", { sn }));
    seen.push(order.status);
  } while (order.status === 1 && seen.length < 50);

  console.log(
    JSON.stringify({
      sn,
      seen,
      promised: String(crossChain.amountOut),
      received: order.toAmount,
      certHash: order.certHash,
    }),
  );
}

await main(process.argv.slice(2));
