// What happens in the world, as server-sent events. They are read by fetch, because a browser's own
// reader cannot send a token; the position in the journal goes along, so that nothing is missed.

import { Refused, send } from "./api.js";

const FIRST_WAIT = 300;
const LONGEST_WAIT = 5000;
const SILENCE = 30000;

export class Stream {
  /** `heard` is called with the name and the data of an event, `line` with live, lost or waiting,
   * and with what the server said where it refused. */
  constructor(heard, line) {
    this.heard = heard;
    this.line = line;
    this.position = null;
    this.wait = FIRST_WAIT;
    this.open = null;
    document.addEventListener("visibilitychange", () => this.turn());
  }

  /** A page that nobody sees gives its connection back: browsers have few for each server. */
  turn() {
    if (document.hidden) this.open?.abort();
    else this.start();
  }

  async start() {
    if (this.open || document.hidden) return;
    const open = (this.open = new AbortController());
    let why = "";
    try {
      await this.read(open);
    } catch (error) {
      // The line is lost; what was heard up to now stays, and the position says where to go on.
      if (error instanceof Refused) why = error.message;
    }
    clearTimeout(this.watch);
    if (this.open === open) this.open = null;
    this.line(document.hidden ? "waiting" : "lost", why);
    setTimeout(() => this.start(), this.wait);
    this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
  }

  async read(open) {
    const headers = this.position === null ? {} : { "Last-Event-ID": this.position };
    const answer = await send("events", { headers, signal: open.signal });
    if (!answer.ok || !answer.body) throw new Refused((await answer.json()).error ?? `events: ${answer.status}`, answer.status);
    this.line("live");
    this.wait = FIRST_WAIT;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      clearTimeout(this.watch);
      this.watch = setTimeout(() => open.abort(), SILENCE);
      const { value, done } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      for (const event of events) this.take(event);
    }
  }

  take(text) {
    const fields = Object.fromEntries(text.split("\n").map((line) => {
      const cut = line.indexOf(": ");
      return [line.slice(0, cut), line.slice(cut + 2)];
    }));
    if (!fields.event) return;
    if (fields.id) this.position = fields.id;
    this.heard(fields.event, JSON.parse(fields.data));
  }
}
