# The mock as a container: `docker build -t crosschain-mock .`, then
# `docker run --rm -p 127.0.0.1:8765:8765 crosschain-mock`. See docs/how-to/docker.md.
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN python -m pip install --quiet --no-cache-dir build \
    && python -m build --wheel --outdir /dist .

FROM python:3.13-slim
COPY --from=build /dist/*.whl /dist/
# By its file: a name would be looked up at the package index first.
RUN wheel="$(echo /dist/*.whl)" \
    && python -m pip install --quiet --no-cache-dir "$wheel[speed,signing]" \
    && rm -r /dist \
    && useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin mock
# A volume that is mounted here belongs to that user, as its folder does.
RUN mkdir /state && chown mock /state
USER mock
EXPOSE 8765
# The probe needs no token and no tool beside the Python that is there.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/__mock/ready', timeout=2)"]
ENTRYPOINT ["crosschain-mock"]
# A container's loopback interface is its own, so the mock listens on all of them; the control API
# then asks for a token, which is printed at the start or set by CROSSCHAIN_MOCK_TOKEN.
CMD ["serve", "--host", "0.0.0.0", "--port", "8765"]
