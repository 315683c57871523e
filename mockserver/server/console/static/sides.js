// A refused request beside the nearest valid form of it: what differs is marked.

import { el, table } from "./dom.js";

/** Return both sides of each part of a request; null where nothing of it differs. */
export function sides(sent, valid) {
  const rows = [];
  for (const [part, before, after] of [
    ["query", record(sent.query), record(valid.query)],
    ["header", named(sent.headers, Object.keys(record(valid.headers))), lowered(record(valid.headers))],
    ["body", fields(sent.body), fields(valid.body)],
  ]) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [left, right] = [before[name], after[name]];
      if (part === "header" && right === undefined) continue;
      const same = JSON.stringify(left) === JSON.stringify(right);
      rows.push([`${part} ${name}`, side(left, same, "was"), side(right, same, "would-be")]);
    }
  }
  return rows.length ? table("Sent, and the nearest valid form", ["Member", "Sent", "Nearest valid form"], rows, { class: "sides" }) : null;
}

function side(value, same, kind) {
  if (value === undefined) return el("em", {}, "nothing");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return same ? el("span", { class: "long" }, text) : el("mark", { class: `long ${kind}` }, text);
}

function record(value) {
  return Array.isArray(value) ? Object.fromEntries(value) : value ?? {};
}

function lowered(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]));
}

function named(headers, names) {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(lowered(record(headers))).filter(([name]) => wanted.has(name)));
}

function fields(body) {
  if (body === null || body === undefined || body === "") return {};
  return typeof body === "object" && !Array.isArray(body) ? body : { "(all of it)": body };
}
