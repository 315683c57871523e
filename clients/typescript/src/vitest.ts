// A fixture for vitest: `import { test } from "crosschain-mock/vitest"`. A file of tests has one mock.
import { afterAll, test as base, beforeAll } from "vitest";
import { type CheckOptions, type Mock, startMock, type World } from "./index.js";

let started: Promise<Mock> | undefined;
const start = () => (started ??= startMock());
beforeAll(async () => void (await start()), 60_000); // Within a test it counts towards its 5 s.
afterAll(async () => {
  await (await started?.catch(() => undefined))?.stop();
  started = undefined;
});

export const test = base.extend<{ checked: CheckOptions; mock: Mock; world: World }>({
  mock: [async ({}, use) => use(await start()), { scope: "file" }],
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
