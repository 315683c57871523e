"""The server: aiohttp at the socket, plain values behind it."""
