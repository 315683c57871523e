// A fixture for node:test: `test("name", withWorld(async (world) => { … }))`.
import { after } from "node:test";
import { type CheckOptions, type Mock, startMock, type World } from "./index.js";

let started: Promise<Mock> | undefined;

// Here, and not in a test: there it would run at the end of that test.
after(async () => (await started)?.stop());

/** Runs a test in a world of its own, and fails it for what it did not expect. */
export function withWorld(body: (world: World) => Promise<void>, options: CheckOptions = {}) {
  return async (context: { name: string }): Promise<void> => {
    const world = (await (started ??= startMock())).world(context.name);
    try {
      await body(world);
      await world.check(options);
    } finally {
      await world.forget();
    }
  };
}
