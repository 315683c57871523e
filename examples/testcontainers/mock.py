"""Starts the image for tests, with testcontainers of PyPI."""

from collections.abc import Iterator
from contextlib import contextmanager

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

PORT = 8765
TOKEN = "local-only"  # noqa: S105


@contextmanager
def started(image: str = "crosschain-mock") -> Iterator[str]:
    """Yield the address of the server; its control API takes `Authorization: Bearer local-only`."""
    container = (
        DockerContainer(image)
        .with_env("CROSSCHAIN_MOCK_TOKEN", TOKEN)
        .with_command("serve --host 0.0.0.0 --port 8765 --clock frozen")
        .with_exposed_ports(PORT)
        .waiting_for(HttpWaitStrategy(PORT, "/__mock/ready").for_status_code(200))
    )
    with container:
        yield f"http://{container.get_container_host_ip()}:{container.get_exposed_port(PORT)}"
