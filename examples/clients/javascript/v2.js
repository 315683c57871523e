// A client of the 2.0 interface: an order posted with a wallet's signature, and one in a contract call.
//
//     node v2.js BASE_URL NODE_URL
//
// NODE_URL is where the wallet sends transactions of the chain BNB. A mock answers as a node of a chain
// at BASE_URL/__mock/chains/NICKNAME.
import { Contract, JsonRpcProvider, Network, Wallet, hexlify, keccak256, toUtf8Bytes } from "ethers";

const PROXY = [
  "function vaultOut(address tokenAddr, uint256 amount, bool burnable, bytes order) payable",
];

/** The text of a body: false values left out, keys in order, the address in front. */
export function textOf(address, body) {
  const pairs = Object.keys(body)
    .filter((key) => body[key])
    .sort()
    .map((key) => `${key}=${body[key]}`);
  return [`EvmAddress=${address}`, ...pairs].join("&");
}

export class Client {
  constructor(base, wallet) {
    Object.assign(this, { base, wallet });
  }

  async get(path, query = {}) {
    return this.data(await fetch(`${this.base}${path}?${new URLSearchParams(query)}`));
  }

  async post(path, body) {
    // A hash in hex is signed as the text it is.
    const hash = keccak256(toUtf8Bytes(textOf(this.wallet.address, body)));
    const signature = (await this.wallet.signMessage(hash)).slice(2);
    const headers = {
      "Content-Type": "application/json",
      EvmAddress: this.wallet.address,
      Signature: signature,
    };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    return this.data(await fetch(this.base + path, sent));
  }

  async data(response) {
    const result = await response.json();
    if (result.code === 0) return result.data;
    throw new Error(`${result.code} ${result.msg} (${response.headers.get("X-Mock-Refusal")})`);
  }

  async finished(id) {
    const seen = [];
    for (;;) {
      const order = await this.get("/v1/checkOrder", { id });
      seen.push(order.status);
      if (["Succeeded", "Failed", "Dropped", "Refunded"].includes(order.status)) {
        return { id, seen, amountOut: order.amountOut };
      }
      if (seen.length > 50) throw new Error(`order ${id} does not end: ${seen}`);
    }
  }
}

const net = (quote) =>
  BigInt(quote.outAmount) - BigInt(quote.serviceFee) - BigInt(quote.gasFee);

/** USDT from ARB to BNB: a deposit, then a signed submission that tells of it. */
async function bridge(client, assets) {
  const usdt = assets.find((one) => one.symbol === "USDT");
  const amount = "10000000";
  const quote = await client.get("/v1/getBridgeQuote", {
    amount,
    symbol: "USDT",
    fromChain: "ARB",
    toChain: "BNB",
    channelFeeRate: "30",
  });
  const expected = net(quote);
  const address = client.wallet.address;
  const deposit = {
    fromAmount: amount,
    fromIndex: String(usdt.index),
    fromChain: "ARB",
    fromAddr: address,
    certHash: keccak256(toUtf8Bytes("the deposit")),
    fromPublicKey: "",
    signature: "123456",
  };
  const { id } = await client.post("/v1/submitOrder", {
    channel: "chainge",
    extra: `1_${expected};2_30;3_2;4_${expected};5_BNB`,
    orderType: "1",
    slippage: "0",
    toChain: "BNB",
    toIndex: String(usdt.index),
    toAddr: address,
    execStrategy: "",
    timeout: "0",
    triggerPrice: "0",
    sourceCerts: Buffer.from(JSON.stringify(deposit)).toString("hex"),
  });
  return { ...(await client.finished(id)), promised: String(expected) };
}

/** BNB's own coin into FSN: the order travels inside a contract call that the wallet sends. */
async function swap(client, chains, assets, node) {
  const chain = chains.find((one) => one.nickName === "BNB");
  const coin = assets.find((one) => one.symbol === "BNB").contracts.BNB;
  const target = assets.find((one) => one.symbol === "FSN").contracts.FSN;
  const amount = String(10n ** 18n);
  const quote = await client.get("/v1/getAggregateQuote", {
    fromAmount: amount,
    fromTokenAddress: coin.address,
    fromDecimal: coin.decimals,
    fromChain: "BNB",
    toTokenAddress: target.address,
    toDecimal: target.decimals,
    toChain: "FSN",
  });
  const router = chains.find((one) => one.network === quote.chain).nickName;
  const expected = net(quote);
  const bps = BigInt(Math.round(Number(quote.slippage) * 100));
  const minimum = (expected * (10000n - bps)) / 10000n;
  const extra = `1_${expected};2_0;3_2;4_${minimum};5_${router}`;
  const address = client.wallet.address;
  const order = ["chainge", "FSN", target.address, address, bps, extra].join(":");

  const network = Network.from(Number(chain.network));
  const provider = new JsonRpcProvider(node, network, { staticNetwork: network });
  const contract = new Contract(chain.builtInMinterProxyV2, PROXY, client.wallet.connect(provider));
  const sent = await contract.vaultOut(
    coin.address,
    amount,
    coin.burnable === true,
    hexlify(toUtf8Bytes(order)),
    { value: amount },
  );
  provider.destroy();

  const { id } = await client.get("/v1/getOrderIdByHash", { chain: "BNB", hash: sent.hash });
  return { ...(await client.finished(id)), promised: String(expected) };
}

async function main([base, node]) {
  const client = new Client(base, new Wallet(`0x${"11".repeat(32)}`));
  const chains = (await client.get("/v1/getChain")).list.filter((one) => !one.disabled);
  const assets = (await client.get("/v1/getAssets")).list;
  const vaults = (await client.get("/v1/getVaultAddress")).list;
  const bridged = await bridge(client, assets);
  const swapped = await swap(client, chains, assets, node);
  const { ticketId } = await client.post("/v1/submitTicket", {
    chain: "ARB",
    hash: keccak256(toUtf8Bytes("the deposit")),
  });
  console.log(JSON.stringify({ bridged, swapped, ticketId, vaults: Object.keys(vaults) }));
}

await main(process.argv.slice(2));
