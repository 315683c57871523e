"""The hosted signer, which signs v1 requests for browser clients (OAE, CSE, ESSAPI).

It is answered from the world's keys, not from the world, and has no envelope.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mockserver.contract import Inputs, ids
from mockserver.jsontext import Json
from mockserver.responders.responder import Call
from mockserver.signing import developer

OwnAnswer = Callable[[Call, Inputs], Json]


def get_sign(call: Call, inputs: Inputs) -> Json:
    """Return the key and the signature of the body that was sent, for the header values sent.

    Without registered keys a well-known pair signs (A-071).
    """
    app_key, secret = call.hosted.keys.hosted_signer
    headers = developer.DeveloperHeaders(
        app_key, inputs.text("expireTime"), inputs.text("timestamp")
    )
    text = developer.signed_text(call.request.body, headers)
    return {"appKey": app_key, "sign": developer.signature(text, secret)}


OWN_ANSWERS: Mapping[str, OwnAnswer] = MappingProxyType({ids.V1_SIGN: get_sign})
"""Operations answered from the keys of a hosted world, by their id."""
