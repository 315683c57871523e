// What keys do: `/` searches, `?` lists the keys, a letter after `g` goes to a view.

import { dialog, el, table } from "./dom.js";

const VIEWS = { h: "overview", c: "chains", o: "orders", j: "journal", f: "faults", m: "money", k: "checks", r: "reports", w: "worlds" };
const LISTED = [["/", "search in this view"], ["?", "list the keys"], ["g, then a letter", "go to a view: h start, c chains, o orders, j journal, f faults, m money, k checks, r reports, w worlds"],
  ["arrows, Home, End", "move in a list"], ["Enter", "open a row"], ["Escape", "close a dialog, or what is open beside a list"]];
const CHAIN_MS = 1200;

/** Listen to keys for as long as the page lives. */
export function listen() {
  let since = -CHAIN_MS;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, select, textarea")) return;
    const going = performance.now() - since < CHAIN_MS;
    since = -CHAIN_MS;
    if (going && event.key in VIEWS) location.hash = `#${VIEWS[event.key]}`;
    else if (event.key === "g") since = performance.now();
    else if (event.key === "/") document.querySelector("main input[type=search]")?.focus();
    else if (event.key === "?") dialog("Keys", () => el("div", {}, table("Keys", ["Key", "Does"], LISTED)));
    else if (event.key === "Escape") [...document.querySelectorAll(".detail button")].find((button) => button.textContent === "Close")?.click();
    else return;
    event.preventDefault();
  });
}
