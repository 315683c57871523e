// The control API of one world: that whose console this page is. Paths are beside the page.

import { button, dialog, el } from "./dom.js";
import { parse } from "./text.js";

const TOKEN = "crosschain-mock-token";

/** What the API said where it did not do what was asked. */
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

let asking = null;

/** Send a request; a server that wants a token is given the one that a person types. */
export async function send(path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    const headers = { ...options.headers, ...(token ? { "X-Mock-Token": token } : {}) };
    const answer = await fetch(new URL(path, document.baseURI), { ...options, headers, cache: "no-store" });
    if (answer.status !== 401) return answer;
    if (token === sessionStorage.getItem(TOKEN)) await (asking ??= askedToken(Boolean(token)));
  }
}

/** Send a control request and return its JSON. Throws `Refused`. */
export async function call(method, path, body) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await send(path, options);
  } catch {
    throw new Refused("the server does not answer", 0);
  }
  const text = await answer.text();
  let value;
  try {
    value = parse(text);
  } catch {
    throw new Refused(`the server answered ${answer.status} without JSON`, answer.status);
  }
  if (!answer.ok) throw new Refused(value.error ?? `the server answered ${answer.status}`, answer.status);
  return value;
}

/** Return a path with a query; parameters without a value are left out. */
export function query(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

function askedToken(wrong) {
  return new Promise((resolve) => {
    const done = (token) => {
      sessionStorage.setItem(TOKEN, token);
      asking = null;
      resolve();
    };
    let typed = null;
    const shown = dialog("Token of the control API", (close) => {
      const input = el("input", { id: "token", type: "password", autocomplete: "off", required: true });
      return el("form", { method: "dialog", on: { submit: (event) => {
        event.preventDefault();
        typed = input.value;
        close();
      } } },
      el("p", {}, wrong ? "The server does not take this token." : "This server lets nobody in without its token.",
        " It was printed when the server started."),
      el("label", { class: "field", for: "token" }, "Token ", input),
      el("p", { class: "actions" }, el("button", { type: "submit", class: "main" }, "Use the token")));
    });
    shown.addEventListener("close", () => {
      if (typed) done(typed);
      else shown.ownerDocument.body.append(el("p", { class: "wrong" }, "Without its token the server shows nothing. ",
        button("Enter the token", () => location.reload())));
    });
  });
}
