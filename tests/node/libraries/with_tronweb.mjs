// What a user of TronWeb does with what the vendor's SDK returns for Tron: approve, then vaultOut.
// `node with_tronweb.mjs given.json` prints what was seen, as JSON.
import { readFileSync } from 'node:fs'
import { TronWeb } from 'tronweb'

const given = JSON.parse(readFileSync(process.argv[2], 'utf-8'))
const web = new TronWeb({ fullHost: given.url, privateKey: given.key })
const me = web.defaultAddress.base58

const address = (name) => ({ name, type: 'address' })
const amount = { name: 'amount', type: 'uint256' }
const view = (name, inputs, type) =>
  ({ type: 'function', name, stateMutability: 'view', inputs, outputs: [{ name: '', type }] })
const does = (name, inputs) =>
  ({ type: 'function', name, stateMutability: 'nonpayable', inputs, outputs: [{ name: '', type: 'bool' }] })
const token = web.contract([
  view('balanceOf', [address('owner')], 'uint256'),
  view('allowance', [address('owner'), address('spender')], 'uint256'),
  view('decimals', [], 'uint8'),
  does('approve', [address('spender'), amount]),
  does('transfer', [address('to'), amount]),
], given.token)
const proxy = web.contract([{
  type: 'function', name: 'vaultOut', stateMutability: 'payable', outputs: [],
  inputs: [address('token'), amount, { name: 'burnable', type: 'bool' }, { name: 'order', type: 'bytes' }],
}], given.proxy)

const error = async (doing) => {
  try { return await doing() } catch (problem) { return String(problem.message ?? problem) }
}
const limit = { feeLimit: 150_000_000 }
const seen = {}

const before = await token.balanceOf(me).call()
seen.decimals = String(await token.decimals().call())
const pays = () => proxy.vaultOut(given.token, 25_000_000, false, given.order).send(limit)
seen.unapproved = (await web.trx.getTransactionInfo(await pays())).receipt.result
await token.approve(given.proxy, 25_000_000).send(limit)
seen.allowance = String(await token.allowance(me, given.proxy).call())
const info = await web.trx.getTransactionInfo(await pays())
seen.paid = [info.receipt.result, info.log.length]
seen.moved = String(before - await token.balanceOf(me).call())
seen.tooMuch = await error(() => token.transfer(given.proxy, 10n ** 15n).send({ ...limit, shouldPollResponse: true }))

const coins = await web.trx.getBalance(me)
const sent = await web.trx.sendTransaction(given.vault, 1_000_000)
seen.coins = coins - await web.trx.getBalance(me)
seen.sent = (await web.trx.getTransaction(sent.txid)).ret
seen.again = (await web.trx.sendRawTransaction(sent.transaction)).code
seen.poor = await error(async () => (await web.trx.sendTransaction(given.vault, 10 ** 15)).code)
seen.height = (await web.trx.getCurrentBlock()).block_header.raw_data.number >= info.blockNumber
console.log(JSON.stringify(seen))
