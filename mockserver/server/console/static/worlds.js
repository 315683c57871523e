// The worlds of the server, which are made, forked, dropped and begun anew, and the processes that
// they live in.

import { button, dialog, el, fill, say, table } from "./dom.js";
import { schemaForm } from "./forms.js";

// A process that ends tells no page of it, so the page asks for as long as somebody looks.
const ASK_AGAIN = 2000;

export class Worlds {
  constructor(app) {
    this.app = app;
    this.list = el("div");
    this.answering = el("p", { role: "status" });
    this.workers = el("div");
    this.asked = 0;
    setInterval(() => {
      if (this.element.isConnected && !document.hidden) this.refresh();
    }, ASK_AGAIN);
    this.element = el("div", {},
      el("div", { class: "bar" },
        button("New world…", () => this.make("worlds", "/worlds", "New world", ["key", "scenario", "clock"])),
        button("Fork this world…", () => this.make("fork", "/fork", "Fork this world", ["to"])),
        button("Begin this world anew…", () => this.sure("Begin this world anew", "Its orders, outages, faults, stubs and journal go; snapshots and keys stay.", "Begin anew", () => this.app.call("POST", "reset", {}), "the scenario begins anew"))),
      this.list, el("section", { "aria-labelledby": "workers-title" }, el("h2", { id: "workers-title" }, "Processes"), this.answering, this.workers));
  }

  /** Show worlds and processes; while not all of these answer, there is no list of all worlds. */
  async refresh() {
    const asked = ++this.asked;
    const failed = (error) => ({ error: error.message });
    const [told, processes] = await Promise.all(["worlds", "workers"].map((path) => this.app.call("GET", path).catch(failed)));
    // Answers may overtake one another; what was asked last is what there is.
    if (asked !== this.asked) return;
    this.showWorkers(processes);
    const key = JSON.stringify([told, this.app.state.world]);
    // Rows that are drawn anew under the pointer would lose the click.
    if (key !== this.drawn) this.show(told);
    this.drawn = key;
  }

  /** Show how each process is, also of a server whose worlds cannot be listed. */
  showWorkers({ error, answering, workers }) {
    this.answering.className = error || answering < workers.length ? "why" : "none";
    say(this.answering, error ?? (workers.length === 1 ? "One process serves all worlds." : `${answering} of ${workers.length} workers answer.`));
    const key = JSON.stringify(workers);
    if (key === this.known) return;
    this.known = key;
    fill(this.workers, error ? null : table("Processes", ["Worker", "State", "Worlds", "Restarts", "Process"], workers.map((one) => [
      `worker ${one.worker}`, el("span", {}, el("span", { class: "badge", "data-kind": one.up ? "good" : "bad" }, one.up ? "up" : "away"), one.up ? null : ` ${one.why}`),
      String(one.worlds), el("span", { class: one.restarts ? "why" : "" }, String(one.restarts)), String(one.pid)])));
  }

  /** Show the worlds that there are, in the picker of the page and in the table. */
  show({ error, worlds }) {
    if (error) {
      this.pick(document.getElementById("world"), [this.app.state.world || here()]);
      fill(this.list, el("p", { class: "why", role: "alert" }, `The worlds cannot be listed: ${error}`));
      return;
    }
    this.pick(document.getElementById("world"), worlds.map((one) => one.key));
    fill(this.list, table("Worlds", ["World", "Scenario", "Dialect", "Clock", "Orders", "Requests", "Faults", "Do"], worlds.map((one) => [
      one.key === this.app.state.world ? el("strong", {}, `${one.key} (this)`) : el("a", { href: address(one.key) }, one.key),
      one.scenario, one.dialect, one.clock, String(one.orders), String(one.requests), String(one.faults + one.breaks.length),
      button("Drop…", () => this.sure(`Drop ${one.key}`, "Everything in it goes. Asked for again, it begins afresh.", "Drop", () => this.app.call("DELETE", `worlds/${encodeURIComponent(one.key)}`), `${one.key} is gone`), { "aria-label": `Drop ${one.key}` })])));
  }

  /** Fill the picker of worlds, which takes the page to the one that is picked. */
  pick(select, keys) {
    // Options that are put anew while the list is open would close it.
    if (keys.join("\n") !== [...select.options].map((one) => one.value).join("\n")) {
      fill(select, keys.map((key) => el("option", { value: key }, key)));
    }
    select.value = this.app.state.world || here();
    select.onchange = () => location.assign(address(select.value));
  }

  async make(path, row, title, first) {
    const schema = await this.app.form("POST", row);
    dialog(title, (close) => schemaForm(schema, {
      first, omit: ["appKeys", "breaks"], label: "Make it",
      act: async (told) => {
        if (await this.app.act(() => this.app.call("POST", path, told), (made) => `${made.key} is made`)) {
          close();
          await this.refresh();
        }
      },
    }));
  }

  /** Ask before something that cannot be undone. */
  sure(title, text, label, what, done) {
    dialog(title, (close) => el("div", {}, el("p", {}, text), el("p", { class: "actions" }, button(label, async () => {
      close();
      if (await this.app.act(what, done)) await this.refresh();
    }, { class: "main" }))));
  }
}

/** Return the world whose console this is, as its address says. */
function here() {
  return decodeURIComponent(location.pathname.match(/\/w\/([^/]+)\/__mock\//)?.[1] ?? "default");
}

/** Return the address of the console of a world, beside this one. */
function address(key) {
  const root = location.pathname.replace(/(\/w\/[^/]+)?\/__mock\/.*$/, "");
  return `${root}/w/${encodeURIComponent(key)}/__mock/${location.hash.split("/")[0]}`;
}
