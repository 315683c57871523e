// A request as a command for a POSIX shell.

import { quoted } from "./text.js";

const MADE_BY_CURL = new Set(["host", "content-length", "connection", "accept-encoding", "transfer-encoding"]);

/** Return the command that sends a request of the journal again. */
export function curl({ method, path, query, headers, body }) {
  const pairs = Array.isArray(query) ? query : Object.entries(query ?? {});
  const search = typeof query === "string" ? query : new URLSearchParams(pairs).toString();
  const parts = ["curl", "-sS", "-X", quoted(method)];
  const named = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
  for (const [name, value] of named) if (!MADE_BY_CURL.has(name.toLowerCase())) parts.push("-H", quoted(`${name}: ${value}`));
  if (body !== null && body !== undefined) {
    const raw = typeof body === "string" ? body : JSON.stringify(body);
    if (!named.some(([name]) => name.toLowerCase() === "content-type")) parts.push("-H", quoted("Content-Type: application/json"));
    parts.push("--data-binary", quoted(raw));
  }
  parts.push(quoted(`${location.origin}${path}${search ? `?${search}` : ""}`));
  return parts.join(" ");
}

/** Return a test for the pytest fixture that sends a request of the journal and expects its outcome. */
export function pytest({ sequence, request, refusal }) {
  const { method, path, query, headers, body } = request;
  const search = new URLSearchParams(Array.isArray(query) ? query : []).toString();
  const kept = headers.filter(([name]) => !MADE_BY_CURL.has(name.toLowerCase()));
  const raw = body === null || body === undefined || body === "" ? null : typeof body === "string" ? body : JSON.stringify(body);
  const target = path.replace(/^\/w\/[^/]+/, "") + (search ? `?${search}` : "");
  const lines = [
    "import json", "import urllib.request", "", "", `def test_request_${sequence}(crosschain_mock):`,
    `    request = urllib.request.Request(`, `        crosschain_mock.base_url_v2 + ${python(target)},`,
    `        method=${python(method)},`, ...(raw === null ? [] : [`        data=${python(raw)}.encode(),`]),
    `        headers={${kept.map(([name, value]) => `${python(name)}: ${python(value)}`).join(", ")}},`, "    )"];
  const send = ["with urllib.request.urlopen(request, timeout=10) as answer:", "    data = json.load(answer)"];
  if (refusal) {
    const name = refusal.split(":")[0];
    lines.push(`    with crosschain_mock.expect_refusal(${python(name)}):`, ...send.map((line) => `        ${line}`), '    assert data["code"] != 0');
  } else {
    lines.push(...send.map((line) => `    ${line}`), '    assert data["code"] == 0');
  }
  return `${lines.join("\n")}\n`;
}

// A text of JSON is one of Python, but for characters that Python takes as they are.
function python(text) {
  return JSON.stringify(text);
}
