// What a user of ethers 6 sees of a chain, a function each; prints all answers as one JSON object.
// Argument: a JSON file with the chain's address, contracts and the keys of funded and empty wallets.
import { readFileSync } from "node:fs";
import {
  AbiCoder, Contract, Interface, JsonRpcProvider, Transaction, Wallet, ZeroAddress,
  formatEther, formatUnits, id, isError, parseEther, parseUnits, toBeHex,
} from "ethers";

const given = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const ERC20 = [
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function totalSupply() view returns (uint256)",
  "function balanceOf(address) view returns (uint256)",
  "function allowance(address,address) view returns (uint256)",
  "function transfer(address,uint256) returns (bool)",
  "function approve(address,uint256) returns (bool)",
  "function transferFrom(address,address,uint256) returns (bool)",
  "function absent() view returns (uint256)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
];
const PROXY = [
  "function orderID() view returns (uint256)",
  "function vaultOut(address,uint256,bool,bytes) payable",
  "event LogVaultOut(address indexed token, address indexed from, uint256 indexed orderID, uint256 amount, address vault, bytes order)",
];
const NATIVE = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";
const ABSENT = "0x" + "12".repeat(32);
const UNIT = 10n ** 18n;

const provider = new JsonRpcProvider(given.url, undefined, { cacheTimeout: -1 });
provider.pollingInterval = 40;
const wallet = () => new Wallet(given.funded.shift(), provider);
const poor = () => new Wallet(given.empty.shift(), provider);
const stranger = () => Wallet.createRandom().address;
/** An address that owns nothing yet: at the mock, wallets that nobody named own what the scenario says. */
const nobody = () => new Wallet(given.empty.shift()).address;
const token = (runner = provider) => new Contract(given.token, ERC20, runner);
const proxy = (runner = provider) => new Contract(given.proxy, PROXY, runner);
const done = async (sending) => (await sending).wait(1, 20_000);
const within = (promise, what) =>
  Promise.race([promise, new Promise((_, no) => setTimeout(() => no(new Error(`no ${what}`)), 15_000))]);
/** What a user reads of an error: ethers' code, the reason of a revert, and the node's own code. */
const told = async (asked) => {
  try {
    await asked;
    return "no error";
  } catch (error) {
    const inner = error.info?.error ?? error.error;
    return [error.code, error.reason ?? null, inner?.code ?? null];
  }
};
const overrides = async () => {
  const { maxFeePerGas, maxPriorityFeePerGas } = await provider.getFeeData();
  return { maxFeePerGas: maxFeePerGas * 2n + 10n ** 9n, maxPriorityFeePerGas };
};

const behaviours = {
  async network_has_the_chain_id() {
    return String((await provider.getNetwork()).chainId) === String(given.chainId);
  },
  async fee_data_can_be_paid() {
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = await provider.getFeeData();
    return [gasPrice > 0n, maxFeePerGas > 0n, maxPriorityFeePerGas !== null];
  },
  async balance_reads_as_ether() {
    return formatEther(await provider.getBalance(wallet().address));
  },
  async payment_arrives() {
    const [sender, to] = [wallet(), nobody()];
    const receipt = await done(sender.sendTransaction({ to, value: 5n }));
    return [receipt.status, String(await provider.getBalance(to)), receipt.contractAddress];
  },
  async payment_costs_value_and_fee() {
    const sender = wallet();
    const before = await provider.getBalance(sender.address);
    const receipt = await done(sender.sendTransaction({ to: stranger(), value: 7n }));
    return before - (await provider.getBalance(sender.address)) === 7n + receipt.fee;
  },
  async payment_uses_21000_gas() {
    const receipt = await done(wallet().sendTransaction({ to: stranger(), value: 1n }));
    return [String(receipt.gasUsed), String(receipt.cumulativeGasUsed), receipt.logs.length];
  },
  async response_is_the_transaction_sent() {
    const sender = wallet();
    const sent = await sender.sendTransaction({ to: stranger(), value: 3n, data: "0x" });
    await sent.wait();
    const shown = await provider.getTransaction(sent.hash);
    return [shown.type, shown.from === sender.address, String(shown.value), shown.nonce, shown.data,
      shown.hash === sent.hash, shown.signature.serialized === sent.signature.serialized];
  },
  async shown_transaction_serializes_to_its_hash() {
    const receipt = await done(wallet().sendTransaction({ to: stranger(), value: 3n }));
    const shown = await provider.getTransaction(receipt.hash);
    return Transaction.from(shown).hash === receipt.hash;
  },
  async legacy_transaction_stays_legacy() {
    const receipt = await done(wallet().sendTransaction({ to: stranger(), value: 1n, type: 0 }));
    const shown = await provider.getTransaction(receipt.hash);
    return [shown.type, shown.maxFeePerGas, shown.gasPrice > 0n, receipt.type];
  },
  async access_list_transaction_keeps_its_list() {
    const accessList = [{ address: given.token, storageKeys: [ABSENT] }];
    const receipt = await done(wallet().sendTransaction({ to: stranger(), value: 1n, type: 1, accessList }));
    const shown = await provider.getTransaction(receipt.hash);
    return [shown.type, shown.accessList.length, shown.accessList[0].storageKeys];
  },
  async confirmations_rise_with_blocks() {
    const sender = wallet();
    const receipt = await done(sender.sendTransaction({ to: stranger(), value: 1n }));
    await done(sender.sendTransaction({ to: stranger(), value: 1n }));
    return (await receipt.confirmations()) >= 2;
  },
  async receipt_names_its_block() {
    const receipt = await done(wallet().sendTransaction({ to: stranger(), value: 1n }));
    const block = await receipt.getBlock();
    return [block.hash === receipt.blockHash, block.transactions.includes(receipt.hash), receipt.index];
  },
  async block_with_transactions_holds_them_prefetched() {
    const receipt = await done(wallet().sendTransaction({ to: stranger(), value: 9n }));
    const block = await provider.getBlock(receipt.blockNumber, true);
    return [String(block.getPrefetchedTransaction(receipt.hash).value), block.prefetchedTransactions.length];
  },
  async block_parents_hang_together() {
    const receipt = await done(wallet().sendTransaction({ to: stranger(), value: 1n }));
    const block = await provider.getBlock(receipt.blockNumber);
    const parent = await provider.getBlock(receipt.blockNumber - 1);
    return [block.parentHash === parent.hash, block.timestamp >= parent.timestamp, block.baseFeePerGas !== null];
  },
  async pending_block_can_be_read() {
    return (await provider.getBlock("pending")) !== null;
  },
  async finalized_block_is_not_after_latest() {
    return (await provider.getBlock("finalized")).number <= (await provider.getBlockNumber());
  },
  async unknown_things_are_null() {
    return [await provider.getTransaction(ABSENT), await provider.getTransactionReceipt(ABSENT),
      await provider.getBlock(ABSENT)];
  },
  async count_rises() {
    const sender = wallet();
    const before = await sender.getNonce();
    await done(sender.sendTransaction({ to: stranger(), value: 1n }));
    return [before, await sender.getNonce(), await provider.getTransactionCount(sender.address, "pending")];
  },
  async used_nonce_is_nonce_expired() {
    const sender = wallet();
    await done(sender.sendTransaction({ to: stranger(), value: 1n }));
    return (await told(sender.sendTransaction({ to: stranger(), value: 2n, nonce: 0 })))[0];
  },
  async nonce_with_a_gap_waits_and_then_goes() {
    const sender = wallet();
    const late = await sender.sendTransaction({ to: stranger(), value: 1n, nonce: 1 });
    const waiting = [await provider.getTransactionReceipt(late.hash), (await provider.getTransaction(late.hash)).blockNumber];
    await done(sender.sendTransaction({ to: stranger(), value: 1n, nonce: 0 }));
    return [waiting, (await late.wait(1, 20_000)).status, await sender.getNonce()];
  },
  async underpriced_replacement_says_so() {
    const sender = wallet();
    const fees = await overrides();
    await sender.sendTransaction({ to: stranger(), value: 1n, nonce: 1, ...fees });
    return (await told(sender.sendTransaction({ to: stranger(), value: 2n, nonce: 1, ...fees })))[0];
  },
  async replacement_is_seen_by_who_waits() {
    const sender = wallet();
    const fees = await overrides();
    const first = await sender.sendTransaction({ to: stranger(), value: 1n, nonce: 1, ...fees });
    const waiting = first.wait(1, 20_000).then(() => "mined", (error) => [error.code, error.reason, error.cancelled]);
    const higher = { maxFeePerGas: fees.maxFeePerGas * 2n, maxPriorityFeePerGas: fees.maxPriorityFeePerGas * 2n + 1n };
    const second = await sender.sendTransaction({ to: stranger(), value: 2n, nonce: 1, ...higher });
    await done(sender.sendTransaction({ to: stranger(), value: 1n, nonce: 0 }));
    await second.wait(1, 20_000);
    return [await provider.getTransaction(first.hash), await within(waiting, "replacement")];
  },
  async many_transactions_in_a_row() {
    const sender = wallet();
    const sent = [];
    for (let nonce = 0; nonce < 5; nonce++)
      sent.push(await sender.sendTransaction({ to: stranger(), value: 1n, nonce }));
    const receipts = await Promise.all(sent.map((each) => each.wait(1, 20_000)));
    const numbers = receipts.map((each) => each.blockNumber);
    return [receipts.every((each) => each.status === 1), numbers.every((each, at) => !at || each >= numbers[at - 1])];
  },
  async too_little_money_is_insufficient_funds() {
    return (await told(wallet().sendTransaction({ to: stranger(), value: parseEther("5"), gasLimit: 21000n })))[0];
  },
  async estimate_of_too_much_is_insufficient_funds() {
    return (await told(wallet().estimateGas({ to: stranger(), value: parseEther("5") })))[0];
  },
  async empty_wallet_is_insufficient_funds() {
    return (await told(poor().sendTransaction({ to: stranger(), value: 1n, gasLimit: 21000n })))[0];
  },
  async metadata_of_the_token() {
    const contract = token();
    return [typeof (await contract.name()), typeof (await contract.symbol()), String(await contract.decimals()),
      (await contract.totalSupply()) > 0n];
  },
  async token_balance_reads() {
    return formatUnits(await token().balanceOf(wallet().address), 18);
  },
  async token_transfer_tells_its_log() {
    const [sender, to] = [wallet(), stranger()];
    const receipt = await done(token(sender).transfer(to, 5n * UNIT));
    const [log] = receipt.logs;
    return [receipt.logs.length, log.fragment.name, log.args.from === sender.address, log.args.to === to,
      String(log.args.value), log.index, log.removed, String((await token().balanceOf(sender.address)) / UNIT)];
  },
  async transfer_beyond_the_balance_reverts_before_sending() {
    const answer = await told(token(wallet()).transfer(stranger(), 10n ** 30n));
    return answer.slice(0, 2);
  },
  async transfer_beyond_the_balance_mined_has_status_0() {
    const sender = wallet();
    const sent = await token(sender).transfer(stranger(), 10n ** 30n, { gasLimit: 100_000n });
    try {
      await sent.wait(1, 20_000);
      return "no error";
    } catch (error) {
      return [error.code, error.receipt.status, error.receipt.logs.length, error.receipt.gasUsed > 21000n];
    }
  },
  async static_call_of_a_transfer() {
    return token(wallet()).transfer.staticCall(stranger(), 1n);
  },
  async static_call_reverts_with_the_reason() {
    return (await told(token(wallet()).transfer.staticCall(stranger(), 10n ** 30n))).slice(0, 2);
  },
  async revert_can_be_read_as_error_of_solidity() {
    try {
      await token(wallet()).transfer.staticCall(stranger(), 10n ** 30n);
    } catch (error) {
      return [error.revert?.name, error.revert?.signature, error.data?.slice(0, 10)];
    }
  },
  async approval_and_allowance() {
    const [owner, spender] = [wallet(), stranger()];
    const receipt = await done(token(owner).approve(spender, 11n));
    return [receipt.logs[0].fragment.name, String(await token().allowance(owner.address, spender))];
  },
  async transfer_from_needs_an_allowance() {
    const [owner, spender] = [wallet(), wallet()];
    return (await told(token(spender).transferFrom(owner.address, spender.address, 5n))).slice(0, 2);
  },
  async transfer_from_takes_the_allowance() {
    const [owner, spender, to] = [wallet(), wallet(), stranger()];
    await done(token(owner).approve(spender.address, 10n));
    const receipt = await done(token(spender).transferFrom(owner.address, to, 4n));
    const left = await token().allowance(owner.address, spender.address);
    const moved = receipt.logs.map((log) => log.fragment.name);
    return [receipt.status, String(left), moved.includes("Transfer")];
  },
  async query_filter_finds_transfers() {
    const [sender, to] = [wallet(), stranger()];
    const first = await done(token(sender).transfer(to, 1n));
    await done(token(sender).transfer(to, 2n));
    const events = await token().queryFilter(token().filters.Transfer(sender.address), first.blockNumber, "latest");
    return events.map((event) => [event.eventName, String(event.args.value), event.args.to === to]);
  },
  async logs_of_one_block() {
    const sender = wallet();
    const receipt = await done(token(sender).transfer(stranger(), 1n));
    return (await provider.getLogs({ address: given.token, blockHash: receipt.blockHash })).map((log) => [log.index, log.transactionHash === receipt.hash]);
  },
  async listener_hears_each_transfer_once() {
    const [sender, to] = [wallet(), stranger()];
    const contract = token();
    const heard = [];
    const filter = contract.filters.Transfer(null, to);
    await contract.on(filter, (event) => heard.push(String(event.args.value)));
    await new Promise((yes) => setTimeout(yes, 200));
    for (const amount of [1n, 2n, 3n]) await done(token(sender).transfer(to, amount));
    const until = Date.now() + 10_000;
    while (heard.length < 3 && Date.now() < until) await new Promise((yes) => setTimeout(yes, 50));
    await new Promise((yes) => setTimeout(yes, 200));
    await contract.removeAllListeners();
    return heard;
  },
  async provider_listener_hears_raw_logs() {
    const [sender, to] = [wallet(), stranger()];
    const filter = { address: given.token, topics: [id("Transfer(address,address,uint256)"), null, "0x" + to.slice(2).toLowerCase().padStart(64, "0")] };
    const heard = [];
    await provider.on(filter, (log) => heard.push(log.transactionHash));
    await new Promise((yes) => setTimeout(yes, 200));
    const receipt = await done(token(sender).transfer(to, 1n));
    const until = Date.now() + 10_000;
    while (!heard.length && Date.now() < until) await new Promise((yes) => setTimeout(yes, 50));
    await provider.off(filter);
    return heard.length === 1 && heard[0] === receipt.hash;
  },
  async block_listener_hears_the_block_of_a_payment() {
    const sender = wallet();
    const numbers = [];
    const listener = (number) => numbers.push(number);
    await provider.on("block", listener);
    await new Promise((yes) => setTimeout(yes, 200));
    const receipt = await done(sender.sendTransaction({ to: stranger(), value: 1n }));
    const until = Date.now() + 10_000;
    while (!numbers.includes(receipt.blockNumber) && Date.now() < until) await new Promise((yes) => setTimeout(yes, 50));
    await provider.off("block", listener);
    return [numbers.includes(receipt.blockNumber), new Set(numbers).size === numbers.length];
  },
  async transaction_listener_hears_the_receipt() {
    const sender = wallet();
    const late = await sender.sendTransaction({ to: stranger(), value: 1n, nonce: 1 });
    const heard = new Promise((yes) => provider.once(late.hash, yes));
    await done(sender.sendTransaction({ to: stranger(), value: 1n, nonce: 0 }));
    return (await within(heard, "receipt")).status;
  },
  async wait_for_transaction_of_a_hash() {
    const sent = await wallet().sendTransaction({ to: stranger(), value: 1n });
    return (await provider.waitForTransaction(sent.hash, 1, 20_000)).status;
  },
  async wait_that_is_too_long_times_out() {
    return (await told(provider.waitForTransaction(ABSENT, 1, 300)))[0];
  },
  async absent_function_has_no_answer() {
    return (await told(token().absent()))[0];
  },
  async call_of_a_wallet_cannot_be_decoded() {
    return (await told(new Contract(stranger(), ERC20, provider).balanceOf(given.token)))[0];
  },
  async code_and_storage() {
    return [(await provider.getCode(given.token)).length > 2, await provider.getCode(wallet().address),
      await provider.getStorage(wallet().address, 0)];
  },
  async vault_without_allowance_reverts() {
    return (await told(proxy(wallet()).vaultOut(given.token, 10n * UNIT, false, given.order))).slice(0, 2);
  },
  async vault_takes_tokens_and_logs_the_order() {
    const sender = wallet();
    await done(token(sender).approve(given.proxy, 10n * UNIT));
    const receipt = await done(proxy(sender).vaultOut(given.token, 10n * UNIT, false, given.order));
    const parsed = receipt.logs.map((log) => new Interface([...PROXY, ...ERC20].filter((each) => each.startsWith("event"))).parseLog(log)?.name);
    return [receipt.status, parsed.filter((name) => name === "LogVaultOut").length, parsed.includes("Transfer"),
      String((await token().balanceOf(sender.address)) / UNIT)];
  },
  async vault_takes_coins() {
    const sender = wallet();
    const receipt = await done(proxy(sender).vaultOut(NATIVE, UNIT / 10n, false, given.order, { value: UNIT / 10n }));
    return receipt.status;
  },
  async vault_refuses_another_value() {
    return (await told(proxy(wallet()).vaultOut(NATIVE, UNIT / 10n, false, given.order, { value: 4n }))).slice(0, 2);
  },
  async batch_of_calls_is_one_request() {
    const many = await Promise.all([provider.getBlockNumber(), provider.getBalance(given.token), token().decimals(),
      told(provider.send("eth_foo", []))]);
    return [typeof many[0], typeof many[1], String(many[2]), many[3][0]];
  },
  async unknown_method_is_told() {
    return (await told(provider.send("eth_foo", [])))[0];
  },
  async broadcast_of_rubbish_is_refused() {
    return (await told(provider.send("eth_sendRawTransaction", ["0x1234"]))) !== "no error";
  },
  async broadcast_for_another_chain_is_refused() {
    const sender = wallet();
    const raw = await sender.signTransaction({ to: stranger(), value: 1n, nonce: 0, gasLimit: 21000n, gasPrice: 10n ** 11n, chainId: 4n, type: 0 });
    return (await told(provider.broadcastTransaction(raw))) !== "no error";
  },
  async same_bytes_again_are_refused() {
    const sender = wallet();
    const raw = await sender.signTransaction({ to: stranger(), value: 1n, nonce: 0, gasLimit: 21000n, gasPrice: 10n ** 11n, chainId: given.chainId, type: 0 });
    await done(provider.broadcastTransaction(raw));
    return (await told(provider.broadcastTransaction(raw)))[0];
  },
  async estimate_is_enough_for_a_transfer() {
    const [sender, to] = [wallet(), stranger()];
    const gasLimit = await token(sender).transfer.estimateGas(to, 1n);
    return (await done(token(sender).transfer(to, 1n, { gasLimit }))).status;
  },
  async balance_at_the_block_before() {
    const [sender, to] = [wallet(), nobody()];
    const receipt = await done(sender.sendTransaction({ to, value: 5n }));
    return [String(await provider.getBalance(to, receipt.blockNumber - 1)), String(await provider.getBalance(to, receipt.blockNumber))];
  },
  async call_at_the_block_before() {
    const [sender, to] = [wallet(), nobody()];
    const receipt = await done(token(sender).transfer(to, 5n));
    return [String(await token().balanceOf(to, { blockTag: receipt.blockNumber })),
      (await token().balanceOf(sender.address, { blockTag: receipt.blockNumber - 1 })) === 1000n * UNIT];
  },
};

// A payout of the service, on the chain of arrival; a development chain has none.
const { payout } = given;
const arrival = payout && new JsonRpcProvider(payout.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
if (payout)
  Object.assign(behaviours, {
    async payout_has_a_receipt() {
      const receipt = await arrival.getTransactionReceipt(payout.hash);
      return [receipt.status, receipt.logs.length > 0, (await receipt.confirmations()) >= 1];
    },
    async payout_is_a_transaction_of_its_block() {
      const shown = await arrival.getTransaction(payout.hash);
      return [(await shown.getBlock()).transactions.includes(payout.hash), shown.to !== null];
    },
    async payout_is_a_transfer_to_the_recipient() {
      const contract = new Contract(payout.token, ERC20, arrival);
      const events = await contract.queryFilter(contract.filters.Transfer(null, payout.recipient), 0);
      return events.map((event) => [event.transactionHash === payout.hash, String(event.args.value) === payout.amount]);
    },
    async payout_is_in_the_balance() {
      const contract = new Contract(payout.token, ERC20, arrival);
      return String(await contract.balanceOf(payout.recipient)) === payout.amount;
    },
    async payout_can_be_waited_for() {
      return (await arrival.waitForTransaction(payout.hash, 1, 20_000)).status;
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
