// What is judged of this world: money by the audit, requests by lint, and what clients have claimed.

import { button, el, fill, holes } from "./dom.js";

export class Checks {
  constructor(app) {
    this.app = app;
    this.found = el("div", { role: "status" });
    this.remarks = el("div", { role: "status" });
    this.claimed = el("div");
    this.element = el("div", { class: "columns" },
      el("section", { "aria-labelledby": "audit-title" }, el("h2", { id: "audit-title" }, "Audit"),
        el("div", { class: "bar" }, button("Look for money doubled, lost or stuck", () => this.audit())), this.found),
      el("section", { "aria-labelledby": "lint-title" }, el("h2", { id: "lint-title" }, "Lint"),
        el("div", { class: "bar" }, button("Judge the requests so far", () => this.lint())), this.remarks),
      el("section", { "aria-labelledby": "claims-title" }, el("h2", { id: "claims-title" }, "Claimed and expected"), this.claimed));
  }

  refresh() {
    return this.beliefs();
  }

  /** Tell of money that was doubled, lost or is stuck, each with the requests it is about. */
  audit() {
    return this.app.act(async () => {
      const told = await this.app.call("GET", "audit");
      const beyond = [told.more ? `${told.more} more are not shown` : "", told.unjudged ? `${told.unjudged} orders were not judged: older requests are not kept any more` : ""].filter(Boolean);
      fill(this.found,
        told.ok ? el("p", { class: "none" }, `All is well with ${told.judged} ${told.judged === 1 ? "order" : "orders"}.`) : !told.findings.length ? el("p", { class: "none" }, `${told.ground.missing}.`) : el("ul", { class: "plain cards" }, told.findings.map((one) => el("li", {},
          el("strong", {}, one.kind), el("p", {}, one.told),
          el("ul", { class: "hits" }, one.requests.map((request) => el("li", {}, el("a", { href: `#journal/${request.sequence}` }, request.request), ` ${request.outcome}`)),
            one.transactions.map((sent) => el("li", {}, `transaction ${sent.hash} on ${sent.chain}`)))))),
        beyond.map((text) => el("p", {}, text)), told.ground.missing ? null : holes(told.ground));
    }, "");
  }

  /** Tell what would be wrong with the requests if nothing else went wrong, the worst first. */
  lint() {
    return this.app.act(async () => {
      const told = await this.app.call("GET", "lint");
      const looked = `${told.requests} ${told.requests === 1 ? "request" : "requests"}`;
      fill(this.remarks,
        told.findings.length ? el("ul", { class: "plain cards" }, told.findings.map((one) => el("li", {},
          el("strong", {}, `${one.level}: ${one.rule}`), el("p", {}, one.told), el("p", {}, one.advice),
          el("ul", { class: "hits" }, one.requests.map((request) => el("li", {}, el("a", { href: `#journal/${request.sequence}` }, request.request), ` ${request.outcome}`)))))) : el("p", { class: "none" }, told.requests ? `Nothing to say of ${looked}.` : "No request has come yet, so there is nothing to judge."), told.ground.missing ? null : holes(told.ground),
        told.lost ? el("p", {}, `${told.lost} older requests are not kept any more, and were not judged.`) : null);
    }, "");
  }

  /** List what clients and tests have said, which the audit compares with the books. */
  async beliefs() {
    const { claims, expects, unread } = await this.app.call("GET", "claims");
    const lines = [...claims.map((text) => `claimed: ${text}`), ...expects.map((text) => `expected ${text}`), ...unread.map((number) => `request ${number}: its answer was never read`)];
    fill(this.claimed, lines.length ? el("ul", { class: "plain" }, lines.map((text) => el("li", {}, text))) : el("p", { class: "none" }, "Nobody has claimed or expected anything."));
  }
}
