// A charity's transfer: async generators, top-level await, and a write-ahead file that is synced.
import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const base = process.env.CROSSCHAIN_MOCK_BASE_URL_V2;
const kept = `${process.env.CROSSCHAIN_MOCK_STATE}/transfer.json`;
const us = "0xd03ea8624C8C5987235048901fB614fDcA89b117";
const amount = 44_000_000n;
const facts = existsSync(kept) ? JSON.parse(readFileSync(kept, "utf8")) : {};

function keep(more) {
  Object.assign(facts, more);
  const file = openSync(`${kept}.part`, "w");
  writeSync(file, JSON.stringify(facts));
  fsyncSync(file);
  closeSync(file);
  renameSync(`${kept}.part`, kept);
}

class Refused extends Error {}

async function* attempts() {
  for (let turn = 0; turn < 9; turn += 1) {
    yield turn;
    await pause(1500 * 2 ** turn);
  }
}

async function ask(method, path, query = {}, body = undefined) {
  const url = new URL(`/v1/${path}?${new URLSearchParams(query)}`, base);
  let problem = "";
  for await (const turn of attempts()) {
    try {
      const response = await fetch(url, {
        method,
        headers: { "content-type": "application/json", Evmaddress: us, Signature: `0x${"81".repeat(65)}` },
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(12_000),
      });
      const { code, msg, data } = await response.json();
      if (code === 0 && data && typeof data === "object") return data;
      if (response.ok && typeof code === "number" && code !== 0) throw new Refused(`${path}: ${msg}`);
      problem = `HTTP ${response.status}, turn ${turn}`;
    } catch (error) {
      if (error instanceof Refused) throw error;
      problem = error.message;
    }
  }
  throw new Error(`${path}: ${problem}`);
}

const steps = {
  async prepared() {
    const { list: chains } = await ask("GET", "getChain");
    for (const name of ["ARB", "ETH"]) {
      const chain = chains.find(({ nickName }) => nickName === name);
      if (!chain || chain.disabled || chain.delisted) throw new Refused(`${name} is closed`);
    }
    const { list: tokens } = await ask("GET", "getAssetsByChain", { chain: "ARB" });
    const token = tokens.find(({ symbol }) => symbol === "USDC");
    if (!token) throw new Refused("no USDC");
    const quote = await ask("GET", "getBridgeQuote", { amount, symbol: "USDC", fromChain: "ARB", toChain: "ETH" });
    const net = BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);
    if (net <= 0n) throw new Refused("fees");
    return { index: String(token.index), net: String(net), hash: `0x${createHash("sha256").update("wells").digest("hex")}` };
  },
  async submitted() {
    const paid = {
      fromAmount: String(amount), fromIndex: facts.index, fromChain: "ARB", fromAddr: us,
      certHash: facts.hash, fromPublicKey: "", signature: "",
    };
    const { id } = await ask("POST", "submitOrder", {}, {
      channel: "charity", execStrategy: "", extra: "", orderType: "1", slippage: "0", timeout: "0",
      sourceCerts: Buffer.from(JSON.stringify(paid)).toString("hex"),
      toAddr: us, toChain: "ETH", toIndex: facts.index, triggerPrice: "0",
    });
    return { id };
  },
  async arrived() {
    for (let turn = 0; turn < 90; turn += 1) {
      const order = await ask("GET", "checkOrder", { id: facts.id });
      if (order.status === "Succeeded") {
        if (BigInt(order.amountOut) * 100n < BigInt(facts.net) * 97n) throw new Error("less arrived");
        return {};
      }
      if (["Failed", "Dropped", "Refunded"].includes(order.status) && !facts.ticket) {
        keep({ ticket: (await ask("POST", "submitTicket", {}, { hash: facts.hash, chain: "ARB" })).ticketId });
      }
      if (["Failed", "Refunded"].includes(order.status)) throw new Error(order.status);
      await pause(45_000);
    }
    throw new Error("still under way");
  },
};

try {
  for (const [name, step] of Object.entries(steps)) {
    if (!facts[name]) keep({ ...(await step()), [name]: true });
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
