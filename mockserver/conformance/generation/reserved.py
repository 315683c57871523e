"""Values that stand-ins of this project take as a sign, which generated requests therefore avoid.

An amount `10.4002` or an address that ends in `4002` chooses how an order ends there
(docs/reference/reserved.md); a generator that met one by chance would report what it asked for.
"""

import re

from mockserver.jsontext import Json

_CODE = r"(?:400[1-7]|500[1-8])"
_AMOUNT = re.compile(rf"{_CODE}0*\Z")
_HEX = re.compile(rf"0x0*{_CODE}\Z")


def is_reserved(value: Json) -> bool:
    """Tell whether an amount, an address or a hash may be taken as a sign."""
    text = str(value).replace(".", "")
    return bool(_AMOUNT.search(text) if text.isdecimal() else _HEX.match(text))
