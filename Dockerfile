# The engine in a container. It speaks UCI on stdin and stdout, so keep stdin open with `-i`:
#
#     docker build -t obscuro .
#     docker run --rm -i obscuro                # UCI
#     docker run --rm -it obscuro demo
#     docker run --rm -p 127.0.0.1:8000:8000 obscuro web --host 0.0.0.0 --no-browser

# The board and the curves of the pages come from the npm registry. Nothing else of npm is kept.
FROM debian:bookworm-slim AS parts

RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates npm
COPY engine_bin/install_browser_parts /parts/engine_bin/
COPY obscuro/viewer/browser_parts /parts/obscuro/viewer/browser_parts
RUN /parts/engine_bin/install_browser_parts

FROM debian:bookworm-slim

LABEL org.opencontainers.image.title="Obscuro" \
      org.opencontainers.image.description="An engine for Fog of War chess (dark chess)" \
      org.opencontainers.image.licenses="GPL-3.0-or-later"

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv stockfish \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home obscuro

COPY . /tmp/obscuro
COPY --from=parts /parts/obscuro/viewer/browser_parts /tmp/obscuro/obscuro/viewer/browser_parts
RUN python3 -m venv /opt/obscuro \
    && /opt/obscuro/bin/pip install --no-cache-dir '/tmp/obscuro[bridge,web]' \
    && rm -rf /tmp/obscuro

# Debian installs Stockfish into /usr/games, which is not on root's PATH.
ENV PATH=/opt/obscuro/bin:/usr/games:$PATH \
    OBSCURO_CACHE_DIR=/home/obscuro/.cache/obscuro

USER obscuro
WORKDIR /home/obscuro

# This puts the compiled kernels and Stockfish's network into the image, for the user who runs them.
# Machine code is kept for one model of CPU. A container on another model compiles at its first start.
RUN mkdir -p .local/state/obscuro && obscuro warmup

ENTRYPOINT ["obscuro"]
