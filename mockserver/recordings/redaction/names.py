"""What may be kept of a message: headers by an allow list, members unless called as secrets are."""

import re
from functools import lru_cache

REQUEST_HEADERS = frozenset(
    """
    accept address chain content-type evmaddress expiretime publickey timestamp
    """.split()
)
"""Headers of requests that are kept, in lower case: those that say what is asked, and for whom."""

RESPONSE_HEADERS = frozenset(
    """
    cache-control content-language content-type date location retry-after x-mock-refusal
    """.split()
)
"""Headers of answers that are kept, in lower case."""

_PLAIN_HEADERS = frozenset(
    """
    accept-encoding accept-language accept-ranges age alt-svc connection content-encoding
    content-length expect host keep-alive origin pragma sec-fetch-dest sec-fetch-mode
    sec-fetch-site server strict-transport-security te transfer-encoding user-agent vary
    x-content-type-options
    """.split()
)
"""Headers that are left out as well, but whose values are no secrets that may stand elsewhere."""

_SECRET_MEMBERS = frozenset(
    """
    accesskey accesstoken apikey apisecret apitoken appkey appsecret auth authkey
    authorisation authorization authtoken bearer clientsecret cookie cookies credential
    credentials idtoken jwt mnemonic passphrase passwd password privatekey refreshtoken secret
    secretkey seedphrase session sessionid sessiontoken setcookie sig sign signature
    signingkey xapikey
    """.split()
)

_APART = re.compile(r"[^a-z0-9]")


@lru_cache(4096)
def is_secret_member(name: str) -> bool:
    """Tell whether a member, a parameter or a cookie of this name holds a secret."""
    plain = _APART.sub("", name.lower())
    return plain in _SECRET_MEMBERS or plain.removeprefix("x") in _SECRET_MEMBERS


def may_hold_secret(header: str) -> bool:
    """Tell whether the value of a header may be a secret, which may stand elsewhere as well."""
    name = header.lower()
    return name not in _PLAIN_HEADERS | REQUEST_HEADERS | RESPONSE_HEADERS
