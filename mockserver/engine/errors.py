"""What the person who controls a world may ask in vain; none of it changes anything."""

from mockserver.errors import CrosschainMockError


class CannotSteer(CrosschainMockError):
    """An order that cannot go where it is sent: it is final, or the course does not exist."""


class InvalidOutage(CrosschainMockError):
    """An outage that cannot be added or ended."""


class NothingDue(CrosschainMockError):
    """A clock told to run to something that never comes."""


class UnknownSnapshot(CrosschainMockError):
    """A snapshot that does not exist, or is gone."""


class StateNotLoadable(CrosschainMockError):
    """A dump of another format, version or scenario, or one that is damaged."""

    exit_code = 4
