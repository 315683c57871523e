// A list of any length of which only the visible rows are on the page. One row is active; the list
// has the keyboard, and tells a screen reader the active row and its place.

import { el, fill } from "./dom.js";

const MORE = 6;
let lists = 0;

export class List {
  /**
   * `row(index)` returns the children of a row and a key, under which they are kept as they are: a
   * row that is drawn anew under the pointer would lose the click. `seen(first, last)` hears which
   * rows are visible, `chosen(index)` which one a person has chosen.
   */
  constructor({ label, empty, height, row, seen = () => {}, chosen }) {
    this.height = height;
    this.row = row;
    this.seen = seen;
    this.chosen = chosen;
    this.count = 0;
    this.active = -1;
    this.name = `list${++lists}`;
    this.rows = new Map();
    this.space = el("div", { class: "list-space", role: "presentation" });
    this.list = el("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": label }, this.space);
    this.empty = el("p", { class: "list-empty none", hidden: true }, empty);
    this.element = el("div", {}, this.empty, this.list);
    this.list.addEventListener("scroll", () => this.ask());
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("focus", () => {
      if (this.active < 0 && this.count) this.move(0, false);
    });
    this.space.addEventListener("click", (event) => {
      const found = event.target.closest(".list-row");
      if (found) this.move(Number(found.dataset.index), true);
    });
    new ResizeObserver(() => this.ask()).observe(this.list);
  }

  /** Say how many rows there are; `kept` rows more at the top keep the place of one who reads below. */
  size(count, kept = 0) {
    const reading = kept > 0 && this.list.scrollTop > 0;
    this.count = count;
    this.active = this.active >= 0 ? Math.min(this.active + kept, count - 1) : -1;
    this.empty.hidden = count > 0;
    this.list.hidden = count === 0;
    this.space.style.height = `${count * this.height}px`;
    if (reading) this.list.scrollTop += kept * this.height;
    this.draw();
  }

  /** Draw soon, once, however often it is asked for. */
  ask() {
    this.asked ??= requestAnimationFrame(() => {
      this.asked = null;
      this.draw();
    });
  }

  /** Fill the rows that are visible, and let go of the others. */
  draw() {
    const top = this.list.scrollTop;
    const first = Math.max(0, Math.floor(top / this.height) - MORE);
    const last = Math.min(this.count - 1, Math.ceil((top + this.list.clientHeight) / this.height) + MORE);
    for (const [index, shown] of this.rows) {
      if (index < first || index > last) {
        shown.remove();
        this.rows.delete(index);
      }
    }
    for (let index = first; index <= last; index++) this.put(index);
    if (this.active >= 0) this.list.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.list.removeAttribute("aria-activedescendant");
    this.seen(first, last);
  }

  put(index) {
    let shown = this.rows.get(index);
    if (!shown) {
      shown = el("div", { class: "list-row", role: "option", id: `${this.name}-${index}`, "data-index": index });
      shown.style.transform = `translateY(${index * this.height}px)`;
      shown.style.height = `${this.height}px`;
      this.rows.set(index, shown);
      this.space.append(shown);
    }
    shown.setAttribute("aria-setsize", this.count);
    shown.setAttribute("aria-posinset", index + 1);
    shown.setAttribute("aria-selected", index === this.active);
    const { key, children } = this.row(index);
    if (shown.key === key) return;
    shown.key = key;
    fill(shown, children());
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.list.clientHeight / this.height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" || event.key === " ") this.move(this.active, true);
    else if (event.key in steps) this.move(Math.max(0, Math.min(this.count - 1, this.active + steps[event.key])), true);
    else return;
    event.preventDefault();
  }

  move(index, choose) {
    if (index < 0 || index >= this.count) return;
    this.active = index;
    const top = index * this.height;
    const { scrollTop, clientHeight } = this.list;
    if (top < scrollTop) this.list.scrollTop = top;
    else if (top + this.height > scrollTop + clientHeight) this.list.scrollTop = top + this.height - clientHeight;
    this.draw();
    if (choose) this.chosen(index);
  }
}
