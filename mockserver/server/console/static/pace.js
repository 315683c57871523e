// How often the page asks for what may take the server long.

// Of the server's time, so much is left to clients where an answer takes long.
const SHARE = 5;

/** Return `act` at a pace: at once, then every `least` ms at most, and once more for what came in between. */
export function paced(act, least) {
  let free = 0;
  let busy = false;
  let missed = false;
  let timer = null;
  const later = () => {
    timer ??= setTimeout(run, Math.max(0, free - performance.now()));
  };
  const run = async () => {
    timer = null;
    busy = true;
    missed = false;
    const began = performance.now();
    try {
      await act();
    } finally {
      const took = performance.now() - began;
      free = performance.now() + Math.max(least, SHARE * took);
      busy = false;
      if (missed) later();
    }
  };
  return async () => {
    if (busy) missed = true;
    else if (performance.now() >= free && timer === null) await run();
    else later();
  };
}
