// What a test does to its world of the mock, through the control API.

const server = process.env.CROSSCHAIN_MOCK_URL;
let worlds = 0;

/** A world that no other test sees: its base addresses, and what may be done to it. */
export class World {
  constructor() {
    if (!server) throw new Error("no mock is running; start the tests with: npm test");
    worlds += 1;
    this.baseUrl = `${server}/w/node-${process.pid}-${worlds}`;
    this.baseUrlV2 = this.baseUrl;
  }

  /** Moves the clock by a duration such as "5m". */
  advance(duration) {
    return this.#control("POST", "/clock", { advance: duration });
  }

  /** Puts a chain out of service. */
  suspend(chain, options) {
    return this.#control("POST", "/outages", { chain, ...options });
  }

  /** Disturbs the answers of an operation. */
  fail(operation, kind, options) {
    return this.#control("POST", "/faults", { operation, kind, ...options });
  }

  /** Returns the orders that were submitted to this world. */
  async orders() {
    return (await this.#control("GET", "/orders")).orders;
  }

  /** Announces a refusal that the test causes on purpose. */
  expect(refusal) {
    return this.#control("POST", "/expect", { refusal });
  }

  /** Throws what the test did not expect: refusals, unused stubs, defects of the mock. */
  async check() {
    const found = await this.#control("GET", "/check");
    if (!found.ok) throw new Error(JSON.stringify(found, null, 2));
  }

  async #control(method, path, body) {
    const response = await fetch(`${this.baseUrl}/__mock${path}`, {
      method,
      body: body && JSON.stringify(body),
    });
    const told = await response.json();
    if (!response.ok) throw new Error(told.error);
    return told;
  }
}
