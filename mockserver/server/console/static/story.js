// An order from its quote to its payout on one dated line: requests, statuses, money and outages.

import { el } from "./dom.js";
import { tone } from "./axis.js";
import { distance, moment, short } from "./text.js";

const WORDS = { quote: "quote", payment: "payment", request: "request", status: "status", booking: "money", outage: "outage" };

/** Return the story as a list; lines of the same moment stand under one time. */
export function story(lines, now) {
  let before = null;
  return el("ol", { class: "story" }, lines.map((line) => {
    const ms = Date.parse(line.at);
    const ahead = ms > now;
    const time = ms === before ? null : el("time", { datetime: line.at }, `${moment(ms)} `, el("small", {}, distance(ms, now)));
    before = ms;
    return el("li", { class: ahead ? "ahead" : "", "data-kind": line.kind },
      time,
      el("p", {},
        el("span", { class: "badge", "data-kind": kindOf(line) }, ahead ? `${WORDS[line.kind]}, to come` : WORDS[line.kind]), " ", line.text,
        line.times > 1 ? ` (${line.times} times)` : "",
        line.sequence ? [" ", el("a", { href: `#journal/${line.sequence}` }, `request ${line.sequence}`)] : null,
        line.hash ? [" ", el("code", { title: `${line.hash} on ${line.chain}` }, short(line.hash, 22))] : null));
  }));
}

function kindOf(line) {
  if (line.kind === "status") return tone(line.text.split(":")[0]);
  if (line.kind === "outage") return line.text.endsWith("is back") ? "good" : "bad";
  if (line.disturbed) return "warn";
  return line.text.includes("refused,") ? "bad" : "plain";
}
