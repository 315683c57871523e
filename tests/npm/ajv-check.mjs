// Compiles JSON Schemas with ajv as it is by default, and holds values against them.
// Arguments: folders or files of schemas. Standard input: [[file, value], ...]. Prints the errors.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";

const files = (path) =>
  statSync(path).isDirectory() ? readdirSync(path).flatMap((name) => files(join(path, name))) : [path];
const ajv = new Ajv2020.default({ logger: false });
const compiled = {};
const problems = [];
for (const file of process.argv.slice(2).flatMap(files)) {
  try {
    compiled[file] = ajv.compile(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    problems.push([file, error.message]);
  }
}
for (const [file, value] of JSON.parse(readFileSync(0, "utf8") || "[]")) {
  const check = compiled[file];
  if (check && !check(value)) problems.push([file, ajv.errorsText(check.errors)]);
}
console.log(JSON.stringify({ compiled: Object.keys(compiled).length, problems }));
