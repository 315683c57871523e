// Values as people read them: times, durations, amounts of tokens, JSON without a rounded number.

const UNITS = [["d", 86400000], ["h", 3600000], ["m", 60000], ["s", 1000]];

/** Return a duration in its two largest units, such as `1h 30m`. */
export function duration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  const parts = [];
  let rest = ms;
  for (const [name, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count || parts.length) parts.push(`${count}${name}`);
    rest -= count * size;
  }
  return parts.slice(0, 2).filter((part) => !part.startsWith("0")).join(" ");
}

/** Return a moment in UTC, to the second: `2026-01-01 00:00:00`. */
export function moment(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "beyond the calendar" : date.toISOString().slice(0, 19).replace("T", " ");
}

/** Return a moment as short as it can be read: the time alone on the day of `now`, else with its date. */
export function when(ms, now) {
  const text = moment(ms);
  return text.slice(0, 10) === moment(now ?? ms).slice(0, 10) ? text.slice(11) : text;
}

/** Return the time of the day alone, of a moment. */
export function clockTime(ms) {
  return moment(ms).slice(11);
}

/** Return how far a moment is from now: `in 5m`, `2h ago`, `now`. */
export function distance(ms, now) {
  if (ms === now) return "now";
  return ms > now ? `in ${duration(ms - now)}` : `${duration(now - ms)} ago`;
}

/** Return smallest units, given as text, as whole tokens without rounding. */
export function tokens(units, decimals) {
  const sign = units.startsWith("-") ? "-" : "";
  const digits = units.replace("-", "").padStart(decimals + 1, "0");
  const cut = digits.length - decimals;
  const fraction = digits.slice(cut).replace(/0+$/, "");
  return sign + digits.slice(0, cut) + (fraction ? `.${fraction}` : "");
}

/** Return the value of a JSON text; numbers that JavaScript would round stay as they are written. */
export function parse(text) {
  return JSON.parse(text, (_, value, context) => {
    const kept = typeof value === "number" && context?.source !== undefined && String(value) !== context.source;
    return kept && JSON.rawJSON ? JSON.rawJSON(context.source) : value;
  });
}

/** Return JSON to be read by people; a text that is no JSON stays as it is. */
export function pretty(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Return a text for a POSIX shell, as one word. */
export function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Return the start of a long text. */
export function short(text, most = 18) {
  return text.length > most ? `${text.slice(0, most - 7)}…${text.slice(-6)}` : text;
}
