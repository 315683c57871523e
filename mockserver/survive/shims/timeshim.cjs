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
  // How long an answer is waited for that no clock holds back: a busy machine is no slow service.
  const PATIENCE_MS = 2_000;
  const waiting = new Map();
  let began = 0, world = 0, ids = 0, pump = null, moving = false;

  // Read once at the beginning. Whoever starts this process has read the clock for it; a process that
  // a client starts asks by another one, since nothing may be awaited here.
  const [read, reader] = (process.env.CROSSCHAIN_MOCK_CLOCK_READ || "").split("@");
  began = world = Number(reader) === process.ppid ? Number(read) : ask();

  function ask() {
    const script = `require("node:http").get(${JSON.stringify(url.href)}, (a) => {
      let t = ""; a.on("data", (d) => (t += d)); a.on("end", () => process.stdout.write(t)); })`;
    const env = { ...process.env, NODE_OPTIONS: "", CROSSCHAIN_MOCK_CLOCK: "" };
    const answer = require("node:child_process").execFileSync(process.execPath, ["-e", script], { env });
    return JSON.parse(answer.toString()).ms;
  }

  function move(body, done) {
    const data = JSON.stringify(body);
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
  const under_way = new Map();
  const sent = (request) => under_way.set(request, real.now());
  const came = (request) => under_way.delete(request);
  channels.subscribe("undici:request:create", ({ request }) => sent(request));
  for (const name of ["headers", "error"]) channels.subscribe(`undici:request:${name}`, ({ request }) => came(request));
  channels.subscribe("http.client.request.start", ({ request }) => {
    if (request.path === url.pathname) return;
    sent(request);
    for (const name of ["response", "close", "error"]) request.once(name, () => came(request));
  });
  function is_waiting() {
    for (const [request, since] of under_way) if (real.now() - since > PATIENCE_MS) came(request);
    return under_way.size > 0;
  }

  function due() {
    let first = null;
    for (const one of waiting.values())
      if (first === null || one.at < first.at || (one.at === first.at && one.id < first.id)) first = one;
    return first;
  }

  function fire() {
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
    pump = real.setTimeout(() => { pump = null; turn(); }, QUIET_MS);
  }

  function turn() {
    if (fire()) return schedule();
    const first = due();
    if (!first) return;
    moving = true;
    const left = first.at - world;
    const before = world;
    const waited = () => {
      moving = false;
      // An answer has come or comes yet, and the client has its turn before the timer.
      if (world > before || is_waiting() || due() !== first) return schedule();
      moving = true;
      move({ advance: `${left}ms` }, () => { moving = false; fire(); schedule(); });
    };
    if (is_waiting()) move({ wait: `${left}ms` }, () => real.setImmediate(waited));
    else waited();
  }

  // While a request is on its way, perhaps with a time-out that keeps no process alive, its answer
  // may be a late one: the world moves on to it, and not beyond.
  real.setInterval(() => {
    if (pump || moving) return;
    if (fire()) return;
    if (!is_waiting()) return;
    const first = due();
    moving = true;
    move({ wait: first ? `${first.at - world}ms` : "1d" }, () => { moving = false; fire(); schedule(); });
  }, 4 * QUIET_MS).unref();

  // What the client connects to is noted: no failure strikes there.
  const file = process.env.CROSSCHAIN_MOCK_PEERS;
  const net = require("node:net");
  const connect = net.Socket.prototype.connect;
  if (file) net.Socket.prototype.connect = function (...parts) {
    const [first, second] = Array.isArray(parts[0]) ? parts[0] : parts;
    const { host = "localhost", port } = typeof first === "object" ? first : { host: second, port: first };
    if (port) try { require("node:fs").appendFileSync(file, `${host}:${port}\n`); } catch { /* not ours */ }
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
  performance.now = () => world - began + (real.now() % 1) / 1000;
  globalThis.Date = class Date extends real.Date {
    constructor(...parts) { parts.length ? super(...parts) : super(world); }
    static now() { return world; }
  };
}
