"""Worlds as a server hosts them: created, dumped, and with the journal of their traffic.

`hosted.py` has a world with its snapshots, forks and dumps; `factory.py` creates one; `journal.py`
stores requests and answers; `audit/` looks for lost money, `lint/` for what will lose it;
`node/` answers wallets as the nodes of chains do, from what `announced_transactions.py` has taken.
"""
