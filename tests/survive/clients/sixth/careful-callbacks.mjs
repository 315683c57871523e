// A kiosk: node:http with callbacks turned into promises, an append-only log of steps.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { locked } from "../fifth/lock.mjs";
import crypto from "node:crypto";

const log = path.join(process.env.CROSSCHAIN_MOCK_STATE, "kiosk.log");
const till = "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb";
const units = "15000000";
const wait = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
const write = (step, value) => fs.appendFileSync(log, `${JSON.stringify([step, value])}\n`);
const read = () =>
  Object.fromEntries(
    fs.existsSync(log) ? fs.readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : [],
  );

function send(method, target, payload) {
  return new Promise((done, fail) => {
    const url = new URL(process.env.CROSSCHAIN_MOCK_BASE_URL_V2 + target);
    const headers = payload
      ? { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(payload), Evmaddress: till, Signature: `0x${"66".repeat(65)}` }
      : {};
    const request = http.request(url, { method, headers, timeout: 8000 }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part) => (text += part));
      response.on("error", fail);
      response.on("aborted", () => fail(new Error("cut off")));
      response.on("end", () => {
        try {
          const answer = JSON.parse(text);
          if (response.statusCode !== 200 || !Number.isInteger(answer.code)) throw new Error(`HTTP ${response.statusCode}`);
          done(answer);
        } catch (error) {
          fail(error);
        }
      });
    });
    request.on("timeout", () => request.destroy(new Error("too slow")));
    request.on("error", fail);
    request.end(payload);
  });
}

class Refusal extends Error {}

async function ask(method, target, body) {
  let last;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      const answer = await send(method, target, body && JSON.stringify(body));
      if (answer.code === 0) return answer.data;
      throw new Refusal(`${target}: ${answer.msg}`);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      last = error;
      await wait(3 * (attempt + 1));
    }
  }
  throw last;
}

async function main() {
  const unlock = locked();
  if (!unlock) throw new Error("another kiosk is at work");
  try {
    return await sale();
  } finally {
    unlock();
  }
}

async function sale() {
  let done = read();
  if (!done.paid) {
    const chains = (await ask("GET", "/v1/getChain")).list.filter((c) => !c.disabled && !c.delisted).map((c) => c.nickName);
    if (!chains.includes("BNB") || !chains.includes("ARB")) throw new Error("closed");
    const token = (await ask("GET", "/v1/getAssetsByChain?chain=ARB")).list.find((t) => t.symbol === "USDT");
    if (!token) throw new Error("no USDT on ARB");
    const quote = await ask("GET", `/v1/getBridgeQuote?amount=${units}&symbol=USDT&fromChain=ARB&toChain=BNB`);
    const net = BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);
    if (net < 13n * 10n ** 18n) throw new Error(`too little: ${net}`);
    write("paid", { hash: `0x${crypto.randomBytes(32).toString("hex")}`, index: String(token.index), net: String(net) });
    done = read();
  }
  const { hash, index, net } = done.paid;
  if (!done.order) {
    const certificate = { fromAmount: units, fromIndex: index, fromChain: "ARB", fromAddr: till, certHash: hash, fromPublicKey: "", signature: "" };
    const { id } = await ask("POST", "/v1/submitOrder", {
      channel: "kiosk", execStrategy: "", extra: "", orderType: "1", slippage: "0",
      sourceCerts: Buffer.from(JSON.stringify(certificate)).toString("hex"),
      timeout: "0", toAddr: till, toChain: "BNB", toIndex: index, triggerPrice: "0",
    });
    write("order", id);
    done = read();
  }
  for (let turn = 0; turn < 80; turn += 1) {
    const { status, amountOut, reason } = await ask("GET", `/v1/checkOrder?id=${encodeURIComponent(done.order)}`);
    if (status === "Succeeded") return BigInt(amountOut) * 100n >= BigInt(net) * 97n ? 0 : 7;
    if (status === "Dropped" && !done.ticket) {
      write("ticket", (await ask("POST", "/v1/submitTicket", { hash, chain: "ARB" })).ticketId);
      done = read();
    }
    if (status === "Failed" || status === "Refunded") throw new Error(`${done.order}: ${status} ${reason}`);
    await wait(30);
  }
  throw new Error(`${done.order} goes on`);
}

main().then((code) => process.exit(code), (error) => {
  console.error(error.message);
  process.exit(1);
});
