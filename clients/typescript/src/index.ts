// Starts the mock for tests, or connects to one, and gives each test a world of its own.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths as Control } from "./control.js";
import type { paths as V1 } from "./v1.js";
import type { paths as V2 } from "./v2.js";

type Forms = components["schemas"];
type Answered = { data?: { code: number; msg: string } | undefined };
export type Accepted<T> = Extract<T, { code: 0 }>;

export class Refused extends Error {}
export class MockCheckFailed extends Error {}

/** Returns the result of an answer. Throws `Refused` where the service says no. */
export function accepted<T extends Answered>(answer: T): Accepted<T["data"]> extends { data: infer D } ? D : never {
  if (answer.data?.code !== 0) throw new Refused(answer.data ? `${answer.data.code}: ${answer.data.msg}` : "no answer");
  return (answer.data as unknown as { data: never }).data;
}

export interface StartOptions {
  /** The address of a mock that runs already. */
  url?: string;
  /** The token of its control API, where it listens on other interfaces than loopback. */
  token?: string;
  /** The command, by default `crosschain-mock`. */
  command?: string[];
  /** An image that Docker runs in place of the command. */
  image?: string;
  /** Options of `serve`, such as `["--clock", "real"]`. The clock stands by default, as in pytest. */
  args?: string[];
}

/** Starts the mock: the command, an image, or a connection to one. */
export async function startMock(options: StartOptions = {}): Promise<Mock> {
  const token = options.token ?? randomUUID();
  const url = options.url ?? (options.command || options.image ? undefined : process.env["CROSSCHAIN_MOCK_URL"]);
  if (url) return new Mock(url, options.token ?? process.env["CROSSCHAIN_MOCK_TOKEN"], async () => {}, true);
  const serve = ["serve", "--clock", "frozen", "--start", "2026-01-01T00:00:00Z", ...(options.args ?? [])];
  const port = options.image ? await freePort() : 0;
  const [program = "crosschain-mock", ...args] = options.image
    ? ["docker", "run", "--rm", "--init", "-p", `127.0.0.1:${port}:8765`, "-e", `CROSSCHAIN_MOCK_TOKEN=${token}`,
        options.image, ...serve, "--host", "0.0.0.0", "--port", "8765"]
    : [...(options.command ?? ["crosschain-mock"]), ...serve, "--port", "0"];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  // Tests that were cut off, as by a time limit, stop nothing.
  const end = () => void child.kill("SIGTERM");
  process.once("exit", end);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output = (output + text.toString()).slice(-4000)));
  const ended = once(child, "close").then(
    ([code]) => `ended with exit code ${code}: ${output}`,
    (error: Error) => `cannot be started: ${error.message}; install crosschain-mock, or give its address as 'url'`,
  );
  void ended.then(() => process.off("exit", end));
  const failed = ended.then((why) => Promise.reject(new Error(`${program} ${why}`)));
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), failed]);
  // A container shows its own port.
  const address = options.image ? `http://127.0.0.1:${port}` : /https?:\/\/[\w.:[\]-]+/.exec(line as string)?.[0] ?? "";
  return new Mock(address, options.image && token, async () => void (child.kill("SIGTERM"), await ended));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => server.close(() => resolve(port)));
}

export class Mock {
  /** `shared` is whether somebody else has started it, so that it goes on after `stop`. */
  constructor(readonly url: string, readonly token: string | undefined, readonly stop: () => Promise<void>, readonly shared = false) {}

  /** Returns a world that no other test sees. */
  world(name = "test"): World {
    const key = `${name.replace(/[^A-Za-z0-9._~-]+/g, "-").slice(0, 80)}-${randomUUID().slice(0, 8)}`;
    return new World(`${this.url}/w/${key}`, key, this.url, this.token);
  }
}

/**
 * What a check fails for: `audit: false` leaves money out, `unused: "allow"` what was set and met no request. A world
 * that is not of the `epoch`, as where the server was started again, fails; by default that of the first answer.
 */
export interface CheckOptions {
  epoch?: string;
  audit?: boolean;
  strict?: boolean;
  unused?: "fail" | "allow";
}

export class World {
  readonly v1: Client<V1>;
  readonly v2: Client<V2>;
  /** The whole control API, typed. */
  readonly control: Client<Control>;
  /** Distinguishes the world from an earlier one of its key, once an answer has named it. */
  epoch: string | undefined;

  /** `url` is the base address of both generations. */
  constructor(readonly url: string, readonly key: string, private readonly server: string, token?: string) {
    const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
    this.v1 = createClient<V1>({ baseUrl: url });
    this.v2 = createClient<V2>({ baseUrl: url });
    this.control = createClient<Control>({ baseUrl: url, headers });
    for (const client of [this.v1, this.v2, this.control]) {
      client.use({
        onResponse: ({ request, response }) => {
          // A test that loads a dump, or makes the world anew, means the new one from then on.
          const remade = /__mock\/(load|world)$/.test(new URL(request.url).pathname) && request.method !== "GET" && response.ok;
          if (remade || this.epoch === undefined) this.epoch = response.headers.get("x-mock-epoch") ?? this.epoch;
        },
      });
    }
    this.forget = () => fetch(`${this.server}/__mock/worlds/${key}`, { method: "DELETE", headers }).then(() => undefined);
  }

  /** Drops the world. */
  readonly forget: () => Promise<void>;

  /** Moves the clock by a duration such as "5m". */
  readonly advance = async (duration: string): Promise<void> => void done(await this.control.POST("/__mock/clock", { body: { advance: duration } }));

  readonly suspend = async (chain: string, options: Omit<Forms["OutageGiven"], "chain"> = {}): Promise<void> =>
    void done(await this.control.POST("/__mock/outages", { body: { chain, ...options } }));

  readonly fault = async (fault: NonNullable<Control["/__mock/faults"]["post"]["requestBody"]>["content"]["application/json"]): Promise<void> =>
    void done(await this.control.POST("/__mock/faults", { body: fault }));

  readonly orders = async (): Promise<Forms["Order"][]> => done(await this.control.GET("/__mock/orders")).orders;

  /** Says that a refusal is meant, so that the test does not fail for it. */
  readonly expectRefusal = async (refusal?: string, operation?: string): Promise<void> =>
    void done(await this.control.POST("/__mock/expect", { body: { ...(refusal && { refusal }), ...(operation && { operation }) } }));

  /**
   * Throws `MockCheckFailed` for refusals, defects, lost money, and what was set and met no request: stubs, faults,
   * triggers, outages, prices, breaks, and refusals that were expected. Returns what that rests on: `missing` is why
   * there is nothing to judge, such as that no request came, and `holes` are what is missing besides. Where `audit` is
   * asked for, the former throws, and with `strict` both do.
   */
  async check(options: CheckOptions = {}): Promise<{ missing: string | null; holes: string[] }> {
    const epoch = options.epoch ?? this.epoch;
    const header = epoch === undefined ? {} : { "X-Mock-Epoch": epoch };
    const query = { unused: options.unused ?? "fail", audit: options.audit ?? true };
    const answer = await this.control.GET("/__mock/check", { params: { query, header } });
    // A world comes into being with its first request; a question makes none.
    const nobody = answer.response.status === 404 && epoch === undefined;
    const { told, ground } = nobody ? { told: [], ground: { missing: "there is nothing to judge: no request came", holes: [] } } : done(answer);
    const lacking = ground.missing && (options.audit || options.strict) ? [ground.missing] : [];
    const lines = [...told, ...lacking, ...(options.strict ? ground.holes : [])];
    if (lines.length) throw new MockCheckFailed(lines.join("\n"));
    return { missing: ground.missing, holes: ground.holes };
  }
}

function done<T>(answer: { data?: T; error?: { error: string } | { ready: boolean } }): T {
  if (answer.data !== undefined) return answer.data;
  throw new Error(answer.error && "error" in answer.error ? answer.error.error : "the control API gave no answer");
}
