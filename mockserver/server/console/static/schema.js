// Whether a value keeps a JSON Schema, as far as the schemas of reports go.

const TYPES = {
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  array: Array.isArray, string: (value) => typeof value === "string", boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger, number: (value) => typeof value === "number", null: (value) => value === null,
};
// What describes only, and what is looked up where it is referred to.
const SILENT = new Set(["$schema", "$id", "$defs", "title", "description", "x-expects"]);

/** Return where a value first breaks a schema and what was expected there; null where it keeps it. */
export function broken(schema, value, root = schema, place = "") {
  for (const [keyword, wanted] of Object.entries(schema)) {
    if (SILENT.has(keyword)) continue;
    const told = RULES[keyword](wanted, value, { schema, root, place });
    if (told === true) continue;
    return told || `${place || "the report"}: ${schema["x-expects"] ?? schema.description ?? `${keyword} ${JSON.stringify(wanted)}`} is expected`;
  }
  return null;
}

/** Return the first defect of parts, or that there is none. */
function first(parts) {
  for (const [schema, value, root, place] of parts) {
    const told = broken(schema, value, root, place);
    if (told) return told;
  }
  return true;
}

const RULES = {
  $ref: (name, value, { root, place }) => broken(root.$defs[name.replace("#/$defs/", "")], value, root, place) ?? true,
  type: (types, value) => [types].flat().some((type) => TYPES[type](value)),
  const: (wanted, value) => value === wanted,
  enum: (words, value) => words.includes(value),
  minimum: (least, value) => typeof value !== "number" || value >= least,
  maximum: (most, value) => typeof value !== "number" || value <= most,
  pattern: (form, value) => typeof value !== "string" || new RegExp(form, "u").test(value),
  minItems: (least, value) => !Array.isArray(value) || value.length >= least,
  maxItems: (most, value) => !Array.isArray(value) || value.length <= most,
  anyOf: (schemas, value, { root, place }) => schemas.some((schema) => broken(schema, value, root, place) === null),
  items: (schema, value, { root, place }) => !Array.isArray(value) || first(value.map((item, n) => [schema, item, root, `${place}[${n}]`])),
  required: (names, value, { place }) => {
    const missing = TYPES.object(value) && names.find((name) => !Object.hasOwn(value, name));
    return !missing || `${place || "the report"}: the member ${JSON.stringify(missing)} is missing`;
  },
  properties: (members, value, { root, place }) => !TYPES.object(value) ||
    first(Object.entries(members).filter(([name]) => Object.hasOwn(value, name)).map(([name, schema]) => [schema, value[name], root, place ? `${place}.${name}` : name])),
  additionalProperties: (schema, value, { schema: { properties = {} }, root, place }) => {
    if (!TYPES.object(value)) return true;
    const others = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
    if (schema === false) return !others.length || `${place || "the report"}: there is no member ${JSON.stringify(others[0])}`;
    return first(others.map((name) => [schema, value[name], root, `${place}.${name}`]));
  },
};

/** The keywords that are understood; a test compares them with those of the schemas. */
export const KEYWORDS = [...SILENT, ...Object.keys(RULES)];
