// The orders of the world on its time: what has happened to each, what will, and what has moved.

import { query } from "./api.js";
import { Axis, FINAL, tone, track } from "./axis.js";
import { button, dialog, el, facts, fill, say } from "./dom.js";
import { schemaForm } from "./forms.js";
import { List } from "./list.js";
import { story } from "./story.js";
import { distance, tokens } from "./text.js";

const PAGE = 40;
const SPANS = [["", "far and near"], ["all", "all that is shown"], ["60000", "a minute around now"], ["600000", "ten minutes"], ["3600000", "an hour"], ["86400000", "a day"]];
const STATUSES = ["Pending", "WaitVerify", "Verified", "Succeeded", "Failed", "Dropped", "Refunding", "Refunded", "Unknown"];

export class Orders {
  constructor(app) {
    this.app = app;
    this.forget();
    this.find = el("input", { id: "find-order", type: "search", autocomplete: "off", placeholder: "id, hash, address, chain", on: { input: () => this.again() } });
    this.status = el("select", { id: "order-status", on: { change: () => this.again() } },
      el("option", { value: "" }, "any"), STATUSES.map((one) => el("option", { value: one }, one)));
    this.span = el("select", { id: "order-span", on: { change: () => this.rescale() } },
      SPANS.map(([value, text]) => el("option", { value }, text)));
    this.summary = el("p", { class: "summary" });
    this.scale = el("div");
    this.list = new List({ label: "Orders, newest first", empty: "No order to show. Orders appear here as clients submit them.", height: matchMedia("(max-width: 40rem)").matches ? 60 : 44, row: (index) => this.row(index), seen: (first, last) => this.want(first, last), chosen: (index) => this.choose(index) });
    this.detail = el("section", { class: "detail", "aria-label": "Order" });
    this.element = el("div", { class: "split" },
      el("div", { class: "pane" },
        el("div", { class: "bar" },
          el("label", { class: "field", for: "find-order" }, "Find ", this.find),
          el("label", { class: "field", for: "order-status" }, "Status ", this.status),
          el("label", { class: "field", for: "order-span" }, "Time ", this.span), this.summary),
        el("div", { class: "list-head" }, el("span", {}, "Order"), el("span", {}, "Route"), this.scale),
        this.list.element),
      this.detail);
  }

  /** Forget what was shown: the world is another one. */
  forget() {
    this.pages = new Map();
    this.total = 0;
    this.loaded = 0;
    this.seen = [0, 0];
    this.outages = [];
    this.axis = null;
    this.chosen = this.told = null;
    if (this.detail) fill(this.detail);
  }

  again() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => {
      this.list.list.scrollTop = 0;
      this.pages.clear();
      this.refresh();
    }, 200);
  }

  async refresh() {
    const [{ chains }, { outages }] = await Promise.all([this.app.once("chains"), this.app.call("GET", "outages")]);
    this.decimals = new Map(chains.flatMap((chain) => chain.tokens.map((one) => [`${chain.chain} ${one.token}`, one.decimals])));
    this.outages = outages.map((one) => ({ ...one, begin: Date.parse(one.from), end: one.until === null ? Number.MAX_SAFE_INTEGER : Date.parse(one.until) }));
    const [first, last] = this.seen;
    const pages = new Set([Math.floor(first / PAGE), Math.floor(Math.max(first, last) / PAGE)]);
    for (const page of this.pages.keys()) if (!pages.has(page)) this.pages.delete(page);
    await Promise.all([...pages].map((page) => this.load(page)));
    if (this.chosen) await this.showDetail(this.chosen);
  }

  async load(page) {
    const told = await this.app.call("GET", query("orders", { newest: true, events: true, offset: page * PAGE, limit: PAGE, find: this.find.value.trim().slice(0, 200), status: this.status.value }));
    const orders = told.orders.map((order) => ({ ...order, events: order.events.map((event) => ({ ...event, ms: Date.parse(event.at) })) }));
    this.pages.set(page, orders);
    this.loaded += 1;
    const grown = Math.max(0, told.total - this.total);
    this.total = told.total;
    say(this.summary, told.total === 1 ? "1 order" : `${told.total} orders`);
    this.list.size(told.total, this.find.value || this.status.value ? 0 : grown);
    this.rescale();
  }

  /** Remember which rows are visible, and ask for those that nobody has asked for yet. */
  want(first, last) {
    this.seen = [first, last];
    for (let page = Math.floor(first / PAGE); page * PAGE <= last; page++) {
      if (this.pages.has(page) || last < 0) continue;
      this.pages.set(page, []);
      this.load(page).catch((error) => this.app.wrong(error.message));
    }
  }

  order(index) {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Put the axis around what is visible and now. */
  rescale() {
    const now = this.app.time.now() ?? 0;
    const moments = [now];
    for (let index = this.seen[0]; index <= this.seen[1]; index++) {
      const order = this.order(index);
      if (order) for (const event of order.events) moments.push(event.ms);
    }
    const span = Number(this.span.value);
    if (this.span.value === "") this.axis = Axis.around(now, moments);
    else this.axis = span ? new Axis(now - span, now + span) : Axis.of(moments);
    fill(this.scale, this.total ? this.axis.scale() : null);
    this.list.draw();
  }

  row(index) {
    const order = this.order(index);
    if (!order) return { key: "", children: () => ["…"] };
    const now = this.app.time.now() ?? 0;
    const status = statusAt(order, now);
    const next = order.events.find((event) => event.ms > now);
    const drawn = `${order.id} ${this.loaded} ${this.axis?.begin} ${this.axis?.end} ${Math.floor(now / this.step())}`;
    return { key: drawn, children: () => [
      el("span", { class: "cell" }, el("strong", {}, order.id), " ", el("span", { class: "badge", "data-kind": tone(status) }, status)),
      el("span", { class: "cell route" }, this.route(order)),
      this.axis ? track(this.axis, order.events, this.touching(order), now) : "",
      el("span", { class: "visually-hidden" }, next ? `, ${next.status} ${distance(next.ms, now)}` : "")] };
  }

  /** Return how much of the world's time moves what is drawn by something that can be seen. */
  step() {
    return this.axis ? Math.max(1000, (this.axis.end - this.axis.begin) / 500) : 1000;
  }

  route(order) {
    return `${this.amount(order.amount, order.from.chain, order.from.token)} ${order.from.token} ${order.from.chain} → ${order.to.token === order.from.token ? "" : `${order.to.token} `}${order.to.chain}`;
  }

  amount(units, chain, token) {
    const decimals = this.decimals?.get(`${chain} ${token}`);
    return decimals === undefined ? `${units} units of` : tokens(units, decimals);
  }

  touching(order) {
    return this.outages.filter((one) =>
      (one.direction !== "target" && [null, order.from.chain].includes(one.chain) && [null, order.from.token].includes(one.token)) ||
      (one.direction !== "source" && [null, order.to.chain].includes(one.chain) && [null, order.to.token].includes(one.token)));
  }

  tick(now) {
    if (this.axis && (this.span.value !== "all" || now > this.axis.end)) this.rescale();
    else this.list.draw();
    if (this.shown) this.events(this.shown, now);
  }

  choose(index) {
    const order = this.order(index);
    if (order) location.hash = `#orders/${encodeURIComponent(order.id)}`;
  }

  async open(id) {
    this.chosen = id;
    try {
      await this.refresh();
    } catch (error) {
      this.app.wrong(error.message);
    }
  }

  async showDetail(id) {
    const at = `orders/${encodeURIComponent(id)}`;
    const [order, { lines }] = await Promise.all([this.app.call("GET", at), this.app.call("GET", `${at}/story`)]);
    if (this.chosen !== id) return;
    order.events = order.events.map((event) => ({ ...event, ms: Date.parse(event.at) }));
    const key = JSON.stringify([order, lines]);
    if (this.key === key) return;
    this.key = key;
    this.shown = order;
    this.lines = lines;
    this.line = el("div", { class: "line-large" });
    this.happened = el("div");
    fill(this.detail,
      el("h2", {}, `Order ${order.id}`),
      el("div", { class: "actions" },
        button("To its end", () => this.steer("clock", { runUntil: { order: order.id } }, "at its end")),
        button("Next status", () => this.steer(`orders/${encodeURIComponent(order.id)}`, { step: true }, "moved on")),
        button("Steer…", () => this.form(order)),
        button("Close", () => this.close())),
      this.line, el("h3", {}, "From quote to payout"), this.happened,
      facts([
        ["Route", this.route(order)], ["Course", `${order.course}, by ${order.policy}`], ["Kind", `${order.kind}, ${order.generation}`],
        ["Number", order.sn ?? ""], ["Sender", order.from.address], ["Recipient", order.to.address],
        ["Deposit", order.certHash], ["Execution", order.execHash], ["Refund", order.backHash], ["Reason", order.reason],
      ]));
    this.events(order, this.app.time.now());
  }

  close() {
    this.chosen = this.shown = this.key = null;
    fill(this.detail);
    location.hash = "#orders";
  }

  events(order, now) {
    const moments = order.events.map((event) => event.ms);
    // What has ended is shown alone, so that its seconds can be read days later.
    const axis = moments.at(-1) < now && FINAL.has(order.status) ? Axis.of(moments) : Axis.around(now, moments);
    fill(this.line, track(axis, order.events, this.touching(order), now), axis.scale());
    // Once a second is enough for texts such as `in 5m`, and leaves a person time to click.
    const shown = `${this.key} ${Math.floor(now / 1000)}`;
    if (this.told !== shown) fill(this.happened, story(this.lines, now));
    this.told = shown;
  }

  steer(path, body, done) {
    return this.app.act(async () => {
      await this.app.call("POST", path, body);
      await this.refresh();
    }, `order ${this.shown.id} is ${done}`);
  }

  async form(order) {
    const schema = await this.app.form("POST", "/orders/{id}");
    dialog(`Steer order ${order.id}`, (close) => schemaForm(schema, {
      omit: ["step"], first: ["course", "status", "reason", "policy"], label: "Steer",
      act: async (told) => {
        if (await this.steer(`orders/${encodeURIComponent(order.id)}`, told, "steered")) close();
      },
    }));
  }
}

function statusAt(order, now) {
  return order.events.findLast((event) => event.ms <= now)?.status ?? order.status;
}
