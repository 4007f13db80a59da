# The embedded server for teams without Python:
#     docker build --tag informix-arrow .
#     docker run --publish 9088:9088 --env INFORMIX_ARROW_PASSWORD=secret informix-arrow
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM python:3.12-slim
RUN useradd --system --create-home informix && mkdir /data && chown informix /data
RUN --mount=from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/*.whl)[server]"
USER informix
VOLUME /data
EXPOSE 9088
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 9088), 5)"]
# A server beyond loopback wants a password of its own: INFORMIX_ARROW_PASSWORD. SIGTERM ends it cleanly.
ENTRYPOINT ["informix-arrow", "serve", "--host", "0.0.0.0", "--port", "9088", "--directory", "/data"]
