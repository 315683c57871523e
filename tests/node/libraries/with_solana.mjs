// What a user of web3.js and spl-token does with what the vendor's SDK returns for Solana: a
// transfer to the vault with the order as its memo.
// `node with_solana.mjs given.json` prints what was seen, as JSON.
import { readFileSync } from 'node:fs'
import {
  Connection, Keypair, PublicKey, sendAndConfirmTransaction, SystemProgram, Transaction,
  TransactionInstruction, TransactionMessage, VersionedTransaction,
} from '@solana/web3.js'
import {
  createAssociatedTokenAccountIdempotentInstruction, createTransferCheckedInstruction, getAccount,
  getAssociatedTokenAddressSync, getMint,
} from '@solana/spl-token'

const given = JSON.parse(readFileSync(process.argv[2], 'utf-8'))
// web3.js looks for the WebSocket at the next port, unless it is told where it is.
const wsEndpoint = given.url.replace('http', 'ws')
const chain = new Connection(given.url, { commitment: 'confirmed', wsEndpoint })
const me = Keypair.fromSeed(Uint8Array.from(Buffer.from(given.seed, 'hex')))
const [vault, mint] = [new PublicKey(given.vault), new PublicKey(given.token)]
const mine = getAssociatedTokenAddressSync(mint, me.publicKey)
const theirs = getAssociatedTokenAddressSync(mint, vault, true)
const memo = new TransactionInstruction({
  keys: [], data: Buffer.from(given.order),
  programId: new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
})

const send = async (...instructions) => {
  const { blockhash, lastValidBlockHeight } = await chain.getLatestBlockhash()
  const made = new Transaction({ feePayer: me.publicKey, blockhash, lastValidBlockHeight })
  made.add(...instructions).sign(me)
  return chain.sendRawTransaction(made.serialize())
}
const confirmed = async (signature) => {
  for (let tries = 0; tries < 20; tries += 1) {
    const [status] = (await chain.getSignatureStatuses([signature])).value
    if (status?.confirmationStatus === 'confirmed') return status.err
  }
  return 'never'
}
const error = async (doing) => {
  try { return await doing() } catch (problem) { return problem.transactionMessage ?? problem.message }
}
const pays = (units, decimals = 6) =>
  createTransferCheckedInstruction(mine, mint, theirs, me.publicKey, units, decimals)
const seen = {}

seen.decimals = (await getMint(chain, mint)).decimals
await send(createAssociatedTokenAccountIdempotentInstruction(me.publicKey, mine, me.publicKey, mint))
const before = (await getAccount(chain, mine)).amount
const paid = await send(pays(25_000_000n), memo)
seen.confirmed = await confirmed(paid)
seen.moved = String(before - (await getAccount(chain, mine)).amount)
const read = await chain.getParsedTransaction(paid, { maxSupportedTransactionVersion: 0 })
seen.read = read.transaction.message.instructions.map((each) => each.parsed.type ?? 'memo')
seen.balances = read.meta.postTokenBalances.length
seen.tooMuch = await error(() => send(pays(10n ** 15n)))
seen.decimalsRefused = await error(() => send(pays(1n, 9)))
seen.held = (await chain.getParsedTokenAccountsByOwner(me.publicKey, { mint })).value.length

const coins = SystemProgram.transfer({ fromPubkey: me.publicKey, toPubkey: vault, lamports: 5 })
const { blockhash } = await chain.getLatestBlockhash()
const versioned = new VersionedTransaction(new TransactionMessage({
  payerKey: me.publicKey, recentBlockhash: blockhash, instructions: [coins],
}).compileToV0Message())
seen.fee = (await chain.getFeeForMessage(versioned.message)).value
seen.simulated = (await chain.simulateTransaction(versioned)).value.err
versioned.sign([me])
const lamports = await chain.getBalance(me.publicKey)
const sent = await chain.sendTransaction(versioned)
seen.paid = lamports - await chain.getBalance(me.publicKey)
seen.version = (await chain.getTransaction(sent, { maxSupportedTransactionVersion: 0 })).version
seen.again = await error(() => chain.sendTransaction(versioned))
seen.listed = (await chain.getSignaturesForAddress(me.publicKey)).map((each) => each.signature)[0] === sent
seen.block = (await chain.getBlock(await chain.getSlot(), { maxSupportedTransactionVersion: 0 })) !== null

const slots = []
const listening = chain.onSlotChange((each) => slots.push(each.slot))
const changed = new Promise((resolve) => chain.onAccountChange(vault, (each) => resolve(each.lamports)))
const held = await chain.getBalance(vault)
// Until it is told of the account, a transfer would not be a change.
while (slots.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
const more = SystemProgram.transfer({ fromPubkey: me.publicKey, toPubkey: vault, lamports: 7 })
const settled = await sendAndConfirmTransaction(chain, new Transaction().add(more), [me])
seen.settled = (await chain.getSignatureStatuses([settled])).value[0].confirmationStatus
const latest = await chain.getLatestBlockhash()
seen.confirmedBySocket = (await chain.confirmTransaction({ signature: settled, ...latest })).value.err
seen.accountChanged = (await changed) - held
await chain.removeSlotChangeListener(listening)
console.log(JSON.stringify(seen))
process.exit(0)
