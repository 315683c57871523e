"""Keccak-256 as Ethereum has it: SHA-3 before its padding was changed, so that hashlib lacks it."""

_RATE = 136
_MASK = (1 << 64) - 1


def keccak256(data: bytes) -> bytes:
    """Return the 32 bytes of the hash."""
    padded = bytearray(data)
    padded += bytes(_RATE - len(data) % _RATE)
    padded[len(data)] ^= 0x01
    padded[-1] ^= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), _RATE):
        for place in range(_RATE // 8):
            begin = start + 8 * place
            lanes[place] ^= int.from_bytes(padded[begin : begin + 8], "little")
        lanes = _permuted(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def _permuted(lanes: list[int]) -> list[int]:
    """Return the state after 24 rounds; lane (x, y) lies at x + 5 * y."""
    for constant in _CONSTANTS:
        columns = [
            lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
            for x in range(5)
        ]
        mixed = [columns[x - 1] ^ _turned(columns[(x + 1) % 5], 1) for x in range(5)]
        moved = [_turned(lanes[came] ^ mixed[came % 5], by) for came, by in _MOVES]
        lanes = [
            moved[place] ^ (~moved[one] & moved[two] & _MASK) for place, one, two in _NEIGHBOURS
        ]
        lanes[0] ^= constant
    return lanes


def _turned(lane: int, by: int) -> int:
    return (lane << by | lane >> (64 - by)) & _MASK


def _moves() -> list[tuple[int, int]]:
    """Return for each place the lane that comes there, and how far it is turned on its way."""
    turns = [0] * 25
    x, y = 1, 0
    for step in range(24):
        turns[x + 5 * y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    moves = [(0, 0)] * 25
    for came in range(25):
        x, y = came % 5, came // 5
        moves[y + 5 * ((2 * x + 3 * y) % 5)] = (came, turns[came])
    return moves


def _constants() -> list[int]:
    """Return the constants of the rounds, from the shift register that defines them."""
    found, register = [], 1
    for _ in range(24):
        constant = 0
        for bit in range(7):
            constant |= (register & 1) << ((1 << bit) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        found.append(constant)
    return found


_MOVES = _moves()
_CONSTANTS = _constants()
_NEIGHBOURS = [
    (place, place - place % 5 + (place + 1) % 5, place - place % 5 + (place + 2) % 5)
    for place in range(25)
]
