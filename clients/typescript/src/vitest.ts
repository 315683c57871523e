// A fixture for vitest: `import { test } from "crosschain-mock/vitest"`. A file of tests has one mock.
import { afterAll, test as base, beforeAll } from "vitest";
import { type CheckOptions, type Mock, startMock, type World } from "./index.js";

const SHARED =
  "this file of tests shares its modules with an earlier one, whose mock has ended: leave --no-isolate out, " +
  "or start one mock for all files with `crosschain-mock run -- npx vitest`";
let started: Promise<Mock> | undefined;
const start = () => (started ??= startMock());
beforeAll(async () => void (await start()), 60_000); // Within a test it counts towards its 5 s.
afterAll(async () => {
  const mock = await started?.catch(() => undefined);
  if (!mock || mock.shared) return;
  await mock.stop();
  started = Promise.reject(new Error(SHARED));
  started.catch(() => undefined); // Told by the tests of the next file, if there is one.
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
