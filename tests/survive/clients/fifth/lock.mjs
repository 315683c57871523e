// A lock of one process at a time, with the number of its owner in it.
import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { STATE } from "../js/common.mjs";

/** Take the lock; one whose owner is gone is taken over. */
export function locked() {
  const lock = join(STATE, "lock");
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      const file = openSync(lock, "wx");
      writeSync(file, String(process.pid));
      closeSync(file);
      return () => unlinkSync(lock);
    } catch {
      try {
        process.kill(Number(readFileSync(lock, "utf8")) || process.pid, 0);
        return null;
      } catch {
        unlinkSync(lock);
      }
    }
  }
  return null;
}
