import assert from "node:assert/strict";
import test from "node:test";
import { withWorld } from "crosschain-mock/node";

test("lists", withWorld(async (world) => {
  assert.equal((await world.v2.GET("/v1/getChain")).data?.code, 0);
}));
test("refused", withWorld(async (world) => {
  await world.v2.GET("/v1/checkOrder", { params: { query: { id: "39999999999" } } });
}));
