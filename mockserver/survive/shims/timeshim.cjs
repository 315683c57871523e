// The clock of a world in place of the machine's, for a Node client: timers move the world.
//
// Loaded by `node --require`; CROSSCHAIN_MOCK_CLOCK has the address of the world's clock. Shimmed are
// Date, performance.now, setTimeout, setInterval, timers/promises and AbortSignal.timeout. When the
// client waits for nothing but a timer, the world moves on to it.
"use strict";

const address = process.env.CROSSCHAIN_MOCK_CLOCK;
if (address) install(new URL(address));

function install(url) {
  const http = require("node:http");
  const timers = require("node:timers");
  const promises = require("node:timers/promises");
  const real = { setTimeout, clearTimeout, setInterval, setImmediate, Date, now: performance.now.bind(performance) };
  const QUIET_MS = 5;
  // How long an answer is waited for that no clock holds back: one from elsewhere, and one of the world,
  // which is as slow as a busy machine. Its answers go out before it says what time it is, so that after
  // so many looks at its clock there is none to come.
  const PATIENCE_MS = 2_000, OF_THE_WORLD_MS = 60_000, MOST_LOOKS = 50;
  const waiting = new Map();
  let elsewhere = false, began = 0, world = 0, ids = 0, pump = null, moving = false;

  // Where there is a page of the clock (survive/shared_clock.py says what is in it), a client that waits for
  // nothing but a timer goes ahead by itself, and the world follows at its next request.
  const fs = require("node:fs");
  const FAR_MS = 86_400_000;
  const page = open_page(process.env.CROSSCHAIN_MOCK_CLOCK_PAGE || "");
  // Without one, or where its run has ended, it is asked for by another process, since nothing may be awaited here.
  began = world = page ? page.time() : ask();

  function open_page(path) {
    let file;
    try { file = fs.openSync(path, "r+"); } catch { return null; }
    const bytes = Buffer.alloc(56), cells = new BigInt64Array(bytes.buffer, bytes.byteOffset, 7);
    const read = () => fs.readSync(file, bytes, 0, 56, 0);
    return {
      time() { read(); return Number(cells[0] > cells[1] ? cells[0] : cells[1]); },
      /** Be at a later time; false where only the server may go so far. */
      go_ahead(to) {
        read();
        if (cells[4] || to - Number(cells[1]) > FAR_MS) return false;
        if (to > Number(cells[0])) { cells[0] = BigInt(to); fs.writeSync(file, bytes, 0, 8, 0); }
        return true;
      },
      taken() { read(); return Number(cells[3]); },
      held() { read(); return Number(cells[6]); },
      in_turns() { read(); return cells[4] !== 0n; },
      /** Note that requests are sent at once: 1 for in an order of their own, 2 for in the machine's. */
      note_several(how) { read(); if (cells[5] < how) { cells[5] = BigInt(how); fs.writeSync(file, bytes, 40, 8, 40); } },
    };
  }

  function ask() {
    const script = `require("node:http").get(${JSON.stringify(url.href)}, (a) => {
      let t = ""; a.on("data", (d) => (t += d)); a.on("end", () => process.stdout.write(t)); })`;
    const env = { ...process.env, NODE_OPTIONS: "", CROSSCHAIN_MOCK_CLOCK: "" };
    const answer = require("node:child_process").execFileSync(process.execPath, ["-e", script], { env });
    return JSON.parse(answer.toString()).ms;
  }

  function move(body, done) {
    const data = JSON.stringify(body);
    if (body.wait) for (const one of under_way.values()) one.looks += 1;
    const headers = { "Content-Length": Buffer.byteLength(data), Connection: "close" };
    const options = { host: url.hostname, port: url.port, path: url.pathname, method: "POST", headers, agent: false };
    const request = http.request(options, (answer) => {
      let text = "";
      answer.on("data", (part) => (text += part));
      answer.on("end", () => { world = Math.max(world, JSON.parse(text).ms); done(); });
    });
    request.on("error", done);
    request.end(data);
  }

  // Requests on their way. While there is one, the world moves on to a late answer, and no further.
  const channels = require("node:diagnostics_channel");
  const under_way = new Map(), of_the_world = new WeakSet();
  const is_ours = (place) => { try { return new URL(place).port === url.port; } catch { return false; } };
  // How many requests the world has taken when it has those of this client that were sent.
  let expected = 0;
  const sent = (request) => {
    if (page) {
      const taken = page.taken();
      expected = (under_way.size ? Math.max(expected, taken) : taken) + 1;
      if (under_way.size) page.note_several(1);
    }
    under_way.set(request, { since: real.now(), looks: 0, ours: of_the_world.has(request) });
  };
  const came = (request) => under_way.delete(request);
  // Requests whose answer has begun to come: it is no late one, and its end comes by itself.
  const reading = new Set();
  // Those of undici whose head is out, and whose body comes at the client's pace.
  const streaming = new Set();
  const is_writing = (request) => streaming.has(request) || request?.writableEnded === false;
  const begin = (request) => { came(request); reading.add(request); next(); };
  const end = (request) => {
    came(request);
    reading.delete(request);
    streaming.delete(request);
    if (going?.request === request) going.over = true;
    next();
  };
  channels.subscribe("undici:request:create", ({ request }) => {
    if (is_ours(request.origin)) {
      of_the_world.add(request);
      if (going && !going.request) going.request = request;
    }
    sent(request);
  });
  channels.subscribe("undici:client:sendHeaders", ({ request }) => streaming.add(request));
  channels.subscribe("undici:request:bodySent", ({ request }) => streaming.delete(request));
  channels.subscribe("undici:request:headers", ({ request }) => begin(request));
  for (const name of ["trailers", "error"]) channels.subscribe(`undici:request:${name}`, ({ request }) => end(request));
  channels.subscribe("http.client.request.start", ({ request }) => {
    if (request.path === url.pathname) return;
    // Node tells this when the client has written all, which may be before it has its turn.
    if (!queue.some((one) => one.request === request)) sent(request);
    for (const name of ["response", "upgrade", "connect"]) request.once(name, () => begin(request));
    for (const name of ["close", "error"]) request.once(name, () => end(request));
  });

  // What is asked at once goes out one by one, in the order in which it was asked: which of two
  // connections is read first would be the machine's chance. The next one goes when an answer has come, or
  // the world holds it back. A body that nobody reads or writes yet does not come: so many turns of the loop are
  // its time.
  const queue = [], TURNS_OF_A_BODY = 4, IN_ORDER_MS = 5_000;
  let going = null, looking = false;
  const in_order = page && !page.in_turns();

  // A timer that is due fires after what has gone out before is answered: either might ask for more.
  const is_answering = () => queue.length > 0 || (going !== null && !is_over(going));
  const is_starting = () => going !== null && !going.over && !going.request;
  const is_queued = () => queue.length > 0 || is_starting();
  function is_over(one) {
    if (one.over) return true;
    if (reading.has(one.request) || is_writing(one.request)) return ++one.turns > TURNS_OF_A_BODY;
    if (is_held(one)) return true;
    if (real.now() - one.since < IN_ORDER_MS) return false;
    if (queue.length) page.note_several(2);
    return true;
  }

  /** Tell whether the world holds back the answer to the request whose turn it is. */
  function is_held(one) {
    const sent = under_way.get(one.request);
    // Known once the world has taken it. Counts alone would mix it up with those that the client has given up.
    if (sent && sent.held === undefined && page.taken() >= expected) sent.held = page.held() > one.held;
    return sent?.held === true;
  }

  /** Start the next request that waits for its turn, if it has it. */
  function next() {
    if (going && is_over(going)) going = null;
    if (!going && queue.length) {
      going = queue.shift();
      going.since = real.now();
      going.held = page.held();
      going.start(going);
      // One that was given up before its turn has ended already.
      going.over ||= going.request?.destroyed;
    }
    if (!queue.length || looking) return;
    const is_read = reading.has(going?.request);
    if (!is_read) page.note_several(1);
    looking = true;
    const again = () => { looking = false; next(); };
    if (is_read) real.setImmediate(again);
    else real.setTimeout(again, 1);
  }

  const enqueue = (one) => { queue.push({ turns: 0, ...one }); next(); };
  const add_request = http.Agent.prototype.addRequest;
  http.Agent.prototype.addRequest = function (request, options, ...more) {
    const start = () => add_request.call(this, request, options, ...more);
    if (request.path === url.pathname || String(options.port) !== url.port) return start();
    of_the_world.add(request);
    if (!in_order) return start();
    enqueue({ request, start: () => { if (request.finished && !request.destroyed) sent(request); start(); } });
  };
  const fetching = globalThis.fetch;
  if (in_order && fetching) globalThis.fetch = function fetch(input, init) {
    if (!is_ours(input?.url ?? input)) return fetching(input, init);
    return new Promise((resolve, reject) => {
      enqueue({ start: (one) => fetching(input, init).finally(() => { one.over ||= !one.request; }).then(resolve, reject) });
    });
  };
  function is_waiting() {
    const patience = elsewhere ? PATIENCE_MS : OF_THE_WORLD_MS;
    for (const [request, { since, looks }] of under_way)
      if (looks > MOST_LOOKS || real.now() - since > patience) came(request);
    return under_way.size > 0 || is_queued();
  }

  // Nobody moves on before the world has taken the newest request, which may be one that is answered at
  // once. Without a page that is likely after a while; one that fails on its way is never taken.
  const LIKELY_MS = 60, TAKEN_MS = 10_000;
  function is_fresh() {
    if (is_queued()) return true;
    // The world takes a request when it is written, which may be after the client has slept.
    const written = [...under_way].filter(([request]) => !is_writing(request)).map(([, one]) => one);
    const newest = Math.max(...written.map((one) => one.since));
    const passed = real.now() - newest;
    if (!page) return passed < LIKELY_MS;
    if (passed > TAKEN_MS) return false;
    if (page.taken() < expected - under_way.size + written.length) return true;
    if (!in_order) return false;
    // An answer that the world does not hold back is here in a moment, and comes before it moves on.
    if (going) is_held(going);
    const ours = written.filter((one) => one.ours);
    return ours.length > page.held() || ours.some((one) => one.held === false);
  }

  function due() {
    let first = null;
    for (const one of waiting.values())
      if (first === null || one.at < first.at || (one.at === first.at && one.id < first.id)) first = one;
    return first;
  }

  function now() {
    if (page) world = Math.max(world, page.time());
    return world;
  }

  function fire() {
    now();
    for (let one = due(); one && one.at <= world; one = due()) {
      if (one.every === null) waiting.delete(one.id);
      else one.at = world + Math.max(1, one.every);
      one.call();
      return true;
    }
    return false;
  }

  function schedule() {
    if (pump || moving || ![...waiting.values()].some((one) => one.kept)) return;
    pump = {};
    // Two turns of the loop for what is ready; more only where something else is open.
    if (!is_busy()) real.setImmediate(() => real.setImmediate(() => { pump = null; turn(); }));
    else pump = real.setTimeout(() => { pump = null; turn(); }, QUIET_MS);
  }

  // Timers are ours, a terminal or a pipe is where this prints, and connections to the mock are idle
  // where no request is on its way. All else, such as a file that is read, may come by itself.
  const AT_REST = new Set(["Timeout", "Immediate", "TTYWrap", "PipeWrap", "FileHandle"]);
  function is_busy() {
    if (elsewhere || reading.size || is_waiting()) return true;
    return process.getActiveResourcesInfo().some((name) => !AT_REST.has(name) && name !== "TCPSocketWrap");
  }

  function turn() {
    if (is_answering() || fire()) return schedule();
    const first = due();
    if (!first) return;
    moving = true;
    const left = first.at - world;
    const before = world;
    const waited = () => {
      moving = false;
      // An answer has come or comes yet, and the client has its turn before the timer.
      if (world > before || is_waiting() || due() !== first) return schedule();
      if (page?.go_ahead(first.at)) { fire(); return schedule(); }
      moving = true;
      move({ advance: `${left}ms` }, () => { moving = false; fire(); schedule(); });
    };
    if (!is_waiting()) waited();
    else if (is_fresh()) { moving = false; schedule(); }
    else move({ wait: `${left}ms` }, () => real.setImmediate(waited));
  }

  // While a request is on its way, perhaps with a time-out that keeps no process alive, its answer
  // may be a late one: the world moves on to it, and not beyond.
  real.setInterval(() => {
    if (pump || moving) return;
    if (is_answering() || fire()) return;
    if (!is_waiting() || is_fresh()) return;
    const first = due();
    moving = true;
    move({ wait: first ? `${first.at - world}ms` : "1d" }, () => { moving = false; fire(); schedule(); });
  }, 4 * QUIET_MS).unref();

  // What the client connects to is noted: no failure strikes there.
  const file = process.env.CROSSCHAIN_MOCK_PEERS;
  const net = require("node:net");
  const connect = net.Socket.prototype.connect;
  net.Socket.prototype.connect = function (...parts) {
    const [first, second] = Array.isArray(parts[0]) ? parts[0] : parts;
    const { host = "localhost", port } = typeof first === "object" ? first : { host: second, port: first };
    elsewhere ||= String(port) !== url.port;
    if (file && port) try { fs.appendFileSync(file, `${host}:${port}\n`); } catch { /* not ours */ }
    return connect.apply(this, parts);
  };

  class Timer {
    constructor(call, ms, every) {
      const wait = Math.max(1, Math.trunc(Number(ms)) || 0);
      this.id = ++ids; this.call = call; this.at = world + wait; this.wait = wait;
      this.every = every ? wait : null; this.kept = true;
      waiting.set(this.id, this);
      schedule();
    }
    ref() { this.kept = true; schedule(); return this; }
    unref() { this.kept = false; return this; }
    hasRef() { return this.kept; }
    refresh() { this.at = world + this.wait; waiting.set(this.id, this); schedule(); return this; }
    close() { waiting.delete(this.id); return this; }
    [Symbol.toPrimitive]() { return this.id; }
  }
  const make = (every) => (call, ms, ...rest) => new Timer(() => call(...rest), ms, every);
  const clear = (timer) => {
    if (timer instanceof Timer) waiting.delete(timer.id);
    else if (waiting.has(Number(timer))) waiting.delete(Number(timer));
    else if (timer) real.clearTimeout(timer);
  };
  const shimmed = { setTimeout: make(false), setInterval: make(true), clearTimeout: clear, clearInterval: clear };
  shimmed.setTimeout[require("node:util").promisify.custom] = (ms, value) => later(ms, value);
  Object.assign(globalThis, shimmed);
  Object.assign(timers, shimmed);

  function later(ms, value, options = {}) {
    return new Promise((resolve, reject) => {
      const timer = shimmed.setTimeout(() => resolve(value), ms);
      const stop = () => { clear(timer); reject(options.signal.reason); };
      if (options.signal?.aborted) stop();
      else options.signal?.addEventListener("abort", stop, { once: true });
    });
  }
  promises.setTimeout = later;
  if (promises.scheduler) promises.scheduler.wait = later;
  AbortSignal.timeout = (ms) => {
    const control = new AbortController();
    shimmed.setTimeout(() => control.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms).unref();
    return control.signal;
  };
  performance.now = () => now() - began + (real.now() % 1) / 1000;
  globalThis.Date = class Date extends real.Date {
    constructor(...parts) { parts.length ? super(...parts) : super(now()); }
    static now() { return now(); }
  };
}
