# The mock as a container: `docker build -t crosschain-mock .`, then
# `docker run --rm -p 127.0.0.1:8765:8765 crosschain-mock`. See docs/how-to/docker.md.

# Python 3.13.15 on Debian 13.6, an index of several architectures: the same image builds the same way
# until somebody changes this line. `docker buildx imagetools inspect python:3.13-slim` names the newest.
ARG BASE=docker.io/library/python:3.13-slim@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

FROM ${BASE} AS build
WORKDIR /src
COPY . .
RUN python -m pip install --quiet --no-cache-dir build \
    && python -m build --wheel --outdir /dist .

FROM ${BASE}
COPY --from=build /dist/*.whl /dist/
# By its file: a name would be looked up at the package index first.
RUN wheel="$(echo /dist/*.whl)" \
    && python -m pip install --quiet --no-cache-dir "$wheel[speed,signing]" \
    && rm -r /dist
# A volume that is mounted here belongs to the user of the server, as its folder does.
RUN mkdir /state && chown 65532:65532 /state
# By number: Kubernetes' runAsNonRoot cannot tell from a name that it is not root.
USER 65532:65532
EXPOSE 8765
# Runs every five seconds, so it starts no Python; it needs no token.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8765 && printf 'GET /__mock/ready HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["crosschain-mock"]
# A container's loopback interface is its own, so the mock listens on all of them; the control API
# then asks for a token, which is printed at the start or set by CROSSCHAIN_MOCK_TOKEN.
CMD ["serve", "--host", "0.0.0.0", "--port", "8765"]
