// Money: what a transfer would give now, what clients were quoted, and what the accounts own.

import { query } from "./api.js";
import { button, el, facts, fill, table } from "./dom.js";
import { paced } from "./pace.js";
import { distance, tokens, when } from "./text.js";

const QUOTED = 20;
const SLOWLY = 3000;

export class Money {
  constructor(app, journal) {
    this.app = app;
    this.journal = journal;
    const select = (id, act) => el("select", { id, required: true, on: { change: act } });
    this.from = select("quote-from", () => this.tokensOf());
    this.to = select("quote-to", () => this.tokensOf());
    this.token = select("quote-token", () => {});
    this.target = select("quote-target", () => {});
    this.amount = el("input", { id: "quote-amount", inputmode: "decimal", value: "10", required: true });
    this.answer = el("div", { role: "status" });
    this.quotes = el("div");
    this.address = el("input", { id: "balance-address", type: "search", autocomplete: "off", on: { change: () => this.refreshBalances() } });
    this.balances = el("div");
    const label = (input, text) => el("label", { class: "field", for: input.id }, `${text} `, input);
    this.rebalance = paced(() => this.refreshBalances(), SLOWLY);
    this.element = el("div", { class: "columns" },
      el("section", { "aria-labelledby": "quote-title" }, el("h2", { id: "quote-title" }, "Ask for a price"),
        el("form", { on: { submit: (event) => {
          event.preventDefault();
          this.quote();
        } } }, el("div", { class: "fields" }, label(this.amount, "Amount"), label(this.from, "From"), label(this.token, "Token"), label(this.to, "To"), label(this.target, "Token out")),
        el("p", { class: "actions" }, el("button", { type: "submit", class: "main" }, "Quote"))), this.answer),
      el("section", { "aria-labelledby": "balances-title" }, el("h2", { id: "balances-title" }, "Balances"),
        el("div", { class: "bar" }, label(this.address, "Address"), button("Refresh", () => this.refreshBalances())), this.balances),
      el("section", { class: "wide", "aria-labelledby": "quotes-title" }, el("h2", { id: "quotes-title" }, "Quotes that clients asked for"), this.quotes));
  }

  async refresh() {
    const { chains } = await this.app.once("chains");
    if (this.chains !== chains) {
      this.chains = chains;
      for (const input of [this.from, this.to]) fill(input, chains.map((one) => el("option", { value: one.chain }, one.chain)));
      this.to.value = chains[1]?.chain ?? chains[0].chain;
      this.tokensOf();
    }
    this.asked();
    await this.rebalance();
  }

  tokensOf() {
    for (const [chain, input] of [[this.from, this.token], [this.to, this.target]]) {
      const chosen = input.value;
      const found = this.chains.find((one) => one.chain === chain.value)?.tokens.map((one) => one.token) ?? [];
      fill(input, found.map((one) => el("option", { value: one }, one)));
      input.value = found.includes(chosen) ? chosen : found.includes("USDT") ? "USDT" : found[0] ?? "";
    }
  }

  quote() {
    const asked = { from: this.from.value, to: this.to.value, token: this.token.value, targetToken: this.target.value, amount: this.amount.value };
    fill(this.answer);
    return this.app.act(async () => {
      const told = await this.app.call("GET", query("quote", asked));
      const whole = (units) => `${tokens(units, told.decimals)} ${asked.targetToken}`;
      fill(this.answer, facts([["Arrives", whole(told.net)], ["Before fees", whole(told.gross)], ["Service fee", whole(told.serviceFee)], ["Gas", whole(told.gasFee)], ...(told.aggregator ? [["Through", told.aggregator]] : [])]));
    }, "");
  }

  /** List the quotes of the journal with their age: a client should submit what it was quoted. */
  asked() {
    const now = this.app.time.now();
    const found = this.journal.entries.filter((one) => one.operation?.includes("Quote")).slice(-QUOTED).reverse();
    fill(this.quotes, found.length ? table("Quotes that clients asked for", ["At", "Operation", "Asked", "Age", "Answer"], found.map((one) => [
      el("a", { href: `#journal/${one.sequence}` }, when(one.ms, now)), one.operation, [...new URLSearchParams(one.query).values()].join(" "), distance(one.ms, now), one.refusal ?? "quoted"])) : el("p", { class: "none" }, "Nobody has asked for a quote yet."));
  }

  tick() {
    this.asked();
  }

  async refreshBalances() {
    const told = await this.app.call("GET", query("balances", { address: this.address.value.trim() })).catch((error) => {
      this.app.wrong(error.message);
      return { balances: [], total: 0 };
    });
    fill(this.balances, told.total ? table("Balances", ["Owns", "On", "Address"], told.balances.map((one) => [`${tokens(one.units, one.decimals)} ${one.token}`, one.chain, el("span", { class: "long" }, one.address)])) : el("p", { class: "none" }, "No order has used an account yet."),
      told.total > told.balances.length ? el("p", {}, `${told.balances.length} of ${told.total} accounts; narrow them by address`) : null);
  }
}
