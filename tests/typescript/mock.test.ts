import { expect, describe } from "vitest";
import { accepted, Refused } from "crosschain-mock";
import { test } from "crosschain-mock/vitest";

const quote = { amount: "10000000", symbol: "USDT", fromChain: "ARB", toChain: "BNB" };
const stamped = { appKey: "demo-app-key", expireTime: 15000, timestamp: 1767225600000, signature: "ab" };

describe("right uses", () => {
  test("a quote", async ({ world }) => {
    const result = accepted(await world.v2.GET("/v1/getBridgeQuote", { params: { query: quote } }));
    expect(BigInt(result.outAmount)).toBeGreaterThan(0n);
  });
  test("chains of both generations", async ({ world }) => {
    expect(accepted(await world.v2.GET("/v1/getChain")).list).toHaveLength(28);
    expect(accepted(await world.v1.GET("/open/v1/base/getSupportChains")).chains.length).toBeGreaterThan(10);
  });
  test("a quote of v1", async ({ world }) => {
    const body = { amount: 100, fromChain: "BSC", toChain: "ARB", token: "USDT", feeLevel: 0 };
    const answer = await world.v1.POST("/open/v1/order/getCrossChainQuote", { params: { header: stamped }, body });
    expect(accepted(answer).crossChain.amountIn).toBe(100);
  });
  test("an outage takes a chain from the list", async ({ world }) => {
    await world.suspend("BNB", { mode: "delisted" });
    expect(accepted(await world.v2.GET("/v1/getChain")).list).toHaveLength(27);
  });
  test("time moves", async ({ world }) => {
    await world.advance("5m");
    const clock = await world.control.GET("/__mock/clock");
    expect(clock.data?.now).toBe("2026-01-01T00:05:00Z");
  });
  test("worlds are apart", async ({ mock, world }) => {
    const second = mock.world("second");
    await second.advance("1h");
    expect((await world.control.GET("/__mock/clock")).data?.now).toBe("2026-01-01T00:00:00Z");
    await second.forget();
  });
  test("an expected refusal", async ({ world }) => {
    await world.expectRefusal("unknown-order");
    const answer = await world.v2.GET("/v1/checkOrder", { params: { query: { id: "39999999999" } } });
    expect(() => accepted(answer)).toThrow(Refused);
  });
  test("a fault that strikes", async ({ world }) => {
    await world.fault({ kind: "http-status", status: 503, operation: "getChain", first: 1 });
    expect((await world.v2.GET("/v1/getChain")).response.status).toBe(503);
  });
  test("what was not sent is not called well", async ({ world }) => {
    expect((await world.check()).missing).toContain("nothing to judge");
    await expect(world.check({ audit: true })).rejects.toThrow("nothing to judge");
    await world.control.POST("/__mock/reset");
    await world.v2.GET("/v1/getAssets");
    expect(await world.check({ strict: true })).toEqual({ missing: null, holes: [] });
    await world.control.POST("/__mock/reset");
    await world.v2.GET("/v1/getAssets");
    await expect(world.check({ strict: true })).rejects.toThrow("before a reset");
  });
  test("a world that was made anew is not the one that was asked", async ({ world }) => {
    await world.v2.GET("/v1/getAssets");
    const epoch = world.epoch;
    expect(epoch).toMatch(/^[0-9a-f]{12}$/);
    await world.forget();
    // As after a restart of the server: the answers of both may be told apart.
    const answer = await fetch(`${world.url}/v1/getAssets`);
    expect(answer.headers.get("x-mock-epoch")).not.toBe(epoch);
    await expect(world.check()).rejects.toThrow("was made anew");
    world.epoch = answer.headers.get("x-mock-epoch") ?? "";
    await world.check();
  });
  test("no orders at first", async ({ world }) => {
    expect(await world.orders()).toEqual([]);
  });
  test("the journal is typed", async ({ world }) => {
    await world.v2.GET("/v1/getAssets");
    const journal = await world.control.GET("/__mock/journal");
    expect(journal.data?.entries[0]?.operation).toBe("v2.getAssets");
  });
});

describe("wrong uses", () => {
  test("refused", async ({ world }) => {
    await world.v2.GET("/v1/getBridgeQuote", { params: { query: { ...quote, symbol: "USDTT" } } });
  });
  test("fault without a request", async ({ world }) => {
    await world.fault({ kind: "reset-before-headers", operation: "submitOrder", first: 1 });
  });
  test("stub without a request", async ({ world }) => {
    await world.control.POST("/__mock/stubs", { body: { operation: "getPrice", response: { refusal: "no-price" } } });
  });
  test("a control call that cannot be carried out", async ({ world }) => {
    await world.suspend("NOWHERE");
  });
  test("money that is missing", async ({ world }) => {
    await world.control.POST("/__mock/claims", { body: { expects: [{ amount: "10 USDT", chain: "BNB", times: 1 }] } });
  });
});
