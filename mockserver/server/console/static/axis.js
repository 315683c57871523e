// A piece of the world's time as a line: from the first to the last thing that is shown on it.

import { el } from "./dom.js";
import { clockTime, duration, moment } from "./text.js";

const LEAST = 30000;
const DAY = 86400000;
const FAR = [60000, 3600000, DAY, 7 * DAY];
export const FINAL = new Set(["Succeeded", "Failed", "Dropped", "Refunded"]);

export class Axis {
  /** Show a piece of time, with a little room at both ends. */
  constructor(begin, end) {
    const last = Math.max(end, begin + LEAST);
    const room = (last - begin) * 0.04;
    this.begin = begin - room;
    this.end = last + room;
  }

  /** Return the axis that shows all the moments given. */
  static of(moments) {
    return new Axis(Math.min(...moments), Math.max(...moments));
  }

  /** Show all moments around now on a scale that shrinks with the distance, so that seconds can be
   * read beside days. */
  static around(now, moments) {
    const axis = new Axis(Math.min(now - LEAST, ...moments), Math.max(now + LEAST, ...moments));
    axis.now = now;
    return axis;
  }

  /** Return how far a moment is from the beginning, in units of the scale. */
  reach(ms) {
    if (this.now === undefined) return ms - this.begin;
    const near = (at) => Math.sign(at - this.now) * Math.log10(1 + Math.abs(at - this.now) / 1000);
    return near(ms) - near(this.begin);
  }

  /** Return where a moment is, in percent; beyond the ends it is at the end. */
  place(ms) {
    return Math.max(0, Math.min(100, (this.reach(ms) / this.reach(this.end)) * 100));
  }

  has(ms) {
    return this.begin <= ms && ms <= this.end;
  }

  /** Return an element at a moment, or from one to another. */
  mark(kind, from, until, text) {
    const made = el("span", { class: `mark ${kind}`, title: text });
    made.style.left = `${this.place(from)}%`;
    if (until !== undefined) made.style.width = `${Math.max(0.2, this.place(until) - this.place(from))}%`;
    return made;
  }

  /** Return the scale: some moments by name, and how long the whole is. */
  scale() {
    if (this.now !== undefined) return this.distances();
    const long = this.end - this.begin > DAY;
    const at = [0, 1, 2, 3].map((part) => this.begin + ((this.end - this.begin) * part) / 3);
    return el("div", { class: "scale", "aria-hidden": "true", title: `${duration(this.end - this.begin)} in all` },
      at.map((ms, n) => el("span", {}, long ? moment(ms).slice(0, 16) : n ? clockTime(ms) : moment(ms))));
  }

  /** Return the scale around now: how long ago, and how far ahead. */
  distances() {
    const steps = [...FAR.map((far) => -far).reverse(), 0, ...FAR].filter((far) => this.has(this.now + far));
    return el("div", { class: "scale far", "aria-hidden": "true", title: "seconds near now, days far from it" }, steps.map((far) => {
      const made = el("span", {}, far === 0 ? "now" : `${far < 0 ? "−" : "+"}${duration(Math.abs(far))}`);
      made.style.left = `${this.place(this.now + far)}%`;
      return made;
    }));
  }
}

/** Return an order as a line: its time so far, the time to come, its events, and now. */
export function track(axis, events, outages, now) {
  const made = el("span", { class: "track", "aria-hidden": "true" });
  const first = events[0]?.ms ?? now;
  const last = events.at(-1)?.ms ?? now;
  // An outage matters to an order while it is on its way.
  const goes = FINAL.has(events.at(-1)?.status) ? last : Math.max(last, now);
  for (const one of outages) {
    if (one.begin < goes && one.end > first) made.append(axis.mark("outage", Math.max(one.begin, first), Math.min(one.end, goes), `${one.subject} ${one.mode}`));
  }
  made.append(axis.mark("past", Math.min(first, now), Math.min(last, now)));
  if (last > now) made.append(axis.mark("coming", Math.max(first, now), last));
  for (const event of events) if (axis.has(event.ms)) made.append(axis.mark(`event ${tone(event.status)}${event.ms > now ? " ahead" : ""}`, event.ms, undefined, `${event.status} ${moment(event.ms)}`));
  if (axis.has(now)) made.append(axis.mark("now", now));
  return made;
}

/** Return what a status means for the money: done, lost or on its way. */
export function tone(status) {
  if (status === "Succeeded") return "good";
  if (status === "Failed" || status === "Dropped") return "bad";
  return status === "Refunded" || status === "Refunding" ? "warn" : "open";
}
