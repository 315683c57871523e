// What the JavaScript clients share: HTTP, the wallet's node, and a folder for state.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const V1 = process.env.CROSSCHAIN_MOCK_BASE_URL;
export const V2 = process.env.CROSSCHAIN_MOCK_BASE_URL_V2;
export const STATE = process.env.CROSSCHAIN_MOCK_STATE || mkdtempSync(join(tmpdir(), "client-"));
export const ME = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
export const CUSTOMER = "0x42a6685ef29886Cbcb595Aa903f00dea0d1787d8";
export const NATIVE = `0x${"ee".repeat(20)}`;
export const sleep = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

export class RefusedError extends Error {}

/** Return `data` of an answer; throw a RefusedError if the service said no. */
export async function call(url, body, headers = {}) {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const answer = await response.json();
  if (answer?.code === undefined) throw new Error("no envelope");
  if (answer.code !== 0) throw new RefusedError(answer.msg);
  return answer.data;
}

export const get = (operation, query = {}) => call(`${V2}/v1/${operation}?${new URLSearchParams(query)}`);

export const post = (operation, body) =>
  call(`${V2}/v1/${operation}`, body, { EvmAddress: ME, Signature: "00" });

export const v1 = (path, body, query = {}) =>
  call(`${V1}/open/v1/${path}?${new URLSearchParams(query)}`, body, {
    appKey: "demo",
    signature: "00",
    expireTime: "15000",
    timestamp: String(Date.now()),
  });

// The wallet's node: the chain remembers a transaction whatever becomes of the client.
const chain = join(STATE, "chain");

export function nextNonce() {
  mkdirSync(chain, { recursive: true });
  return readdirSync(chain).length;
}

/** Return the hash that this transfer has, without sending it. */
export function sign(network, token, amount, nonce) {
  return `0x${createHash("sha256").update(`${network} ${token} ${amount} ${nonce}`).digest("hex")}`;
}

/** Send a signed transfer; sending the same one again changes nothing. */
export function broadcast(tx, nonce) {
  const file = join(chain, String(nonce));
  try {
    writeFileSync(file, tx, { flag: "wx" });
  } catch (problem) {
    if (problem.code !== "EEXIST") throw problem;
    return readFileSync(file, "utf8") === tx;
  }
  return true;
}

/** Move tokens to the service's vault, in smallest units, and return the hash. */
export function transfer(network, token, amount) {
  for (;;) {
    const nonce = nextNonce();
    const tx = sign(network, token, amount, nonce);
    if (broadcast(tx, nonce)) return tx;
  }
}

/** Return the body of submitOrder. */
export function order({ tx, amount, from, fromIndex, to, toIndex, receiver, type = "1", slippage = "0" }) {
  const certificate = {
    fromAmount: String(amount),
    fromIndex: String(fromIndex),
    fromChain: from,
    fromAddr: ME,
    certHash: tx,
    fromPublicKey: "",
    signature: "123456",
  };
  return {
    channel: "demo",
    execStrategy: "",
    extra: "",
    orderType: type,
    slippage,
    sourceCerts: Buffer.from(JSON.stringify(certificate)).toString("hex"),
    timeout: "0",
    toAddr: receiver,
    toChain: to,
    toIndex: String(toIndex),
    triggerPrice: "0",
  };
}

export function load(name, otherwise) {
  const file = join(STATE, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : otherwise;
}

/** Write a JSON file of the state folder, all of it or nothing. */
export function save(name, value) {
  const draft = join(STATE, `${name}.${process.pid}`);
  writeFileSync(draft, JSON.stringify(value));
  renameSync(draft, join(STATE, name));
}
