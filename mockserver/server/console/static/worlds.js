// The worlds of the server: one is looked at, and others are made, forked, dropped and begun anew.

import { button, dialog, el, fill, table } from "./dom.js";
import { schemaForm } from "./forms.js";

export class Worlds {
  constructor(app) {
    this.app = app;
    this.list = el("div");
    this.asked = 0;
    this.element = el("div", {},
      el("div", { class: "bar" },
        button("New world…", () => this.make("worlds", "/worlds", "New world", ["key", "scenario", "clock"])),
        button("Fork this world…", () => this.make("fork", "/fork", "Fork this world", ["to"])),
        button("Begin this world anew…", () => this.sure("Begin this world anew", "Its orders, outages, faults, stubs and journal go; snapshots and keys stay.", "Begin anew", () => this.app.call("POST", "reset", {}), "the scenario begins anew"))),
      this.list);
  }

  /** Show the worlds that there are, in the picker of the page and in the table. */
  async refresh() {
    const asked = ++this.asked;
    const { worlds } = await this.app.call("GET", "worlds");
    // Answers may overtake one another; what was asked last is what there is.
    if (asked !== this.asked) return;
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
    select.value = this.app.state.world;
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

/** Return the address of the console of a world, beside this one. */
function address(key) {
  const root = location.pathname.replace(/(\/w\/[^/]+)?\/__mock\/.*$/, "");
  return `${root}/w/${encodeURIComponent(key)}/__mock/${location.hash.split("/")[0]}`;
}
