"""The server: aiohttp at the socket, plain values behind it.

`service.py` answers a request, `aiohttp_server.py` and `fast_lane.py` read and send it,
`assembly.py` puts everything together. `control/` is the control API, `recorder/` the recording
proxy, `console/` the pages for the browser.
"""
