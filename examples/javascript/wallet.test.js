import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { World } from "./mock.js";
import { NaiveWallet, Node, ServiceRefused, Wallet } from "./wallet.js";

let world;
let wallet;

beforeEach(() => {
  world = new World();
  wallet = new Wallet(world.baseUrlV2, new Node());
});

test("an order settles", async () => {
  const order = await wallet.send(10_000_000n, "USDT", "ARB", "BNB");
  assert.equal(await wallet.status(order), "Unknown");

  await world.advance("5m");

  assert.equal(await wallet.status(order), "Succeeded");
  await world.check();
});

test("a suspended chain is not offered", async () => {
  await world.suspend("BNB", { mode: "delisted", for: "9h" });
  assert.ok(!(await wallet.targets()).includes("BNB"));

  await world.advance("9h");
  assert.ok((await wallet.targets()).includes("BNB"));
  await world.check();
});

test("a refusal reaches the user", async () => {
  await assert.rejects(wallet.receives(1_000_000n, "USDT", "ARB", "FANTOM"), ServiceRefused);
  await assert.rejects(world.check(), /unknown-chain/);
  await world.expect("unknown-chain");
  await world.check();
});

for (const [Kind, orders] of [
  [Wallet, 1],
  [NaiveWallet, 2],
]) {
  test(`after a time-out the ${Kind.name} has paid for ${orders}`, async () => {
    await world.fail("submitOrder", "http-status", { status: 504, does: "done", first: 1 });
    const wallet = new Kind(world.baseUrlV2, new Node());
    const order = await wallet.send(10_000_000n, "USDT", "ARB", "BNB");
    await world.advance("5m");
    assert.equal(await wallet.status(order), "Succeeded");
    assert.equal((await world.orders()).length, orders);
  });
}
