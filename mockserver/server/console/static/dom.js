// Elements made of values. Text is only ever text: nothing here reads markup.

/** Return an element; `props` are attributes, `on` its listeners, strings among the children text. */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Put children in the place of those that an element has. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return parent;
}

/** Set a text where it differs, so that a screen reader hears of changes only. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function button(label, act, props = {}) {
  return el("button", { type: "button", ...props, on: { click: act } }, label);
}

/** Return a table; a cell is text or an element. */
export function table(caption, names, rows, props = {}) {
  const head = el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)));
  const body = rows.map((cells) => el("tr", {}, cells.map((cell, place) =>
    place === 0 ? el("th", { scope: "row" }, cell) : el("td", { "data-label": names[place] }, cell))));
  return el("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": caption },
    el("table", props, el("caption", { class: "visually-hidden" }, caption), el("thead", {}, head), el("tbody", {}, body)));
}

/** Return a list of names and values; values are text or elements. */
export function facts(pairs) {
  return el("dl", { class: "facts" }, pairs.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value === "" ? "–" : value))));
}

/** Return what is missing from the ground of a verdict, or null where nothing is. */
export function holes(ground) {
  return ground.holes.length ? el("ul", { class: "plain holes" }, ground.holes.map((hole) => el("li", {}, `Not known: ${hole}`))) : null;
}

/** Put a text on the clipboard; returns whether it is there. */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page that came without TLS from another machine has no clipboard of its own to write to.
    const area = el("textarea", { class: "visually-hidden", value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Give a text to a person as a file. */
export function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Ask in a dialog; the content gets a function that closes it. Focus returns to where it was. */
export function dialog(title, content) {
  const before = document.activeElement;
  const made = el("dialog", { "aria-labelledby": "dialog-title" });
  const close = () => made.close();
  made.append(
    el("div", { class: "dialog-head" }, el("h2", { id: "dialog-title" }, title),
      button("Close", close, { class: "quiet" })),
    el("p", { class: "wrong", role: "alert", hidden: true }),
    content(close));
  made.addEventListener("close", () => {
    made.remove();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
  document.body.append(made);
  made.showModal();
  return made;
}
