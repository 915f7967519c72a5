# The engine in a container. It speaks UCI on stdin and stdout, so keep stdin open with `-i`:
#
#     docker build -t obscuro .
#     docker run --rm -i obscuro                # UCI
#     docker run --rm -it obscuro demo

FROM debian:bookworm-slim

LABEL org.opencontainers.image.title="Obscuro" \
      org.opencontainers.image.description="An engine for Fog of War chess (dark chess)" \
      org.opencontainers.image.licenses="GPL-3.0-or-later"

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv stockfish \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home obscuro

COPY . /tmp/obscuro
RUN python3 -m venv /opt/obscuro \
    && /opt/obscuro/bin/pip install --no-cache-dir /tmp/obscuro \
    && rm -rf /tmp/obscuro

# Debian installs Stockfish into /usr/games, which is not on root's PATH.
ENV PATH=/opt/obscuro/bin:/usr/games:$PATH \
    OBSCURO_CACHE_DIR=/home/obscuro/.cache/obscuro

USER obscuro
WORKDIR /home/obscuro

# This puts the compiled kernels and Stockfish's network into the image, for the user who runs them.
# Machine code is kept for one model of CPU. A container on another model compiles at its first start.
RUN obscuro warmup

ENTRYPOINT ["obscuro"]
