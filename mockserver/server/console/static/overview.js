// The start page: what matters in this world now, each with the way to where more is known.

import { query } from "./api.js";
import { button, el, fill, holes } from "./dom.js";
import { tone } from "./axis.js";
import { paced } from "./pace.js";
import { distance, duration } from "./text.js";

const NEWEST = 6;
const SLOWLY = 3000;
const LEVELS = { error: "bad", warn: "warn" };

export class Overview {
  constructor(app, journal) {
    this.app = app;
    this.journal = journal;
    this.outages = el("div");
    this.orders = el("div");
    this.refusals = el("div");
    this.findings = el("div", { role: "status" });
    this.remarks = el("div", { role: "status" });
    this.disturbing = el("div");
    // With thousands of orders these take the server seconds: each has a pace of its own.
    const slowly = (judged) => paced(() => judged().catch((error) => this.app.wrong(error.message)), SLOWLY);
    this.judges = [slowly(() => this.audit()), slowly(() => this.lint())];
    this.element = el("div", { class: "overviews" },
      card("findings", "Money", this.findings, "checks"),
      card("remarks", "Requests", this.remarks, "checks"),
      card("outages", "Outages", this.outages, "chains"),
      card("newest-orders", "Newest orders", this.orders, "orders"),
      card("disturbing", "Set to go wrong", this.disturbing, "faults"),
      card("refusals", "Refused or disturbed", this.refusals, "journal"));
  }

  async refresh() {
    const [{ outages }, { orders }, { faults }, { triggers }] = await Promise.all([
      this.app.call("GET", "outages"), this.app.call("GET", query("orders", { newest: true, limit: NEWEST })),
      this.app.call("GET", "faults"), this.app.call("GET", "at")]);
    this.known = { outages, orders };
    this.draw();
    fill(this.disturbing, faults.length + triggers.length
      ? el("ul", { class: "plain" },
        faults.map((fault) => el("li", {}, el("strong", {}, fault.kind), ` ${fault.operation ?? "every operation"}, struck ${fault.struck} of ${fault.seen} calls`)),
        triggers.map((trigger) => el("li", {}, el("strong", {}, "trigger"), ` ${describe(trigger)}`)))
      : none("No fault or trigger is set."));
    await Promise.all(this.judges.map((judge) => judge()));
  }

  /** Draw what changes with the world's time alone. */
  draw() {
    if (!this.known) return;
    const now = this.app.time.now() ?? 0;
    const { outages, orders } = this.known;
    const present = outages.filter((outage) => outage.until === null || Date.parse(outage.until) > now);
    fill(this.outages, present.length ? el("ul", { class: "plain rows" }, present.slice(0, NEWEST).map((outage) => this.outage(outage, now))) : none("Every chain is up."));
    fill(this.orders, orders.length ? el("ul", { class: "plain" }, orders.map((order) => el("li", {},
      el("a", { href: `#orders/${encodeURIComponent(order.id)}` }, order.id), " ",
      el("span", { class: "badge", "data-kind": tone(order.status) }, order.status), ` ${order.paid} ${order.from.chain} → ${order.to.chain}, `,
      el("time", {}, distance(Date.parse(order.submitted), now)), order.reason ? el("em", {}, ` ${order.reason}`) : null))) : none("No order yet. Orders appear here as clients submit them."));
    this.refused(now);
  }

  outage(outage, now) {
    const begin = Date.parse(outage.from);
    const text = begin > now ? `begins ${distance(begin, now)}` : outage.until === null ? "until restored" : `${duration(Date.parse(outage.until) - now)} left`;
    const about = { chain: outage.chain, token: outage.token, direction: outage.direction, planned: begin > now || undefined };
    return el("li", {},
      button(begin > now ? "Strike off" : "Restore", () => this.restore(outage, about), { "aria-label": `${begin > now ? "Strike off" : "Restore"} ${outage.subject}` }),
      el("span", {}, el("strong", {}, outage.subject), " ", el("span", { class: "badge", "data-kind": begin > now ? "warn" : "bad" }, outage.mode), ` ${text}`));
  }

  async restore(outage, about) {
    if (await this.app.act(() => this.app.call("DELETE", query("outages", about)), `${outage.subject} is restored`)) await this.refresh();
  }

  refused(now) {
    const hit = this.journal.entries.filter((entry) => entry.refusal || entry.fault).reverse();
    const newest = grouped(hit, (entry) => `${entry.method} ${entry.path} ${entry.refusal ?? entry.fault}`).slice(0, NEWEST);
    fill(this.refusals, newest.length ? el("ul", { class: "plain" }, newest.map(([entry, count]) => el("li", {},
      el("a", { href: `#journal/${entry.sequence}` }, `${entry.method} ${entry.path}`), ` ${distance(entry.ms, now)}`, count > 1 ? `, ${count} times` : "",
      el("p", { class: "why" }, entry.refusal ?? `disturbed by ${entry.fault}`)))) : none("No request was refused or disturbed."));
  }

  async audit() {
    const verdict = await this.app.call("GET", "audit");
    fill(this.findings, verdict.findings.length
      ? el("ul", { class: "plain" }, grouped(verdict.findings, (finding) => finding.kind).slice(0, NEWEST).map(([finding, count]) => el("li", {},
        el("span", { class: "badge", "data-kind": "bad" }, finding.kind), " ", finding.told,
        finding.orders.slice(0, 3).map((order) => [" ", el("a", { href: `#orders/${encodeURIComponent(order)}` }, order)]).flat(),
        count > 1 ? [" ", el("a", { href: "#checks" }, `and ${count - 1} more`)] : null)))
      : none(verdict.ground.missing ? `No order to judge yet: ${verdict.ground.missing}.` : verdict.judged ? `The audit finds nothing wrong with ${verdict.judged} ${verdict.judged === 1 ? "order" : "orders"}.` : "No order to judge yet."),
      verdict.ground.missing ? null : holes(verdict.ground));
  }

  /** Tell what would be wrong with the requests if nothing else went wrong, the worst first. */
  async lint() {
    const { findings, requests } = await this.app.call("GET", "lint");
    fill(this.remarks, findings.length
      ? el("ul", { class: "plain" }, grouped(findings, (finding) => finding.rule).slice(0, NEWEST).map(([finding, count]) => el("li", {},
        el("span", { class: "badge", "data-kind": LEVELS[finding.level] }, `${finding.level}: ${finding.rule}`), " ", finding.told,
        finding.requests.slice(0, 1).map(({ sequence }) => [" ", el("a", { href: `#journal/${sequence}` }, `request ${sequence}`)]).flat(),
        count > 1 ? [" ", el("a", { href: "#checks" }, `and ${count - 1} more`)] : null)))
      : none(requests ? `Lint finds nothing wrong with ${requests} ${requests === 1 ? "request" : "requests"}.` : "No request to judge yet."));
  }

  request(entry) {
    if (entry.refusal || entry.fault) this.refused(this.app.time.now() ?? 0);
  }

  tick() {
    this.draw();
  }
}

/** Say what a trigger waits for and what it does. */
export function describe(trigger) {
  const place = `${trigger.phase ?? "after"} call ${trigger.nth ?? 1} of ${trigger.operation ?? "any operation"}`;
  if (trigger.failed) return `${place} failed: ${trigger.failed}`;
  return `${place}, ${trigger.struck ? "has happened" : `to come; ${trigger.seen} such calls so far`}`;
}

/** Return the first of those that are alike, in order, each with how many there are. */
function grouped(items, key) {
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group[1] += 1;
    else groups.set(key(item), [item, 1]);
  }
  return [...groups.values()];
}

function card(id, title, content, view) {
  return el("section", { class: "overview", "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title, " ", el("a", { class: "more", href: `#${view}`, "aria-label": `All of ${title}` }, "all")), content);
}

function none(text) {
  return el("p", { class: "none" }, text);
}
