// Forms made of the schemas in the document of the control API, so that they know what it knows.

import { el } from "./dom.js";

let names = 0;

/** Return a form of a schema's members; `act` gets what was filled in, empty fields left out. */
export function schemaForm(schema, { preset = {}, omit = [], first = [], label, act }) {
  const all = Object.keys(schema.properties).filter((name) => !omit.includes(name) && !("const" in schema.properties[name] && !schema.properties[name].description));
  const needed = schema.required ?? [];
  const early = [...new Set([...needed, ...first])].filter((name) => all.includes(name));
  const order = [...early, ...all.filter((name) => !early.includes(name))];
  const fields = order.map((name) => [name, field(name, schema.properties[name], preset[name], needed.includes(name))]);
  const main = fields.filter(([name]) => early.includes(name));
  const more = fields.filter(([name]) => !early.includes(name));
  const shown = (list) => el("div", { class: "fields" }, list.map(([, one]) => one.element));
  return el("form", { on: { submit: (event) => {
    event.preventDefault();
    const told = { ...preset };
    for (const [name, one] of fields) {
      const value = one.read();
      if (value === undefined) delete told[name];
      else told[name] = value;
    }
    act(told);
  } } },
  shown(main.length ? main : more),
  main.length && more.length ? el("details", {}, el("summary", {}, "More settings"), shown(more)) : null,
  el("p", { class: "actions" }, el("button", { type: "submit", class: "main" }, label)));
}

/** Return a labelled input for a schema with what reads its value; undefined where it is empty. */
export function field(name, schema, value, needed = false) {
  const id = `field${++names}`;
  const kind = schema.type;
  let input;
  let read;
  if (schema.enum) {
    const none = needed ? [] : [el("option", { value: "" }, "(default)")];
    input = el("select", { id }, none, schema.enum.map((one) => el("option", { value: one }, String(one))));
    if (value !== undefined) input.value = value;
    read = () => input.value || undefined;
  } else if (kind === "boolean" || schema.const === true) {
    input = el("input", { id, type: "checkbox", checked: value === true });
    read = () => (input.checked ? true : undefined);
  } else if (kind === "integer" || kind === "number") {
    input = el("input", { id, inputmode: "decimal", required: needed, value: value ?? "" });
    read = () => number(input.value);
  } else {
    input = el("input", { id, required: needed, value: value === undefined ? "" : text(value), autocomplete: "off" });
    read = kind === "object" || kind === "array" ? () => json(input.value) : () => input.value || undefined;
  }
  const hint = hintOf(schema);
  if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
  const element = el("div", { class: "field" }, el("label", { for: id }, needed ? `${name} (needed)` : name), input,
    hint ? el("small", { id: `${id}-hint` }, hint) : null);
  return { element, read, input };
}

function hintOf(schema) {
  const said = schema.description ?? "";
  const expects = schema.enum ? "" : schema["x-expects"] ?? "";
  if (!said) return expects;
  return expects.startsWith("a text") || !expects ? said : `${said}; ${expects}`;
}

// What is no number goes as it is: the server says what is wrong with it.
function number(typed) {
  if (typed.trim() === "") return undefined;
  const value = Number(typed);
  return Number.isFinite(value) ? value : typed;
}

function json(typed) {
  if (typed.trim() === "") return undefined;
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

function text(value) {
  return typeof value === "object" ? JSON.stringify(value) : value;
}
