# The engine in a container. UCI goes over stdin and stdout, so keep stdin open:
#
#     docker build -t obscuro .
#     docker run --rm -i obscuro                # UCI
#     docker run --rm -it obscuro demo

FROM debian:bookworm-slim

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv stockfish \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home obscuro

COPY . /tmp/obscuro
RUN python3 -m venv /opt/obscuro \
    && /opt/obscuro/bin/pip install --no-cache-dir /tmp/obscuro \
    && rm -rf /tmp/obscuro

# Debian puts Stockfish into /usr/games, which is not on root's PATH.
ENV PATH=/opt/obscuro/bin:/usr/games:$PATH \
    OBSCURO_CACHE_DIR=/home/obscuro/.cache/obscuro

USER obscuro
WORKDIR /home/obscuro

# Compiles the kernels and gets Stockfish's network into the image, as the user who runs them. The CPU is part of the cache's key:
# on another model than the one that built the image, the first start compiles them once more.
RUN obscuro warmup

ENTRYPOINT ["obscuro"]
