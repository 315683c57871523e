// The console of one world: what is on the page, and how it learns of changes.

import { call } from "./api.js";
import { Chains } from "./chains.js";
import { Checks } from "./checks.js";
import { ClockBar, WorldTime } from "./clock.js";
import { copied, el, fill, say } from "./dom.js";
import { Faults } from "./faults.js";
import { Journal } from "./journal.js";
import { listen } from "./keys.js";
import { Money } from "./money.js";
import { Orders } from "./orders.js";
import { Overview } from "./overview.js";
import { Reports } from "./reports.js";
import { Stream } from "./stream.js";
import { moment } from "./text.js";
import { Worlds } from "./worlds.js";

const at = (id) => document.getElementById(id);
const LINES = { live: "live", lost: "connection lost, trying again", waiting: "paused" };
const GENTLY = 400;
const TICK = 500;

/** What the views share: the API, the time of the world, its requests, and how to tell a person. */
class Console {
  constructor() {
    this.time = new WorldTime();
    this.state = { world: "", epoch: "", orders: 0, outages: 0, last: 0, dropped: 0, worlds: 0 };
    this.kept = new Map();
  }

  call(method, path, body) {
    return call(method, path, body);
  }

  /** Return what does not change in a world, asked for once. */
  once(path) {
    if (!this.kept.has(path)) {
      const asked = call("GET", path);
      this.kept.set(path, asked);
      asked.catch(() => this.kept.delete(path));
    }
    return this.kept.get(path);
  }

  /** Do something that may be refused, and tell how it went; returns whether it was done. */
  async act(what, done) {
    try {
      const told = await what();
      this.tell(typeof done === "function" ? done(told) : done);
      return true;
    } catch (error) {
      this.wrong(error.message);
      return false;
    }
  }

  /** Say in a line what was done. */
  tell(text) {
    at("wrong").hidden = true;
    at("told").hidden = !text;
    say(at("told"), text ?? "");
  }

  /** Say in a line what could not be done. */
  wrong(text) {
    // What is beside an open dialog can neither be seen well nor heard.
    const line = document.querySelector("dialog[open] > .wrong") ?? at("wrong");
    at("told").hidden = true;
    line.hidden = !text;
    say(line, text ?? "");
  }

  /** Return the form of a control request as its document has it. */
  async form(method, path) {
    const found = (await this.once("openapi")).paths[`/__mock${path}`][method.toLowerCase()];
    return found.requestBody.content["application/json"].schema;
  }

  async copy(text, what) {
    if (await copied(text)) this.tell(`${what} is copied`);
    else this.wrong(`the browser does not let this page copy; take it from here: ${text}`);
  }
}

const app = new Console();
const journal = new Journal(app);
const views = { overview: new Overview(app, journal), chains: new Chains(app), orders: new Orders(app), journal, faults: new Faults(app, journal), money: new Money(app, journal), checks: new Checks(app), reports: new Reports(app), worlds: new Worlds(app) };
const TITLES = { overview: "Now", chains: "Chains", orders: "Orders", journal: "Journal", faults: "Faults", money: "Money", checks: "Checks", reports: "Reports", worlds: "Worlds" };
const bar = new ClockBar(app);
let current = null;
let later = null;
let refused = false;

function show() {
  const [name, argument] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const chosen = name in views ? name : "overview";
  for (const link of at("views").querySelectorAll("a")) {
    if (link.hash === `#${chosen}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  bringTab();
  document.title = `${TITLES[chosen]} · crosschain-mock`;
  if (current !== views[chosen]) {
    current = views[chosen];
    fill(at("main"), el("h1", { class: "visually-hidden" }, TITLES[chosen]), current.element);
    app.tell("");
    refresh();
  }
  if (argument) current.open?.(argument);
}

/** Bring the tab of the view to where it can be seen: on a small screen not all of them fit. */
function bringTab() {
  at("views").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

async function refresh() {
  later = null;
  try {
    await current?.refresh?.();
  } catch (error) {
    app.wrong(error.message);
  }
}

function refreshSoon() {
  later ??= setTimeout(refresh, GENTLY);
}

function heard(event, data) {
  if (event === "request") {
    journal.add(data);
    current?.request?.(data);
    return;
  }
  if (event === "gone") {
    app.wrong(`the world ${data.world} was dropped; what you see is how it was`);
    return;
  }
  if (app.state.epoch && app.state.epoch !== data.epoch) {
    app.kept.clear();
    journal.forget();
    views.orders.forget();
  }
  const worlds = app.state.worlds !== data.worlds || app.state.world !== data.world;
  app.state = data;
  app.time.set(data.clock);
  if (worlds) views.worlds.refresh();
  journal.dropped(data.dropped);
  tick();
  bar.refresh();
  counts();
  refreshSoon();
}

function counts() {
  say(at("count-orders"), app.state.orders ? String(app.state.orders) : "");
  say(at("count-journal"), app.state.last ? String(app.state.last) : "");
  const chains = app.state.outages ? `${app.state.outages} out` : "";
  if (at("count-chains").textContent !== chains) {
    say(at("count-chains"), chains);
    bringTab();
  }
}

let shown = null;

function tick() {
  const now = app.time.now();
  if (now === null || now === shown) return;
  shown = now;
  say(at("now"), `${moment(now)} UTC`);
  at("now").dateTime = `${moment(now).replace(" ", "T")}Z`;
  say(at("mode"), app.time.words());
  current?.tick?.(now);
}

fill(at("views"), Object.keys(views).map((name) =>
  el("li", {}, el("a", { href: `#${name}` }, TITLES[name], " ", el("span", { class: "count", id: `count-${name}` })))));
fill(at("clock"), bar.element);
window.addEventListener("hashchange", show);
listen();
new Stream(heard, (line, why) => {
  at("line").dataset.line = line;
  say(at("line"), LINES[line]);
  if (why) app.wrong(why);
  if (line === "live") {
    // What the server refused while the line was lost is over now.
    if (refused) app.wrong("");
    refreshSoon();
  }
  refused = Boolean(why);
}).start();
show();
setInterval(tick, TICK);
