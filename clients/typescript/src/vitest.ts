// A fixture for vitest: `import { test } from "crosschain-mock/vitest"`. A file of tests has one mock.
import { afterAll, test as base, beforeAll } from "vitest";
import { type CheckOptions, type Mock, startMock, type World } from "./index.js";

const PATIENCE_MS = 60_000;
let early: Promise<Mock> | undefined;

// Here, since within a test a start counts towards its time limit, which is 5 s by default.
beforeAll(async () => void (await (early = startMock())), PATIENCE_MS);
afterAll(async () => {
  await (await early?.catch(() => undefined))?.stop();
  early = undefined;
});

export const test = base.extend<{ checked: CheckOptions; mock: Mock; world: World }>({
  mock: [
    async ({}, use) => {
      // Files that share their modules have no hooks of their own but the first.
      const own = early ? undefined : await startMock();
      await use(own ?? (await early)!);
      await own?.stop();
    },
    { scope: "file" },
  ],
  // `test.extend({ checked: { unused: "allow" } })` changes what a test fails for.
  checked: {},
  world: async ({ checked, mock, task }, use) => {
    const world = mock.world(task.name);
    await use(world);
    try {
      await world.check(checked);
    } finally {
      await world.forget();
    }
  },
});
