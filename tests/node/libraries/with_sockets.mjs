// What users of ethers 6 and viem hear of a node over its WebSocket.
// `node with_sockets.mjs given.json` prints what was seen, as JSON.
import { readFileSync } from 'node:fs'
import { Contract, Wallet, WebSocketProvider } from 'ethers'
import { createPublicClient, webSocket } from 'viem'

const given = JSON.parse(readFileSync(process.argv[2], 'utf-8'))
const url = given.url.replace('http', 'ws')
const provider = new WebSocketProvider(url)
const me = new Wallet(given.key, provider)
const abi = [
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'function transfer(address, uint256) returns (bool)',
]
const token = new Contract(given.token, abi, me)
const [seen, told, pending] = [{}, [], []]
await token.on('Transfer', (from, to, value) => told.push([from === me.address, String(value)]))
await provider.on('pending', (hash) => pending.push(hash))

const paid = await token.transfer('0x' + '37'.repeat(20), 5n)
seen.status = (await paid.wait(1, 30_000)).status
// The clock stands: a listener for blocks brings them, as polls do.
seen.deep = (await (await paid.wait(3, 30_000)).confirmations()) >= 3
seen.told = told
seen.pending = pending.map((hash) => hash === paid.hash)

const client = createPublicClient({ transport: webSocket(url) })
const watched = new Promise((resolve, reject) => {
  client.watchBlocks({ onBlock: (block) => resolve(typeof block.number), onError: reject })
})
seen.watched = await watched
console.log(JSON.stringify(seen))
process.exit(0)
