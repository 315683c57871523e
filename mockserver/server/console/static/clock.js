// The clock of the world: what it shows now, and what moves it.

import { button, el, fill } from "./dom.js";

/** The time of the world, carried on from what the server said last. */
export class WorldTime {
  constructor() {
    this.told = null;
  }

  set(clock) {
    this.told = { ...clock, rate: Number(clock.rate), at: performance.now() };
  }

  /** Return the time, in milliseconds since 1970; null before the server has said any. */
  now() {
    if (!this.told) return null;
    const passed = this.runs() ? (performance.now() - this.told.at) * this.rate() : 0;
    return Math.floor(Number(this.told.ms) + passed);
  }

  runs() {
    return this.told.mode === "real" || this.told.mode === "scaled";
  }

  rate() {
    return this.told.mode === "scaled" ? this.told.rate : 1;
  }

  words() {
    const { mode } = this.told;
    return mode === "scaled" ? `×${this.told.rate}` : mode;
  }
}

/** The buttons of the clock, and the snapshots that bring a time back. */
export class ClockBar {
  constructor(app) {
    this.app = app;
    const step = (label, body, title) => button(label, () => this.move(body), { title });
    this.mode = el("select", { id: "clock-mode", on: { change: () => this.change() } },
      ["real", "frozen", "scaled", "auto"].map((mode) => el("option", { value: mode }, mode)));
    this.rate = el("input", { id: "clock-rate", inputmode: "decimal", value: "60", size: "5", on: { change: () => this.change() } });
    this.rateField = el("label", { class: "field", for: "clock-rate" }, "times ", this.rate);
    this.by = el("input", { id: "clock-by", size: "6", placeholder: "1h30m", autocomplete: "off" });
    this.snapshots = el("select", { id: "snapshots" });
    this.back = button("Revert", () => this.revert(), { title: "Go back to the snapshot that is chosen" });
    // A small screen shows what the world does, not what moves it: there the bar opens on a press.
    const opened = !matchMedia("(max-width: 40rem)").matches;
    this.element = el("details", { open: opened, class: "clock-bar" }, el("summary", {}, "Move the clock"), el("div", { class: "clock-parts" },
      el("div", { class: "group", role: "group", "aria-label": "Move the clock" },
        step("+15 s", { advance: "15s" }, "Move the clock forward by 15 seconds"),
        step("+1 h", { advance: "1h" }, "Move the clock forward by an hour"),
        step("Next event", { next: true }, "Jump to the next thing that happens"),
        el("form", { class: "group", on: { submit: (event) => {
          event.preventDefault();
          if (this.by.value) this.move({ advance: this.by.value });
        } } }, el("label", { class: "visually-hidden", for: "clock-by" }, "How far to move the clock"), this.by,
        el("button", { type: "submit" }, "Advance"))),
      el("div", { class: "group", role: "group", "aria-label": "How time passes" },
        this.freeze = button("Freeze", () => this.move({ mode: this.frozen() ? "real" : "frozen" })),
        el("label", { class: "field", for: "clock-mode" }, el("span", { class: "visually-hidden" }, "How time passes "), this.mode), this.rateField),
      el("div", { class: "group", role: "group", "aria-label": "Snapshots" },
        button("Snapshot", () => this.keep(), { title: "Keep the world as it is now" }),
        el("label", { class: "field", for: "snapshots" }, el("span", { class: "visually-hidden" }, "Snapshot to go back to "), this.snapshots), this.back)));
  }

  frozen() {
    return this.app.time.told?.mode === "frozen";
  }

  move(body) {
    return this.app.act(() => this.app.call("POST", "clock", body), (clock) => {
      this.app.time.set(clock);
      return `it is ${clock.now}, ${this.app.time.words()}`;
    });
  }

  change() {
    const mode = this.mode.value;
    this.rateField.hidden = mode !== "scaled";
    const rate = Number(this.rate.value);
    return this.move(mode === "scaled" ? { mode, rate: Number.isFinite(rate) ? rate : this.rate.value } : { mode });
  }

  keep() {
    return this.app.act(() => this.app.call("POST", "snapshots", {}), (told) => `snapshot ${told.name} at ${told.now}`);
  }

  revert() {
    const name = this.snapshots.value;
    return this.app.act(() => this.app.call("POST", "revert", { name }), (told) => `back at snapshot ${told.name}: it is ${told.now}`);
  }

  async refresh() {
    const { mode, rate } = this.app.time.told;
    if (document.activeElement !== this.mode) this.mode.value = mode;
    if (mode === "scaled" && document.activeElement !== this.rate) this.rate.value = rate;
    this.rateField.hidden = this.mode.value !== "scaled";
    this.freeze.textContent = mode === "frozen" ? "Unfreeze" : "Freeze";
    const revision = `${this.app.state.epoch} ${this.app.state.revision}`;
    if (revision === this.known) return;
    this.known = revision;
    const { snapshots } = await this.app.call("GET", "snapshots").catch(() => ({ snapshots: [] }));
    const chosen = this.snapshots.value;
    fill(this.snapshots, snapshots.length ? snapshots.map((name) => el("option", { value: name }, name)) : el("option", { value: "" }, "no snapshot"));
    this.snapshots.value = snapshots.includes(chosen) ? chosen : snapshots.at(-1) ?? "";
    this.back.disabled = this.snapshots.disabled = !snapshots.length;
  }
}
