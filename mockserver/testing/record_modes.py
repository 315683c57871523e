"""Record modes: worlds that play a folder of recordings, and record what is not in it."""

import hashlib
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mockserver.testing.settings import BadSetting, MockSettings

if TYPE_CHECKING:
    from mockserver.server.recorder import ProxyOptions
    from mockserver.server.recorder.record_modes import Tape

log = logging.getLogger("mockserver.recording")

AGAIN = "record them with --crosschain-mock-record=once"
_MOST_NAME = 100


def tape_of(settings: MockSettings) -> "Tape | None":
    """Return the tape of a world, None where it records and plays nothing by itself.

    Raises `BadSetting` where no folder is named, and `UnsafeOrWrong` for a service that may not
    be called.
    """
    if not settings.record:
        return None
    if settings.recordings is None:
        raise BadSetting("record: name the folder of the recordings with recordings='…'")
    from mockserver.server.recorder.record_modes import RecordMode, Tape, TapeOptions  # noqa: PLC0415

    addresses = [text for text in (settings.upstream_v1, settings.upstream_v2) if text]
    options = TapeOptions(
        RecordMode(settings.record),
        Path(settings.recordings),
        _service_of(settings) if addresses else None,
        source=" and ".join(dict.fromkeys(addresses)) or "a service",
        record_again=AGAIN,
        name_one="name one with --crosschain-mock-upstream-v1 and --crosschain-mock-upstream-v2",
    )
    return Tape(options)


def _service_of(settings: MockSettings) -> "ProxyOptions":
    from mockserver.conformance.session.permit import Arming  # noqa: PLC0415

    arming = Arming(settings.arm_writes, confirmed=settings.confirm_hosts)
    return service_at(settings.upstream_v1, settings.upstream_v2, settings.allow_hosts, arming)


def service_at(
    v1: str | None, v2: str | None, hosts: tuple[str, ...], arming: object
) -> "ProxyOptions":
    """Return how requests are passed on to a service, under the same permit as the recorder's.

    Raises `UnsafeOrWrong` for hosts that are not allowed.
    """
    from mockserver.conformance.session.permit import Arming, Permit  # noqa: PLC0415
    from mockserver.conformance.session.target import target_of  # noqa: PLC0415
    from mockserver.contract import load  # noqa: PLC0415
    from mockserver.server.recorder import ProxyOptions  # noqa: PLC0415

    assert isinstance(arming, Arming)  # noqa: S101  # imported only here, as most worlds need none
    target = target_of(v1=v1 or None, v2=v2 or None)
    permit = Permit(load("observed"), target, hosts=hosts, arming=arming, own_keys=True)
    return ProxyOptions(
        upstreams=target.bases,
        refusal=permit.refusal,
        note=permit.note,
        tell=lambda sentence: log.warning("not recorded: %s", sentence),
    )


def folder_of_test(root: Path, nodeid: str) -> Path:
    """Return the folder of a test below `root`, by its module, class and name.

    What a name of a file cannot have becomes a dash, and a few digits tell such names apart.
    """
    module, _, test = nodeid.partition("::")
    wanted = test.replace("::", "-").replace("[", "-").removesuffix("]")
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", wanted).strip("-.")[:_MOST_NAME]
    if plain != wanted:
        plain += f"-{hashlib.sha256(test.encode()).hexdigest()[:6]}"
    return root / Path(module).stem / plain
