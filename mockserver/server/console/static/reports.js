// Reports of survive, grade and conform, read from files by the browser: no server has to know them.

import { button, el, facts, fill, table } from "./dom.js";
import { broken } from "./schema.js";
import { duration, pretty } from "./text.js";

const KEPT = "crosschain-mock-reports";
const MOST_BYTES = 32 << 20;
const MOST_KEPT = 2 << 20;
const AROUND = 6;
const MOST_SHOWN = 200;
// What the failure of a report is made of. A file from elsewhere gets nothing else done.
const STEPS = { "/__mock/at": "POST", "/__mock/faults": "POST", "/__mock/breaks": "PUT" };
const TONES = { survived: "good", killed: "good", noticed: "plain", fooled: "bad", harmed: "bad", hung: "bad" };

export class Reports {
  constructor(app) {
    this.app = app;
    this.reports = [];
    this.input = el("input", { id: "report-file", type: "file", accept: ".json,application/json", multiple: true, on: { change: () => this.take([...this.input.files]) } });
    this.shown = el("div");
    this.element = el("div", {},
      el("div", { class: "bar" }, el("label", { class: "field", for: "report-file" }, "Open reports ", this.input), button("Close all", () => this.closeAll())),
      this.shown);
    for (const name of ["dragover", "drop"]) {
      document.addEventListener(name, (event) => {
        if (![...event.dataTransfer?.types ?? []].includes("Files")) return;
        event.preventDefault();
        if (name === "drop") this.take([...event.dataTransfer.files]);
      });
    }
    this.draw();
    this.restored = false;
  }

  /** Show what was open before the page was loaded again. */
  async refresh() {
    if (this.restored) return;
    this.restored = true;
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
    for (const { name, text } of kept) await this.read(name, text);
    this.draw();
  }

  /** Read files that a person has chosen or dropped, the newest first. */
  async take(files) {
    const wrong = [];
    await this.refresh();
    for (const file of files) {
      const why = file.size > MOST_BYTES ? `it has more than ${MOST_BYTES >> 20} MiB` : await this.read(file.name, await file.text());
      if (why) wrong.push(`${file.name} is not shown: ${why}`);
    }
    this.input.value = "";
    this.keep();
    location.hash = "#reports";
    this.draw();
    if (wrong.length) this.app.wrong(wrong.join("; "));
    else this.app.tell(files.length === 1 ? `${files[0].name} is shown` : `${files.length} reports are shown`);
  }

  /** Return why a text is no report; empty where it is one, which is shown then. */
  async read(name, text) {
    let report;
    try {
      report = JSON.parse(text);
    } catch {
      return "it is no JSON; write it with --report json=FILE";
    }
    const kind = Object.keys(KINDS).find((one) => String(report?.format).startsWith(`crosschain-mock/${one}@`));
    if (!kind) return "it is no report of survive, grade or conform; write it with --report json=FILE";
    const why = broken(await this.app.once(`console/${kind}.json`), report);
    if (why) return `${why}; it is damaged, or of another version`;
    this.reports = [{ name, kind, report, text }, ...this.reports.filter((one) => one.name !== name)];
    return "";
  }

  /** Keep what fits for the next load of the page in this tab. */
  keep() {
    try {
      const kept = this.reports.filter(({ text }) => text.length < MOST_KEPT).map(({ name, text }) => ({ name, text }));
      sessionStorage.setItem(KEPT, JSON.stringify(kept.reverse()));
    } catch {
      sessionStorage.removeItem(KEPT);
    }
  }

  closeAll() {
    this.reports = [];
    this.keep();
    this.draw();
  }

  draw() {
    fill(this.shown, this.reports.length ? this.reports.map(({ name, kind, report }) =>
      el("article", { class: "report", "aria-label": name }, el("h2", {}, name, " ", el("span", { class: "badge" }, kind)), KINDS[kind](report, this)))
      : el("p", { class: "list-empty none" }, "No report is open. Open or drop what ", el("code", {}, "crosschain-mock survive"), ", ", el("code", {}, "grade"), " or ", el("code", {}, "conform"), " wrote with ", el("code", {}, "--report json=FILE"), ". It stays in this browser."));
  }

  /** Set the failure of a defect in this world, so that a client can be tried against it by hand. */
  set(defect) {
    return this.app.act(async () => {
      for (const { path, body } of defect.set) await this.app.call(STEPS[path], path.replace("/__mock/", ""), body);
    }, `${defect.id} is set in this world`);
  }

  copy(text, what) {
    return button("Copy", () => this.app.copy(text, what), { "aria-label": `Copy ${what}` });
  }
}

function badge(word, tone = TONES[word] ?? "open") {
  return el("span", { class: "badge", "data-kind": tone }, word);
}

function code(text) {
  return el("pre", { tabindex: "0" }, text);
}

function remarks(...texts) {
  return texts.flat().filter(Boolean).map((text) => el("p", { class: "why" }, text));
}

/** Return a long list, of which the rest opens on a press. */
function counted(name, rows, row) {
  if (!rows.length) return null;
  return el("details", {}, el("summary", {}, `${name} (${rows.length})`), row(rows.slice(0, MOST_SHOWN)),
    rows.length > MOST_SHOWN ? el("p", { class: "none" }, `and ${rows.length - MOST_SHOWN} more`) : null);
}

function survive(report, view) {
  const { coverage, defects, outcomes, results } = report;
  const counts = Object.entries(outcomes).filter(([, count]) => count).map(([word, count]) => [badge(`${count} ${word}`, TONES[word]), " "]).flat();
  return [
    el("p", {}, el("code", {}, report.flow), ": ", defects.length === 1 ? "1 defect" : `${defects.length} defects`, `; ${coverage.reached} of ${coverage.planned} failures struck. `, counts),
    remarks(report.unsure && `Unsure: ${report.unsure}. Nothing counts as survived.`, report.stopped && `It ended early: ${report.stopped}.`),
    report.lint?.length ? el("div", {}, el("h3", {}, "Wrong without any failure"), report.lint.map(code)) : null,
    defects.map((defect) => el("section", { class: "finding" },
      el("h3", {}, badge(defect.outcome), " ", defect.costs.join("; ") || defect.why), el("p", {}, defect.costs.length ? defect.why : ""),
      el("div", { class: "two" }, line("Undisturbed", report.base, defect), line(`With ${defect.id}`, defect.run, defect)),
      el("div", { class: "actions" }, el("code", { class: "long" }, defect.id), view.copy(defect.id, defect.id),
        defect.set.length && defect.set.every(({ path }) => Object.hasOwn(STEPS, path)) ? button("Set it in this world", () => view.set(defect)) : null),
      el("p", { class: "none" }, "survive --replay tries it again. ", defect.same.length ? `${defect.same.length} more ${defect.same.length === 1 ? "failure does" : "failures do"} the same: ${defect.same.slice(0, 9).join(", ")}` : ""),
      defect.set.length ? el("details", {}, el("summary", {}, "What sets it"), code(pretty(defect.set))) : null)),
    counted("All failures", results, (rows) => table("All failures", ["Failure", "Outcome", "Why"], rows.map((one) => [el("span", { class: "long" }, one.id), badge(one.outcome), one.why]))),
  ].flat();
}

/** Return a run as a time line about where it left the undisturbed one; both begin at the same request. */
function line(title, run, { diverged, run: { requests } }) {
  const first = Math.max(0, Math.min(diverged - 2, requests.length - AROUND));
  const began = run.requests[0]?.atMs ?? 0;
  return el("div", {}, el("h4", {}, title), el("ol", { class: "story", start: first + 1 },
    run.requests.slice(first, first + AROUND).map((one, n) => el("li", { "aria-current": first + n === diverged ? "step" : null },
      el("time", {}, `+${duration(one.atMs - began)}`), el("p", {}, one.request, " → ", el("span", { class: /^2\d\d$/.test(one.outcome) ? "" : "why" }, one.outcome))))));
}

function grade(report, view) {
  const survivors = report.trials.filter((trial) => trial.outcome === "survived").sort((a, b) => (b.weight ?? 0) - (a.weight ?? 0));
  return [
    el("p", {}, el("code", {}, report.suite), `: ${report.score === null ? "no score" : `${report.score} % by what they cost, ${report.percent} % by number`}; ${survivors.length} of ${report.trials.length} breaks survived.`),
    remarks(report.stopped && `It ended early: ${report.stopped}.`, report.notes),
    survivors.slice(0, MOST_SHOWN).map((trial) => el("section", { class: "finding" },
      el("h3", {}, badge("survived", "bad"), " ", trial.says), el("p", {}, el("code", {}, trial.break), trial.operation ? ` in ${trial.operation}; it weighs ${trial.weight} of 5` : ""),
      trial.reason ? [
        el("div", { class: "two" }, el("div", {}, el("h4", {}, "The true answer"), code(trial.reason.true)), el("div", {}, el("h4", {}, `What came in ${trial.reason.where}`), code(trial.reason.came))),
        el("p", {}, `What it may cost: ${trial.reason.cost}.`), el("div", { class: "actions" }, "An assertion that notices it", view.copy(trial.reason.assertion, "the assertion")), code(trial.reason.assertion)] : null)),
    counted("All breaks", report.trials, (rows) => table("All breaks", ["Break", "Outcome", "Operation", "What is wrong"], rows.map((one) => [el("span", { class: "long" }, one.break), badge(one.outcome, one.outcome === "survived" ? "bad" : TONES[one.outcome]), one.operation ?? "", one.says]))),
  ].flat();
}

function conformance(report, view) {
  return [
    el("p", {}, el("strong", {}, report.conclusion)),
    facts([...Object.entries(report.target).filter(([, address]) => address), ["Dialect", report.dialect], ["Requests", String(report.requests.total)]]),
    remarks(report.hints, report.notes),
    report.causes.slice(0, MOST_SHOWN).map((cause) => el("section", { class: "finding" },
      el("h3", {}, badge(cause.verdict, cause.verdict === "violation" ? "bad" : "warn"), ` ${cause.rule}`), el("p", {}, [cause.place, cause.message].filter(Boolean).join(": ")),
      el("p", { class: "none" }, `${cause.operations.join(", ")}; ${cause.basis.reference}`),
      cause.curl.slice(0, 1).map(({ command, needs }) => [needs ? el("p", {}, needs) : null, el("div", { class: "actions" }, "Ask again", view.copy(command, "the command")), code(command)]).flat())),
  ].flat();
}

const KINDS = { survive, grade, conformance };
