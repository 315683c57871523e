// A fixture for vitest: `import { test } from "crosschain-mock/vitest"`. A file of tests has one mock.
import { test as base } from "vitest";
import { type Mock, startMock, type World } from "./index.js";

export const test = base.extend<{ mock: Mock; world: World }>({
  mock: [
    async ({}, use) => {
      const mock = await startMock();
      await use(mock);
      await mock.stop();
    },
    { scope: "file" },
  ],
  world: async ({ mock, task }, use) => {
    const world = mock.world(task.name);
    await use(world);
    try {
      await world.check();
    } finally {
      await world.forget();
    }
  },
});
