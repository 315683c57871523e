// A fixture for vitest: `import { test } from "crosschain-mock/vitest"`. A file of tests has one mock.
import { test as base } from "vitest";
import { type CheckOptions, type Mock, startMock, type World } from "./index.js";

export const test = base.extend<{ checked: CheckOptions; mock: Mock; world: World }>({
  mock: [
    async ({}, use) => {
      const mock = await startMock();
      await use(mock);
      await mock.stop();
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
