// What goes wrong on purpose: faults, breaks and stubs, and which requests they have hit.

import { button, el, fill, say, table } from "./dom.js";
import { schemaForm } from "./forms.js";
import { describe } from "./overview.js";
import { clockTime, pretty } from "./text.js";

const HITS = 5;
const SHOWN = 40;

export class Faults {
  constructor(app, journal) {
    this.app = app;
    this.journal = journal;
    this.active = el("div");
    this.stubs = el("div");
    this.triggers = el("div");
    this.breaks = el("div");
    this.names = [];
    this.kind = el("select", { id: "fault-kind", on: { change: () => this.form() } });
    this.fields = el("div");
    this.find = el("input", { id: "find-break", type: "search", autocomplete: "off", on: { input: () => this.list() } });
    this.catalogue = el("ul", { class: "plain rows" });
    this.count = el("p", { class: "summary", role: "status" });
    this.element = el("div", { class: "columns" },
      el("section", { "aria-labelledby": "faults-title" }, el("h2", { id: "faults-title" }, "Faults"), this.active,
        el("h3", {}, "Set a fault"), el("label", { class: "field", for: "fault-kind" }, "Kind ", this.kind), this.fields),
      el("section", { "aria-labelledby": "breaks-title" }, el("h2", { id: "breaks-title" }, "Breaks"), this.breaks,
        el("h3", {}, "Have a break"), el("div", { class: "bar" }, el("label", { class: "field", for: "find-break" }, "Find ", this.find), this.count), this.catalogue),
      el("section", { "aria-labelledby": "triggers-title" }, el("h2", { id: "triggers-title" }, "Triggers"), this.triggers),
      el("section", { "aria-labelledby": "stubs-title" }, el("h2", { id: "stubs-title" }, "Stubs"), this.stubs));
  }

  async refresh() {
    const [{ faults }, { triggers }, { stubs }, catalogue, schema] = await Promise.all([
      this.app.call("GET", "faults"), this.app.call("GET", "at"), this.app.call("GET", "stubs"), this.app.once("breaks"), this.app.form("POST", "/faults")]);
    this.variants = schema.oneOf;
    if (!this.kind.options.length) {
      fill(this.kind, schema.oneOf.map((one) => el("option", { value: one.title }, one.title)));
      this.form();
    }
    fill(this.active, faults.length ? el("ul", { class: "plain cards" }, faults.map((one) => this.fault(one))) : el("p", { class: "none" }, "No fault is set."));
    fill(this.stubs, stubs.length ? table("Stubs", ["Stub", "Operation", "Used", "Do"], stubs.map((one) => [one.id, one.operation, one.times ? `${one.used} of ${one.times}` : String(one.used), button("Remove", () => this.gone("stubs", one.id), { "aria-label": `Remove stub ${one.id}` })])) : el("p", { class: "none" }, "No stub is set. A request of the journal can be kept as one."));
    fill(this.triggers, triggers.length ? el("ul", { class: "plain cards" }, triggers.map((trigger) => el("li", {},
      el("strong", {}, trigger.id), ` ${describe(trigger)} `, button("Remove", () => this.gone("at", trigger.id), { "aria-label": `Remove trigger ${trigger.id}` }),
      el("pre", { tabindex: "0" }, pretty(trigger))))) : el("p", { class: "none" }, "Nothing is to happen at a call."));
    this.known = catalogue.breaks;
    await this.refreshBreaks();
  }

  async refreshBreaks() {
    const { worlds } = await this.app.call("GET", "worlds");
    this.names = worlds.find((one) => one.key === this.app.state.world)?.breaks ?? [];
    fill(this.breaks, this.names.length ? el("ul", { class: "plain cards" }, this.names.map((name) => el("li", {},
      el("strong", {}, name), " ", button("End", () => this.put(this.names.filter((one) => one !== name)), { "aria-label": `End ${name}` }), this.hits(`break (${name})`)))) : el("p", { class: "none" }, "The world is as the contract says."));
    this.list();
  }

  fault(one) {
    const told = Object.entries(one).filter(([name]) => !["id", "kind", "seen", "struck"].includes(name));
    return el("li", {}, el("strong", {}, one.kind), ` ${one.id} `, button("Remove", () => this.gone("faults", one.id), { "aria-label": `Remove fault ${one.id}` }),
      el("p", {}, `struck ${one.struck} of ${one.seen} calls`), el("p", {}, el("small", {}, told.map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", "))),
      this.hits(`${one.kind} (${one.id})`));
  }

  /** Return the newest requests that something has hit, as links into the journal. */
  hits(name) {
    const found = this.journal.entries.filter((one) => one.fault?.split(", ").includes(name));
    return found.length ? el("ul", { class: "hits" }, found.slice(-HITS).reverse().map((one) => el("li", {}, el("a", { href: `#journal/${one.sequence}` }, `${clockTime(one.ms)} ${one.method} ${one.path}`)))) : null;
  }

  form() {
    const chosen = this.variants?.find((one) => one.title === this.kind.value);
    if (!chosen) return;
    fill(this.fields, el("p", {}, chosen.description), schemaForm(chosen, {
      preset: { kind: chosen.title }, omit: ["kind"], first: ["operation", "chain", "first"], label: "Set the fault",
      act: (told) => this.changed(() => this.app.call("POST", "faults", told), (one) => `fault ${one.id} is set`),
    }));
  }

  list() {
    const wanted = this.find.value.trim().toLowerCase();
    const found = (this.known ?? []).filter((one) => !this.names.includes(one.name) && `${one.name} ${one.summary} ${one.layer} ${one.operations.join(" ")}`.toLowerCase().includes(wanted));
    say(this.count, found.length > SHOWN ? `${SHOWN} of ${found.length} shown` : `${found.length} found`);
    fill(this.catalogue, found.slice(0, SHOWN).map((one) => el("li", {}, button("Break", () => this.put([...this.names, one.name]), { "aria-label": `Have ${one.name}` }), el("span", {}, el("strong", {}, one.name), ` ${one.summary}`))));
  }

  put(names) {
    return this.changed(() => this.app.call("PUT", "breaks", { breaks: names }), ({ active }) => (active.length ? `broken: ${active.join(", ")}` : "the world is as the contract says"));
  }

  gone(what, id) {
    return this.changed(() => this.app.call("DELETE", `${what}/${encodeURIComponent(id)}`), `${id} is gone`);
  }

  async changed(what, done) {
    const held = await this.app.act(what, done);
    if (held) await this.refresh();
    return held;
  }
}
