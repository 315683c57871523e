// Chains and how they are: up, suspended and for how much longer, or to be suspended.

import { query } from "./api.js";
import { button, dialog, el, fill, say } from "./dom.js";
import { schemaForm } from "./forms.js";
import { distance, duration, moment } from "./text.js";

const FOREVER = Infinity;

export class Chains {
  constructor(app) {
    this.app = app;
    this.windows = [];
    this.find = el("input", { id: "find-chain", type: "search", autocomplete: "off", on: { input: () => this.filter() } });
    this.which = el("select", { id: "which-chains", on: { change: () => this.filter() } },
      el("option", { value: "" }, "all"), el("option", { value: "out" }, "suspended"));
    this.summary = el("p", { class: "summary", role: "status" });
    this.rows = new Map();
    this.body = el("tbody");
    this.tokens = el("div");
    this.element = el("div", {},
      el("div", { class: "bar" },
        el("label", { class: "field", for: "find-chain" }, "Find ", this.find),
        el("label", { class: "field", for: "which-chains" }, "Show ", this.which), this.summary,
        button("Suspend with settings…", () => this.suspend({})),
        button("Add a calendar…", () => this.calendar())),
      this.tokens,
      el("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": "Chains" },
        el("table", { class: "chains" }, el("caption", { class: "visually-hidden" }, "Chains and how they are"),
          el("thead", {}, el("tr", {}, ["Chain", "State", "Time left", "Ahead", "Do"].map((name) => el("th", { scope: "col" }, name)))), this.body)));
  }

  async refresh() {
    const [{ chains }, { outages }] = await Promise.all([this.app.once("chains"), this.app.call("GET", "outages")]);
    this.windows = outages.map((window) => ({ ...window, begin: Date.parse(window.from), end: window.until === null ? FOREVER : Date.parse(window.until) }));
    if (this.drawn !== chains) this.draw(chains);
    this.tick(this.app.time.now());
  }

  draw(chains) {
    this.drawn = chains;
    this.rows.clear();
    fill(this.body, chains.map((chain) => {
      const row = { chain, state: el("span", { class: "badge" }), note: el("small"), left: el("td", { "data-label": "Time left" }), ahead: el("td", { "data-label": "Ahead" }) };
      row.do = button("Suspend", () => (row.active ? this.restore(row.active) : this.suspendNow(chain.chain)));
      row.set = button("…", () => this.suspend({ chain: chain.chain }), { class: "quiet", "aria-label": `Suspend ${chain.chain} with settings`, title: "Suspend with settings" });
      row.element = el("tr", { "data-chain": chain.chain },
        el("th", { scope: "row" }, el("strong", {}, chain.chain), " ", el("small", {}, chain.name)),
        el("td", { "data-label": "State" }, row.state, " ", row.note), row.left, row.ahead, el("td", {}, row.do, " ", row.set));
      this.rows.set(chain.chain, row);
      return row.element;
    }));
    this.filter();
  }

  filter() {
    const wanted = this.find.value.trim().toLowerCase();
    for (const { chain, element, active } of this.rows.values()) {
      const named = `${chain.chain} ${chain.name} ${chain.v1Name ?? ""}`.toLowerCase().includes(wanted);
      element.hidden = !named || (this.which.value === "out" && !active);
    }
  }

  /** Say how every chain is at a moment; which outages there are follows from their times alone. */
  tick(now) {
    if (now === null) return;
    let out = 0;
    for (const [name, row] of this.rows) {
      const own = this.windows.filter((one) => one.chain === name && one.token === null);
      const active = own.find((one) => one.begin <= now && now < one.end);
      const ahead = own.filter((one) => one.begin > now).sort((a, b) => a.begin - b.begin)[0];
      if (active) out += 1;
      if (row.active !== active) row.do.className = active ? "main" : "";
      row.active = active;
      say(row.state, active ? active.mode : "up");
      row.state.dataset.kind = active ? "bad" : "good";
      say(row.note, active ? [...manner(active, now), active.reason].filter(Boolean).join(", ") : "");
      say(row.left, !active ? "" : active.end === FOREVER ? "until restored" : duration(active.end - now));
      say(row.ahead, ahead ? `${ahead.mode} ${distance(ahead.begin, now)}` : "");
      row.set.hidden = Boolean(active);
      say(row.do, active ? "Restore" : "Suspend");
      row.do.setAttribute("aria-label", `${active ? "Restore" : "Suspend"} ${name}`);
    }
    if (this.which.value) this.filter();
    const up = this.rows.size - out;
    say(this.summary, out ? `${out} suspended, ${up} up` : `all ${up} up`);
    this.others(now);
  }

  /** List what is out beside whole chains, and everything that is planned. */
  others(now) {
    const shown = this.windows.filter((one) => one.end > now && (one.token !== null || one.begin > now));
    const state = (one) => (one.begin > now ? `begins ${distance(one.begin, now)}` : one.end === FOREVER ? "until restored" : `${duration(one.end - now)} left`);
    const key = JSON.stringify(shown.map((one) => [one.subject, one.from, one.until, one.begin > now]));
    if (key !== this.listed) {
      this.listed = key;
      this.states = shown.map((one) => [one, el("span")]);
      fill(this.tokens, shown.length ? el("h2", {}, "Tokens, and outages ahead") : null,
        el("ul", { class: "plain rows" }, this.states.map(([one, text]) => el("li", {},
          button(one.begin > now ? "Strike off" : "Restore", () => this.restore(one, one.begin > now), { "aria-label": `${one.begin > now ? "Strike off" : "Restore"} ${one.subject}` }),
          el("span", {}, el("strong", {}, one.subject), " ", el("span", { class: "badge", "data-kind": one.begin > now ? "warn" : "bad" }, one.mode), " ", text, el("small", {}, ` from ${moment(one.begin)}`))))));
    }
    for (const [one, text] of this.states) say(text, state(one));
  }

  restore(window, planned = false) {
    const about = { chain: window.chain, token: window.token, direction: window.direction, planned: planned || undefined };
    return this.changed(() => this.app.call("DELETE", query("outages", about)), `${window.subject} ${planned ? "is not going to be suspended" : "restored"}`);
  }

  /** Suspend a chain at once: listed, refused, until somebody restores it. */
  suspendNow(chain) {
    return this.changed(() => this.app.call("POST", "outages", { chain }), (window) => `${window.subject} suspended, ${window.mode}, until it is restored`);
  }

  async suspend(preset) {
    const schema = await this.app.form("POST", "/outages");
    const names = preset.chain ? [] : ["chain", "token"];
    dialog(preset.chain ? `Suspend ${preset.chain}` : "Suspend a chain or token", (close) => schemaForm(schema, {
      preset, omit: preset.chain ? ["chain"] : [], first: [...names, "mode", "for", "inFlight", "reason"], label: "Suspend",
      act: async (told) => {
        if (await this.changed(() => this.app.call("POST", "outages", told), (window) => `${window.subject} suspended, ${window.mode}`)) close();
      },
    }));
  }

  async calendar() {
    const schema = await this.app.form("POST", "/calendar");
    dialog("Add a calendar of outages", (close) => schemaForm(schema, {
      first: ["name", "start"], omit: ["windows"], label: "Add",
      act: async (told) => {
        if (await this.changed(() => this.app.call("POST", "calendar", told), (done) => `${done.added.length} outages added`)) close();
      },
    }));
  }

  async changed(what, done) {
    const held = await this.app.act(what, done);
    if (held) await this.refresh();
    return held;
  }
}

/** Return in words what is special about an outage at a moment. */
function manner(window, now) {
  const words = [];
  if (window.direction !== "both") words.push(`as ${window.direction}`);
  if (window.mode === "lagging") words.push(`${window.lag} times slower`);
  if (window.mode === "flapping") words.push((now - window.begin) % window.period < (window.period * window.downPercent) / 100 ? "down now" : "up now");
  if (window.inFlight !== "stall") words.push(`orders on their way: ${window.inFlight}`);
  return words;
}
