// A small wallet that moves tokens between chains through the 2.0 interface.

import { createHash } from "node:crypto";

const address = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
const attempts = 3;

/** The service said no; the message is its reason. */
export class ServiceRefused extends Error {}

/** No answer, or none that can be read. Whether anything happened is not known. */
export class ServiceLost extends Error {}

/** Stands for the node that broadcasts transactions: each call pays, and pays for good. */
export class Node {
  #paid = 0;

  /** Pays a deposit of smallest units and returns it with its transaction hash. */
  pay(chain, tokenIndex, amount) {
    this.#paid += 1;
    const hash = createHash("sha256").update(`${address} ${this.#paid}`).digest("hex");
    return { chain, tokenIndex, amount, hash: `0x${hash}` };
  }
}

/** Quotes, pays, submits and watches. */
export class Wallet {
  constructor(baseUrlV2, node) {
    this.baseUrlV2 = baseUrlV2;
    this.node = node;
  }

  /** Returns the chains that can be sent to now. */
  async targets() {
    const { list } = await this.call("/v1/getChain");
    return list.filter((chain) => !chain.disabled).map((chain) => chain.nickName);
  }

  /** Returns what arrives for an amount of smallest units, after fees. */
  async receives(amount, symbol, fromChain, toChain) {
    const query = new URLSearchParams({ amount: String(amount), symbol, fromChain, toChain });
    const quote = await this.call(`/v1/getBridgeQuote?${query}`);
    return BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);
  }

  /**
   * Sends smallest units to another chain and returns the order's id. The deposit is paid once; if
   * the answer is lost, the same deposit is submitted again, which can only make one order.
   */
  async send(amount, symbol, fromChain, toChain) {
    const index = await this.usable(symbol, fromChain, toChain);
    await this.receives(amount, symbol, fromChain, toChain);
    const deposit = this.node.pay(fromChain, index, amount);
    return retried(() => this.submit(deposit, toChain));
  }

  /** Returns the status of an order. */
  async status(id) {
    return (await this.call(`/v1/checkOrder?id=${id}`)).status;
  }

  /** Returns the index of a token, if both chains can be used now. */
  async usable(symbol, ...chains) {
    const offered = await this.targets();
    const gone = chains.filter((chain) => !offered.includes(chain));
    if (gone.length > 0) throw new ServiceRefused(`not offered now: ${gone.join(", ")}`);
    const { list } = await this.call("/v1/getAssets");
    return list.find((asset) => asset.symbol === symbol).index;
  }

  async submit(deposit, toChain) {
    const certificate = {
      fromAmount: String(deposit.amount),
      fromIndex: String(deposit.tokenIndex),
      fromChain: deposit.chain,
      fromAddr: address,
      certHash: deposit.hash,
      fromPublicKey: "",
      signature: "",
    };
    const body = {
      channel: "example",
      execStrategy: "",
      extra: "",
      orderType: "1",
      slippage: "0",
      sourceCerts: Buffer.from(JSON.stringify(certificate)).toString("hex"),
      timeout: "0",
      toAddr: address,
      toChain,
      toIndex: String(deposit.tokenIndex),
      triggerPrice: "0",
    };
    const headers = { Evmaddress: address, Signature: "00".repeat(65) };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    return (await this.call("/v1/submitOrder", sent)).id;
  }

  async call(target, options) {
    let answer;
    try {
      const response = await fetch(this.baseUrlV2 + target, options);
      answer = await response.json();
    } catch (error) {
      throw new ServiceLost(error.message, { cause: error });
    }
    if (answer.code !== 0) throw new ServiceRefused(answer.msg);
    return answer.data;
  }
}

/** The mistake: an attempt that was not answered is taken for one that did not happen. */
export class NaiveWallet extends Wallet {
  async send(amount, symbol, fromChain, toChain) {
    const index = await this.usable(symbol, fromChain, toChain);
    await this.receives(amount, symbol, fromChain, toChain);
    return retried(() => this.submit(this.node.pay(fromChain, index, amount), toChain));
  }
}

async function retried(attempt) {
  for (let left = attempts; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ServiceLost) || left === 1) throw error;
    }
  }
}
