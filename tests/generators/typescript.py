"""Programs in TypeScript that make calls with what a generator made of the documents."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from tests.generators.calls import Call

# A refusal and a success differ by their code, which is what `Extract` goes by.
_HELPERS = """
const base = process.argv[2]!;
function code(answer: { code: number } | undefined): boolean { return answer?.code === 0; }
function report(name: string, fine: boolean): void { console.log(JSON.stringify([name, fine])); }
"""


def _literal(value: Any) -> str:
    return json.dumps(value)


def _inputs(call: Call, words: dict[str, str]) -> dict[str, Any]:
    return {words[location]: values for location, values in call.inputs.items()}


def openapi_typescript(call: Call) -> str:
    options: dict[str, Any] = {}
    if call.inputs:
        options["params"] = _inputs(call, {"query": "query", "header": "header", "path": "path"})
    if call.body is not None:
        options["body"] = call.body
    return (
        f"{call.document}.{call.method}({_literal(call.path)}"
        f"{', ' + _literal(options) if options else ''})"
    )


def hey_api(call: Call) -> str:
    options = _inputs(call, {"query": "query", "header": "headers", "path": "path"})
    if call.body is not None:
        options["body"] = call.body
    inner = _literal(options)[1:-1]
    return f"{call.document}.{call.operation}({{client{', ' + inner if inner else ''}}})"


def orval(call: Call) -> str:
    arguments = [
        _literal(part)
        for part in (call.body, call.inputs.get("query"))
        if part is not None and part != {}
    ]
    if "header" in call.inputs:
        headers = {key: str(value) for key, value in call.inputs["header"].items()}
        arguments.append(_literal({"headers": headers}))
    return f"{call.document}.{call.operation}({', '.join(arguments)})"


_OPENAPI_TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { paths as V1 } from "./v1.js";
import type { paths as V2 } from "./v2.js";
import type { paths as Control } from "./control.js";
const v1 = createClient<V1>({ baseUrl: base });
const v2 = createClient<V2>({ baseUrl: base });
const control = createClient<Control>({ baseUrl: base });
"""
_HEY_API = """
import { createClient } from "./v1/client/index.js";
import * as v1 from "./v1/sdk.gen.js";
import * as v2 from "./v2/sdk.gen.js";
import * as control from "./control/sdk.gen.js";
const client = createClient({ baseUrl: base });
"""
_ORVAL = """
import * as v1 from "./v1.js";
import * as v2 from "./v2.js";
import * as control from "./control.js";
import * as v1Forms from "./v1.zod.js";
import * as v2Forms from "./v2.zod.js";
import * as controlForms from "./control.zod.js";
const sent = globalThis.fetch;
globalThis.fetch = (address, options) => sent(base + String(address), options);
"""


def program(
    head: str, calls: Iterable[Call], make: Callable[[Call], str], checked: str = ""
) -> str:
    """Return a module that makes calls and prints the name of each, and whether it succeeded."""
    lines = []
    for number, call in enumerate(calls):
        lines.append(f"const r{number} = await {make(call)};")
        name = _literal(call.operation)
        if checked:
            form = f"{call.document}Forms.{call.operation}Response"
            lines.append(f"if (r{number}.status === 200) {form}.parse(r{number}.data);")
        if call.document == "control":
            ok = f"r{number}.status === 200" if checked else f"r{number}.response.ok"
            lines.append(f"report({name}, {ok});")
        else:
            lines.append(f"report({name}, code(r{number}.data));")
            if not checked and not call.refused:
                lines.append(
                    f"if (r{number}.data?.code === 0) {{ const taken: "
                    f"Extract<typeof r{number}.data, {{ code: 0 }}>['data'] = "
                    f"(r{number}.data as Extract<typeof r{number}.data, {{ code: 0 }}>).data; "
                    f"void taken; }}"
                )
    # Modules of Node's first kind: what hey-api writes names its files without endings.
    main = ["async function main(): Promise<void> {", *lines, "}", "void main();", ""]
    return "\n".join([_HELPERS, head, *main])


PROGRAMS = {
    "openapi-typescript": (_OPENAPI_TYPESCRIPT, openapi_typescript, ""),
    "hey-api": (_HEY_API, hey_api, ""),
    "orval": (_ORVAL, orval, "zod"),
}
