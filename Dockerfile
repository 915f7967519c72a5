# The engine, the board in the browser and the bridge in a container. docs/install.md says how to use
# it. UCI goes through stdin and stdout, so keep stdin open with `-i`:
#
#     docker build -t obscuro .
#     docker run --rm -i obscuro                # UCI
#     docker run --rm -it obscuro demo
#     docker run --rm -p 127.0.0.1:8000:8000 -v obscuro:/data obscuro web --host 0.0.0.0 --no-browser

# The workflow `image` names the base with its digest. Here it is a tag, which moves.
ARG BASE=debian:bookworm-slim

# The board and the curves of the pages come from the npm registry. Nothing else of npm is kept.
FROM ${BASE} AS parts

RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates npm
COPY engine_bin/install_browser_parts /parts/engine_bin/
COPY obscuro/viewer/browser_parts /parts/obscuro/viewer/browser_parts
RUN /parts/engine_bin/install_browser_parts

FROM ${BASE}

LABEL org.opencontainers.image.title="Obscuro" \
      org.opencontainers.image.description="An engine for Fog of War chess (dark chess)" \
      org.opencontainers.image.licenses="GPL-3.0-or-later"

RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv stockfish \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home obscuro \
    && install -d -o obscuro -g obscuro /data

COPY . /tmp/obscuro
COPY --from=parts /parts/obscuro/viewer/browser_parts /tmp/obscuro/obscuro/viewer/browser_parts
RUN python3 -m venv /opt/obscuro \
    && /opt/obscuro/bin/pip install --no-cache-dir '/tmp/obscuro[bridge,web]' \
    && rm -rf /tmp/obscuro

# The kernels are compiled for a level of processors, not for the machine that builds the image:
# x86-64-v3 is any of the last ten years. On ARM: --build-arg CPU=generic.
ARG CPU=x86-64-v3

# Debian installs Stockfish into /usr/games, which is not on root's PATH. Games and what the bridge
# remembers are in /data.
ENV PATH=/opt/obscuro/bin:/usr/games:$PATH \
    OBSCURO_CACHE_DIR=/home/obscuro/.cache/obscuro \
    XDG_DATA_HOME=/data \
    XDG_STATE_HOME=/data \
    NUMBA_CPU_NAME=$CPU \
    NUMBA_CPU_FEATURES=""

USER obscuro
WORKDIR /home/obscuro

# This puts the compiled kernels and Stockfish's network into the image, for the user who runs them.
RUN obscuro warmup

VOLUME /data
ENTRYPOINT ["obscuro"]
