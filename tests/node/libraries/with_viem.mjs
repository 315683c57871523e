// What a user of viem sees of a chain, a function each; prints all answers as one JSON object.
// Argument: a JSON file with the chain's address, contracts and the keys of funded and empty wallets.
import { readFileSync } from "node:fs";
import {
  BaseError, createPublicClient, createTestClient, createWalletClient, defineChain, formatEther, http,
  parseAbi, parseEther, parseEventLogs,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const given = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const chain = defineChain({
  id: given.chainId,
  name: "chain of the suite",
  nativeCurrency: { name: "Coin", symbol: "COIN", decimals: 18 },
  rpcUrls: { default: { http: [given.url] } },
  contracts: { multicall3: { address: "0xcA11bde05977b3631167028862bE2a173976CA11" } },
});
const transport = http(given.url, { retryCount: 0 });
const client = createPublicClient({ chain, transport, pollingInterval: 40, cacheTime: 0 });
const batching = createPublicClient({ chain, transport: http(given.url, { batch: true, retryCount: 0 }), cacheTime: 0 });
const test = createTestClient({ chain, transport, mode: "anvil" });
const abi = parseAbi([
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function balanceOf(address) view returns (uint256)",
  "function allowance(address,address) view returns (uint256)",
  "function transfer(address,uint256) returns (bool)",
  "function approve(address,uint256) returns (bool)",
  "function transferFrom(address,address,uint256) returns (bool)",
  "function absent() view returns (uint256)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
]);
const vaultAbi = parseAbi([
  "function orderID() view returns (uint256)",
  "function vaultOut(address,uint256,bool,bytes) payable",
  "event LogVaultOut(address indexed token, address indexed from, uint256 indexed orderID, uint256 amount, address vault, bytes order)",
]);
const NATIVE = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";
const ABSENT = `0x${"12".repeat(32)}`;
const UNIT = 10n ** 18n;
const walletOf = (key) => createWalletClient({ account: privateKeyToAccount(key), chain, transport });
const wallet = () => walletOf(given.funded.shift());
const poor = () => walletOf(given.empty.shift());
const stranger = () => privateKeyToAccount(generatePrivateKey()).address;
/** An address that owns nothing yet: at the mock, wallets that nobody named own what the scenario says. */
const nobody = () => privateKeyToAccount(given.empty.shift()).address;
const mined = async (sending) => client.waitForTransactionReceipt({ hash: await sending, timeout: 20_000 });
const read = (functionName, args = [], more = {}) => client.readContract({ address: given.token, abi, functionName, args, ...more });
const write = (who, functionName, args, more = {}) => who.writeContract({ address: given.token, abi, functionName, args, ...more });
const pause = (ms) => new Promise((yes) => setTimeout(yes, ms));
const until = async (condition) => {
  const end = Date.now() + 10_000;
  while (!condition() && Date.now() < end) await pause(40);
};
/** Names of an error and its causes, as `walk` meets them, without the transport's own. */
const names = async (asked) => {
  try {
    await asked;
    return "no error";
  } catch (error) {
    const all = [];
    for (let each = error; each; each = each.cause) if (each instanceof BaseError) all.push(each.name);
    return all.filter((name) => !/Request|HttpError/.test(name) || name === "HttpRequestError");
  }
};
const reason = async (asked) => {
  try {
    await asked;
    return "no error";
  } catch (error) {
    const revert = error.walk((each) => each.name === "ContractFunctionRevertedError");
    return revert ? [revert.reason ?? null, revert.data?.errorName ?? null] : error.name;
  }
};

const behaviours = {
  async chain_id_reads() {
    return (await client.getChainId()) === given.chainId;
  },
  async fees_can_be_estimated() {
    const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas();
    return [maxFeePerGas > maxPriorityFeePerGas, (await client.getGasPrice()) > 0n, (await client.estimateMaxPriorityFeePerGas()) >= 0n];
  },
  async fee_history_reads() {
    const history = await client.getFeeHistory({ blockCount: 2, rewardPercentiles: [25, 75] });
    return [history.baseFeePerGas.length, history.gasUsedRatio.length, history.reward.map((each) => each.length)];
  },
  async balance_reads() {
    return formatEther(await client.getBalance({ address: wallet().account.address }));
  },
  async payment_arrives() {
    const [sender, to] = [wallet(), nobody()];
    const receipt = await mined(sender.sendTransaction({ to, value: 5n }));
    return [receipt.status, String(await client.getBalance({ address: to })), receipt.type, String(receipt.gasUsed)];
  },
  async legacy_and_listed_transactions_come_back() {
    const sender = wallet();
    const gasPrice = (await client.getGasPrice()) * 2n;
    const legacy = await mined(sender.sendTransaction({ to: stranger(), value: 1n, type: "legacy", gasPrice }));
    const listed = await mined(sender.sendTransaction({ to: stranger(), value: 1n, type: "eip2930", gasPrice, accessList: [{ address: given.token, storageKeys: [ABSENT] }] }));
    const shown = await Promise.all([legacy, listed].map(({ transactionHash: hash }) => client.getTransaction({ hash })));
    return [legacy.type, listed.type, shown[0].gasPrice === gasPrice, shown[1].accessList.length, shown[0].typeHex];
  },
  async transaction_shows_what_was_sent() {
    const sender = wallet();
    const { transactionHash: hash } = await mined(sender.sendTransaction({ to: stranger(), value: 3n, data: "0x0102" }));
    const shown = await client.getTransaction({ hash });
    return [shown.type, String(shown.value), shown.input, shown.nonce, shown.from === sender.account.address.toLowerCase() || shown.from === sender.account.address, shown.yParity in [0, 1]];
  },
  async transaction_of_a_block_by_place() {
    const receipt = await mined(wallet().sendTransaction({ to: stranger(), value: 3n }));
    const shown = await client.getTransaction({ blockHash: receipt.blockHash, index: 0 });
    return [shown.hash === receipt.transactionHash, await client.getBlockTransactionCount({ blockNumber: receipt.blockNumber })];
  },
  async confirmations_are_counted() {
    const { transactionHash: hash } = await mined(wallet().sendTransaction({ to: stranger(), value: 3n }));
    return (await client.getTransactionConfirmations({ hash })) >= 1n;
  },
  async unknown_transaction_is_not_found() {
    return [await names(client.getTransaction({ hash: ABSENT })), await names(client.getTransactionReceipt({ hash: ABSENT })), await names(client.getBlock({ blockHash: ABSENT }))];
  },
  async block_with_transactions() {
    const receipt = await mined(wallet().sendTransaction({ to: stranger(), value: 3n }));
    const block = await client.getBlock({ blockNumber: receipt.blockNumber, includeTransactions: true });
    return [block.transactions.map((each) => String(each.value)), block.gasUsed === receipt.gasUsed, block.baseFeePerGas !== null, block.logsBloom === receipt.logsBloom];
  },
  async blocks_by_tag() {
    const [latest, safe, pending, earliest] = await Promise.all(["latest", "safe", "pending", "earliest"].map((blockTag) => client.getBlock({ blockTag })));
    return [safe.number <= latest.number, pending.number > latest.number, String(earliest.number)];
  },
  async count_of_pending_runs_ahead_of_latest() {
    const sender = wallet();
    const address = sender.account.address;
    await sender.sendTransaction({ to: stranger(), value: 1n, nonce: 1 });
    return [await client.getTransactionCount({ address }), await client.getTransactionCount({ address, blockTag: "pending" })];
  },
  async used_nonce_is_told() {
    const sender = wallet();
    await mined(sender.sendTransaction({ to: stranger(), value: 1n }));
    return (await names(sender.sendTransaction({ to: stranger(), value: 1n, nonce: 0 }))).includes("NonceTooLowError");
  },
  async money_that_is_not_there_is_told() {
    return (await names(wallet().sendTransaction({ to: stranger(), value: parseEther("9"), gas: 21000n }))).includes("InsufficientFundsError");
  },
  async money_that_is_not_there_is_told_by_an_estimate() {
    const who = wallet();
    return (await names(client.estimateGas({ account: who.account, to: stranger(), value: parseEther("9") }))).slice(0, 1);
  },
  async empty_wallet_is_told() {
    return (await names(poor().sendTransaction({ to: stranger(), value: 1n, gas: 21000n }))).includes("InsufficientFundsError");
  },
  async tip_above_the_fee_is_told() {
    return (await names(wallet().sendTransaction({ to: stranger(), maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 11n, gas: 21000n }))).slice(-1);
  },
  async too_little_gas_is_told() {
    const answer = await names(wallet().sendTransaction({ to: stranger(), value: 1n, gas: 20000n }));
    return answer.includes("IntrinsicGasTooLowError");
  },
  async replacement_is_seen_while_waiting() {
    const sender = wallet();
    const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas();
    const [fee, tip] = [maxFeePerGas * 2n, maxPriorityFeePerGas + 10n ** 9n];
    const [to, other] = [stranger(), stranger()];
    const hash = await sender.sendTransaction({ to, value: 1n, nonce: 1, maxFeePerGas: fee, maxPriorityFeePerGas: tip, gas: 21000n });
    const seen = [];
    const waiting = client.waitForTransactionReceipt({ hash, timeout: 20_000, onReplaced: ({ reason: why }) => seen.push(why) });
    await pause(300);
    const second = await sender.sendTransaction({ to: other, value: 2n, nonce: 1, maxFeePerGas: fee * 2n, maxPriorityFeePerGas: tip * 2n, gas: 21000n });
    await mined(sender.sendTransaction({ to, value: 1n, nonce: 0, gas: 21000n, maxFeePerGas: fee, maxPriorityFeePerGas: tip }));
    const receipt = await waiting;
    return [seen, receipt.transactionHash === second];
  },
  async underpriced_replacement_is_refused() {
    const sender = wallet();
    const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n, gas: 21000n };
    await sender.sendTransaction({ to: stranger(), value: 1n, nonce: 1, ...fees });
    return (await names(sender.sendTransaction({ to: stranger(), value: 2n, nonce: 1, ...fees }))) !== "no error";
  },
  async token_reads() {
    return [typeof (await read("name")), typeof (await read("symbol")), await read("decimals"), String((await read("balanceOf", [wallet().account.address])) / UNIT)];
  },
  async simulated_transfer_can_be_written() {
    const [sender, to] = [wallet(), stranger()];
    const { request, result } = await client.simulateContract({ account: sender.account, address: given.token, abi, functionName: "transfer", args: [to, 5n] });
    const receipt = await mined(sender.writeContract(request));
    const [log] = parseEventLogs({ abi, logs: receipt.logs });
    return [result, receipt.status, log.eventName, String(log.args.value), log.args.to === to, log.removed];
  },
  async simulation_tells_the_reason() {
    const sender = wallet();
    return reason(client.simulateContract({ account: sender.account, address: given.token, abi, functionName: "transfer", args: [stranger(), 10n ** 30n] }));
  },
  async write_that_fails_tells_the_reason() {
    return reason(write(wallet(), "transfer", [stranger(), 10n ** 30n]));
  },
  async estimate_that_fails_tells_the_reason() {
    const who = wallet();
    return reason(client.estimateContractGas({ account: who.account, address: given.token, abi, functionName: "transfer", args: [stranger(), 10n ** 30n] }));
  },
  async write_with_gas_is_mined_and_reverted() {
    const receipt = await mined(write(wallet(), "transfer", [stranger(), 10n ** 30n], { gas: 100_000n }));
    return [receipt.status, receipt.logs.length];
  },
  async allowance_is_needed_and_taken() {
    const [owner, spender, to] = [wallet(), wallet(), nobody()];
    const before = await reason(write(spender, "transferFrom", [owner.account.address, to, 4n]));
    await mined(write(owner, "approve", [spender.account.address, 10n]));
    const receipt = await mined(write(spender, "transferFrom", [owner.account.address, to, 4n]));
    return [before, receipt.status, String(await read("allowance", [owner.account.address, spender.account.address])), String(await read("balanceOf", [to]))];
  },
  async absent_function_is_told() {
    return (await names(read("absent"))).slice(0, 2);
  },
  async read_of_a_wallet_has_no_data() {
    return names(client.readContract({ address: stranger(), abi, functionName: "balanceOf", args: [given.token] }));
  },
  async multicall_reads_many() {
    const who = wallet().account.address;
    const contracts = [["decimals", []], ["balanceOf", [who]], ["absent", []]].map(([functionName, args]) => ({ address: given.token, abi, functionName, args }));
    const results = await client.multicall({ contracts });
    return results.map((each) => [each.status, each.status === "success" ? String(each.result) : each.error.name]);
  },
  async batch_is_one_request() {
    const [number, balance, id, failed] = await Promise.all([batching.getBlockNumber(), batching.getBalance({ address: given.token }), batching.getChainId(), names(batching.request({ method: "eth_foo" }))]);
    return [typeof number, typeof balance, id === given.chainId, failed];
  },
  async unknown_method_is_told() {
    return names(client.request({ method: "eth_foo" }));
  },
  async logs_by_arguments() {
    const [sender, to] = [wallet(), stranger()];
    const first = await mined(write(sender, "transfer", [to, 1n]));
    await mined(write(sender, "transfer", [to, 2n]));
    const logs = await client.getContractEvents({ address: given.token, abi, eventName: "Transfer", args: { to }, fromBlock: first.blockNumber, toBlock: "latest" });
    return logs.map((log) => [String(log.args.value), log.removed, typeof log.blockHash]);
  },
  async logs_of_many_topics() {
    const [sender, one, two] = [wallet(), stranger(), stranger()];
    const first = await mined(write(sender, "transfer", [one, 1n]));
    await mined(write(sender, "transfer", [two, 2n]));
    const logs = await client.getContractEvents({ address: given.token, abi, eventName: "Transfer", args: { to: [one, two] }, fromBlock: first.blockNumber });
    return logs.length;
  },
  async watched_event_comes_once() {
    const [sender, to] = [wallet(), stranger()];
    const seen = [];
    const stop = client.watchContractEvent({ address: given.token, abi, eventName: "Transfer", args: { to }, onLogs: (logs) => logs.forEach((log) => seen.push(String(log.args.value))) });
    await pause(300);
    for (const amount of [1n, 2n]) await mined(write(sender, "transfer", [to, amount]));
    await until(() => seen.length >= 2);
    await pause(150);
    stop();
    return seen;
  },
  async polled_event_comes_once() {
    const [sender, to] = [wallet(), stranger()];
    const seen = [];
    const stop = client.watchContractEvent({ address: given.token, abi, eventName: "Transfer", args: { to }, poll: true, fromBlock: await client.getBlockNumber(), onLogs: (logs) => logs.forEach((log) => seen.push(String(log.args.value))) });
    await pause(300);
    await mined(write(sender, "transfer", [to, 7n]));
    await until(() => seen.length);
    await pause(150);
    stop();
    return seen;
  },
  async watched_blocks_rise() {
    const numbers = [];
    const stop = client.watchBlockNumber({ onBlockNumber: (number) => numbers.push(number) });
    await pause(150);
    const receipt = await mined(wallet().sendTransaction({ to: stranger(), value: 1n }));
    await until(() => numbers.some((number) => number >= receipt.blockNumber));
    stop();
    return [numbers.some((number) => number >= receipt.blockNumber), numbers.every((number, at) => !at || number > numbers[at - 1])];
  },
  async filter_of_events() {
    const [sender, to] = [wallet(), stranger()];
    const filter = await client.createContractEventFilter({ address: given.token, abi, eventName: "Transfer", args: { to } });
    await mined(write(sender, "transfer", [to, 7n]));
    const first = await client.getFilterChanges({ filter });
    const second = await client.getFilterChanges({ filter });
    return [first.length, second.length, (await client.getFilterLogs({ filter })).length, await client.uninstallFilter({ filter })];
  },
  async filter_of_blocks() {
    const filter = await client.createBlockFilter();
    const receipt = await mined(wallet().sendTransaction({ to: stranger(), value: 1n }));
    return (await client.getFilterChanges({ filter })).includes(receipt.blockHash);
  },
  async history_of_a_balance() {
    const [sender, to] = [wallet(), nobody()];
    const receipt = await mined(write(sender, "transfer", [to, 5n]));
    return [String(await read("balanceOf", [to], { blockNumber: receipt.blockNumber })), String(await read("balanceOf", [sender.account.address], { blockNumber: receipt.blockNumber - 1n }))];
  },
  async vault_needs_an_allowance() {
    return reason(wallet().writeContract({ address: given.proxy, abi: vaultAbi, functionName: "vaultOut", args: [given.token, 10n * UNIT, false, given.order] }));
  },
  async vault_logs_the_order() {
    const sender = wallet();
    await mined(write(sender, "approve", [given.proxy, 10n * UNIT]));
    const receipt = await mined(sender.writeContract({ address: given.proxy, abi: vaultAbi, functionName: "vaultOut", args: [given.token, 10n * UNIT, false, given.order] }));
    const logs = parseEventLogs({ abi: vaultAbi, logs: receipt.logs });
    return [receipt.status, logs.length, String(logs[0].args.amount / UNIT), logs[0].args.from === sender.account.address];
  },
  async vault_wants_its_value() {
    return reason(wallet().writeContract({ address: given.proxy, abi: vaultAbi, functionName: "vaultOut", args: [NATIVE, UNIT / 10n, false, given.order], value: 4n }));
  },
  async code_and_storage_read() {
    return [(await client.getCode({ address: given.token })) !== undefined, (await client.getCode({ address: wallet().account.address })) ?? null, (await client.getStorageAt({ address: stranger(), slot: "0x0" }))];
  },
  async balance_that_was_set_is_read() {
    const address = stranger();
    await test.setBalance({ address, value: 77n });
    return String(await client.getBalance({ address }));
  },
  async estimate_counts_the_access_list() {
    const { account } = wallet();
    const accessList = [{ address: given.token, storageKeys: [ABSENT, `0x${"34".repeat(32)}`] }];
    return String(await client.estimateGas({ account, to: nobody(), value: 1n, accessList }));
  },
  async estimate_counts_bytes_of_data() {
    const { account } = wallet();
    return String(await client.estimateGas({ account, to: nobody(), value: 1n, data: "0x00010203" }));
  },
};

// A payout of the service, on the chain of arrival; a development chain has none.
const { payout } = given;
const arrival = payout && createPublicClient({ transport: http(payout.url, { retryCount: 0 }), pollingInterval: 40, cacheTime: 0 });
if (payout)
  Object.assign(behaviours, {
    async payout_has_a_receipt() {
      const receipt = await arrival.waitForTransactionReceipt({ hash: payout.hash, timeout: 20_000 });
      const [event] = parseEventLogs({ abi, logs: receipt.logs });
      return [receipt.status, event.eventName, String(event.args.value) === payout.amount, event.args.to === payout.recipient];
    },
    async payout_is_a_transaction_of_its_block() {
      const shown = await arrival.getTransaction({ hash: payout.hash });
      const block = await arrival.getBlock({ blockHash: shown.blockHash });
      return [block.transactions.includes(payout.hash), shown.from !== payout.recipient];
    },
    async payout_is_in_the_balance() {
      return String(await arrival.readContract({ address: payout.token, abi, functionName: "balanceOf", args: [payout.recipient] })) === payout.amount;
    },
  });

const answers = {};
for (const [name, behaviour] of Object.entries(behaviours)) {
  try {
    answers[name] = (await behaviour()) ?? null;
  } catch (error) {
    answers[name] = `failed: ${String(error.shortMessage ?? error.message).slice(0, 300)}`;
  }
}
process.stdout.write(JSON.stringify(answers, (_, value) => (typeof value === "bigint" ? String(value) : value)));
process.exit(0);
