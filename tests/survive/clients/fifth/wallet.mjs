// What the fifth set shares in JavaScript, beyond HTTP.
import { V2, RefusedError, ME, nextNonce, order, sign } from "../js/common.mjs";

export const FINAL = ["Succeeded", "Failed", "Dropped", "Refunded"];
export const SENDER = { EvmAddress: ME, Signature: "00", "Content-Type": "application/json" };
export const url = (operation, query = {}) => `${V2}/v1/${operation}?${new URLSearchParams(query)}`;

export function opened(answer) {
  if (answer?.code === undefined) throw new Error("no envelope");
  if (answer.code !== 0) throw new RefusedError(answer.msg);
  return answer.data;
}

/** Read lists and quote, and return a signed deposit with its body; nothing is sent. */
export async function prepared(ask, whole, receiver) {
  const began = Date.now();
  const chains = (await ask(url("getChain"))).list;
  const tokens = [];
  for (const name of ["ARB", "BNB"]) {
    const chain = chains.find((entry) => entry.nickName === name);
    if (!chain || chain.disabled || chain.delisted || chain.noSwap) throw new RefusedError(`no ${name}`);
    const token = (await ask(url("getAssetsByChain", { chain: name }))).list.find(
      (entry) => entry.symbol === "USDT" && !entry.delisted && !entry.disableBridge,
    );
    if (!token) throw new RefusedError(`no USDT on ${name}`);
    tokens.push(token);
  }
  const [here, there] = tokens;
  const amount = BigInt(whole) * 10n ** BigInt(here.decimals);
  const quote = await ask(url("getBridgeQuote", { amount, symbol: "USDT", fromChain: "ARB", toChain: "BNB" }));
  const net = BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);
  if (Date.now() - began > 50_000) throw new Error("what was read is old");
  if (net < BigInt(whole - 2) * 10n ** BigInt(there.decimals)) throw new RefusedError("too dear");
  return { ...deposit(amount, here, there, receiver), least: String((net * 98n) / 100n) };
}

export function deposit(amount, here, there, receiver) {
  const nonce = nextNonce();
  const tx = sign("ARB", here.contractAddress, amount, nonce);
  const place = { amount, from: "ARB", fromIndex: here.index, to: "BNB", toIndex: there.index, receiver };
  return { tx, nonce, body: order({ tx, ...place }) };
}
