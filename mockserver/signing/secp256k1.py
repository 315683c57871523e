"""The curve secp256k1 in plain Python: ECDSA with recovery, and the points of Schnorr signatures.

For test wallets: who can measure its time learns something of a key.
"""

import hmac

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)

Point = tuple[int, int]
_Jacobian = tuple[int, int, int]
_NOWHERE = (0, 1, 0)


def public_key(secret: int) -> Point:
    """Return the point of a private key. Raises `ValueError` for a number that is none."""
    point = combined((G, secret)) if 0 < secret < N else None
    if point is None:
        raise ValueError("a private key is a number from 1 to the order of the curve less 1")
    return point


def signed(digest: bytes, secret: int) -> tuple[int, int, int]:
    """Return r, the smaller s, and whether the point's y is odd (0 or 1), of 32 bytes.

    The nonce is that of RFC 6979, so that equal inputs give equal signatures. Raises `ValueError`
    for a number that is no private key.
    """
    # No key is refused as its point is: there is none.
    nonce = _nonce(digest, secret) if 0 < secret < N else 0
    x, y = public_key(nonce)
    r = x % N
    s = pow(nonce, -1, N) * (int.from_bytes(digest, "big") + r * secret) % N
    return (r, s, y & 1) if 2 * s < N else (r, N - s, y & 1 ^ 1)


def recovered(digest: bytes, r: int, s: int, odd: int) -> Point | None:
    """Return the public key that has signed 32 bytes; None where the signature fits none."""
    start = lifted(r, odd)
    if start is None or not (0 < r < N and 0 < s < N):
        return None
    inverse = pow(r, -1, N)
    return combined((G, -int.from_bytes(digest, "big") * inverse % N), (start, s * inverse % N))


def lifted(x: int, odd: int = 0) -> Point | None:
    """Return the point of that x whose y is odd or even; None where the curve has none."""
    square = (pow(x, 3, P) + 7) % P
    y = pow(square, (P + 1) // 4, P)
    if x >= P or y * y % P != square:
        return None
    return x, y if y & 1 == odd else P - y


def combined(*terms: tuple[Point, int]) -> Point | None:
    """Return the sum of points, each times a factor from 0; None for the point at infinity."""
    found: _Jacobian = _NOWHERE
    for bit in reversed(range(max(factor.bit_length() for _, factor in terms))):
        found = _doubled(found)
        for point, factor in terms:
            if factor >> bit & 1:
                found = _plus(found, point)
    x, y, z = found
    if z == 0:
        return None
    inverse = pow(z, -1, P)
    return x * inverse * inverse % P, y * inverse * inverse * inverse % P


def _doubled(point: _Jacobian) -> _Jacobian:
    x, y, z = point
    square = y * y % P
    across = 4 * x * square % P
    slope = 3 * x * x % P
    far = (slope * slope - 2 * across) % P
    return far, (slope * (across - far) - 8 * square * square) % P, 2 * y * z % P


def _plus(one: _Jacobian, other: Point) -> _Jacobian:
    x, y, z = one
    if z == 0:
        return *other, 1
    square = z * z % P
    across = (other[0] * square - x) % P
    slope = (other[1] * square * z - y) % P
    if across == 0:
        return _NOWHERE if slope else _doubled(one)
    area = across * across % P
    volume = area * across % P
    base = x * area % P
    far = (slope * slope - volume - 2 * base) % P
    return far, (slope * (base - far) - y * volume) % P, z * across % P


def _nonce(digest: bytes, secret: int) -> int:
    """Return the nonce of RFC 6979, section 3.2, with SHA-256."""
    message = secret.to_bytes(32, "big") + (int.from_bytes(digest, "big") % N).to_bytes(32, "big")
    chain, value = bytes(32), b"\1" * 32
    for step in (b"\0", b"\1"):
        chain = hmac.digest(chain, value + step + message, "sha256")
        value = hmac.digest(chain, value, "sha256")
    while True:
        value = hmac.digest(chain, value, "sha256")
        found = int.from_bytes(value, "big")
        if 0 < found < N:
            return found
        chain = hmac.digest(chain, value + b"\0", "sha256")
        value = hmac.digest(chain, value, "sha256")
