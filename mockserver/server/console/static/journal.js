// The journal of the world: every request as it comes, searched, looked into, and kept for later.

import { call, query } from "./api.js";
import { curl, pytest } from "./curl.js";
import { button, el, facts, fill, save, say, table } from "./dom.js";
import { List } from "./list.js";
import { sides } from "./sides.js";
import { duration, moment, pretty, when } from "./text.js";

const MOST = 5000;
const REFUSED = { refused: true, taken: false };

export class Journal {
  constructor(app) {
    this.app = app;
    this.entries = [];
    this.found = [];
    this.lost = 0;
    this.find = el("input", { id: "find-request", type: "search", autocomplete: "off", placeholder: "path, query, refusal", on: { input: () => this.filter() } });
    this.operation = el("select", { id: "request-operation", on: { change: () => this.filter() } }, el("option", { value: "" }, "any"));
    this.kind = el("select", { id: "request-kind", on: { change: () => this.filter() } },
      [["", "all"], ["refused", "refused"], ["taken", "not refused"], ["disturbed", "disturbed"], ["preflight", "preflights"]].map(([value, text]) => el("option", { value }, text)));
    this.summary = el("p", { class: "summary" });
    this.list = new List({ label: "Requests, newest first", empty: "No request to show. Each request of a client appears here as it comes.", height: 40, row: (index) => this.row(index), chosen: (index) => this.choose(index) });
    this.detail = el("section", { class: "detail", "aria-label": "Request" });
    this.element = el("div", { class: "split" },
      el("div", { class: "pane" },
        el("div", { class: "bar" },
          el("label", { class: "field", for: "find-request" }, "Find ", this.find),
          el("label", { class: "field", for: "request-operation" }, "Operation ", this.operation),
          el("label", { class: "field", for: "request-kind" }, "Show ", this.kind), this.summary,
          button("Record", () => this.record({ operation: this.operation.value, refused: REFUSED[this.kind.value] }), { title: "Keep these requests as a recording" }),
          button("Clear", () => this.clear(), { title: "Forget the journal of the world" })),
        this.list.element),
      this.detail);
  }

  /** Take a request that has come; the page is drawn once for all that come together. */
  add(entry) {
    this.entries.push(entry);
    if (this.entries.length > MOST) this.entries.splice(0, this.entries.length - MOST);
    if (entry.operation && ![...this.operation.options].some((one) => one.value === entry.operation)) {
      this.operation.append(el("option", { value: entry.operation }, entry.operation));
    }
    this.asked ??= requestAnimationFrame(() => {
      this.asked = null;
      this.filter();
    });
  }

  /** Let go of what the server has let go of, so that every request that is shown can be opened. */
  dropped(count) {
    this.lost = count;
    const kept = this.entries.filter((one) => one.sequence > count);
    if (kept.length === this.entries.length) return;
    this.entries = kept;
    this.filter();
  }

  forget() {
    this.entries = [];
    this.shown = this.wanted = null;
    fill(this.detail);
    this.filter();
  }

  clear() {
    return this.app.act(async () => {
      await this.app.call("DELETE", "journal");
      fill(this.detail);
    }, "the journal is empty");
  }

  refresh() {
    this.filter();
  }

  filter() {
    const wanted = this.find.value.trim().toLowerCase();
    const [operation, kind] = [this.operation.value, this.kind.value];
    const before = this.found.length;
    this.found = this.entries.filter((one) =>
      (!operation || one.operation === operation) && takes(one, kind) &&
      (!wanted || `${one.method} ${one.path}?${one.query} ${one.operation ?? ""} ${one.status} ${one.refusal ?? ""} ${one.fault ?? ""}`.toLowerCase().includes(wanted))).reverse();
    const filter = `${wanted}\n${operation}\n${kind}`;
    const grown = filter === this.last ? Math.max(0, this.found.length - before) : 0;
    this.last = filter;
    const gone = this.lost ? `, ${this.lost} older ones let go` : "";
    say(this.summary, `${this.found.length} of ${this.entries.length} requests${gone}`);
    this.list.size(this.found.length, grown);
  }

  row(index) {
    const one = this.found[index];
    const bad = one.refusal ?? one.fault;
    return { key: one.sequence, children: () => [
      el("time", { class: "cell" }, when(one.ms, this.app.time.now()).split(" ").map((part) => [el("span", {}, part), " "]).flat()),
      el("span", { class: "badge", "data-kind": one.refusal ? "bad" : one.fault ? "warn" : "good" }, String(one.status)),
      el("span", { class: "cell grow" }, el("strong", {}, one.method), ` ${one.path}`, one.query ? el("small", {}, `?${one.query}`) : null),
      one.durationMs === null ? null : el("small", { class: "cell", title: "how long the answer took to be made" }, `${one.durationMs} ms`),
      one.delay ? el("span", { class: "cell badge", "data-kind": "warn", title: "the answer was held back for so long" }, `+${duration(one.delay)}`) : null,
      one.order ? el("small", { class: "cell", title: "the order that it is about" }, `order ${one.order}`) : null,
      bad ? el("span", { class: "cell why", title: bad }, bad) : null] };
  }

  choose(index) {
    location.hash = `#journal/${this.found[index].sequence}`;
  }

  async open(number) {
    this.wanted = Number(number);
    if (this.shown?.sequence === this.wanted) return;
    try {
      const shown = await call("GET", `journal/${encodeURIComponent(number)}`);
      if (shown.sequence !== this.wanted) return;
      this.shown = shown;
      this.draw(shown);
    } catch (error) {
      this.app.wrong(error.message);
    }
  }

  draw(one) {
    const { request, response } = one;
    fill(this.detail,
      el("h2", {}, `${request.method} ${request.path}`),
      el("div", { class: "actions" },
        button("Copy as curl", () => this.app.copy(curl(request), "the command")),
        button("Copy as pytest", () => this.app.copy(pytest(one), "the test")),
        one.nearest ? button("Copy nearest valid form as curl", () => this.app.copy(curl(nearest(one)), "the command")) : null,
        one.operation ? button("Keep as stub", () => this.stub(one)) : null,
        one.operation ? button("Keep as recording", () => this.record({ since: one.sequence - 1, limit: 1 })) : null,
        button("Close", () => this.close())),
      facts([["At", moment(Date.parse(one.at))], ["Operation", one.operation ?? "none"], ["Answered by", one.durationMs === null ? one.responder : `${one.responder} in ${one.durationMs} ms`], ["Status", String(response.status)],
        ...(one.order ? [["Order", el("span", {}, el("a", { href: `#orders/${encodeURIComponent(one.order.id)}` }, one.order.id), ` ${one.order.status}`)]] : []), ...(one.fault ? [["Disturbed by", one.fault]] : [])]),
      one.refusal ? el("div", { class: "refusal" }, el("h3", {}, "Refused"), el("p", {}, one.refusal)) : null,
      one.nearest ? el("div", {}, el("h3", {}, "Nearest valid form"),
        sides(request, one.nearest)) : null,
      one.decoded.map((item) => el("div", {}, el("h3", {}, `Decoded: ${item.is}`), el("p", {}, el("small", {}, item.at)), el("pre", { tabindex: "0" }, pretty(item.value)))),
      el("h3", {}, "Request"), part("Query", nonempty(request.query)), pairs("Headers of the request", request.headers), part("Body", request.body),
      el("h3", {}, "Answer"), part("Body", response.body), pairs("Headers of the answer", response.headers));
  }

  /** Save requests as a recording file, which `serve --replay` answers from. */
  record(which) {
    return this.app.act(async () => {
      const told = await this.app.call("GET", query("recording", which));
      save("recording.yaml", told.text);
      return told;
    }, (told) => (told.exchanges === 1 ? "one request is kept in recording.yaml" : `${told.exchanges} requests are kept in recording.yaml`));
  }

  close() {
    this.shown = this.wanted = null;
    fill(this.detail);
    location.hash = "#journal";
  }

  stub(one) {
    const { request, response } = one;
    const match = {};
    if (Array.isArray(request.query) && request.query.length) match.query = Object.fromEntries(request.query);
    if (request.body && typeof request.body === "object" && !Array.isArray(request.body)) match.body = request.body;
    const kept = { status: response.status, body: response.body ?? "" };
    return this.app.act(() => this.app.call("POST", "stubs", { operation: one.operation, match, response: kept }),
      (stub) => `stub ${stub.id} answers the same to ${stub.operation} from now on`);
  }
}

function takes(one, kind) {
  if (kind === "refused") return one.refusal !== null;
  if (kind === "taken") return one.refusal === null;
  if (kind === "disturbed") return one.fault !== null;
  return kind !== "preflight" || one.responder === "preflight";
}

function nearest(one) {
  const cut = one.request.path.match(/^\/w\/[^/]+/)?.[0] ?? "";
  return { ...one.nearest, path: cut + one.nearest.path };
}

function nonempty(value) {
  const size = Array.isArray(value) ? value.length : typeof value === "string" ? value.length : Object.keys(value ?? {}).length;
  return size ? (Array.isArray(value) ? Object.fromEntries(value) : value) : null;
}

function part(name, value) {
  if (value === null || value === undefined || value === "") return null;
  return el("div", {}, el("h4", {}, name), el("pre", { tabindex: "0" }, pretty(value)));
}

function pairs(name, list) {
  return el("details", {}, el("summary", {}, name), table(name, ["Name", "Value"], list, { class: "pairs" }));
}
