"use strict";
// The one script of the report: buttons copy the command beside them, and what is marked comes into
// sight. It only reads text.
const said = document.getElementById("said");

function selectAll(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

async function copy(command) {
  try {
    await navigator.clipboard.writeText(command.textContent);
    return true;
  } catch {
    // A page from elsewhere without TLS has no clipboard to write to; a selection can be copied.
    selectAll(command);
    return document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("button.copies")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const copied = await copy(button.parentElement.querySelector("pre"));
    button.textContent = copied ? "copied" : "press Ctrl+C";
    said.textContent = copied ? "copied" : "selected: press Ctrl+C to copy";
    setTimeout(() => {
      button.textContent = "copy";
      said.textContent = "";
    }, 2000);
  });
}

function showMarks(within) {
  for (const pre of within.querySelectorAll("pre")) {
    const mark = pre.querySelector("mark");
    if (mark && pre.clientHeight) {
      const below = mark.getBoundingClientRect().top - pre.getBoundingClientRect().top;
      pre.scrollTop += below - pre.clientHeight / 2;
    }
  }
}

// What is folded has no height yet, and is scrolled when it is opened.
document.addEventListener("toggle", (event) => showMarks(event.target), true);
showMarks(document);
