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
