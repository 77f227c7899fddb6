# The two commands of README.md in a container, as a user without privileges:
#   docker build -t largeprompt . && docker run --rm largeprompt
# A tag can move. To pin the image itself, write its digest behind the tag (python:TAG@sha256:DIGEST),
# as printed by `docker inspect --format '{{index .RepoDigests 0}}' python:TAG` after a pull.
FROM python:3.11.14-slim-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends make=4.3-4.1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 reviewer \
    && install --directory --owner=reviewer /opt/largeprompt

USER 1000
WORKDIR /opt/largeprompt
COPY --chown=reviewer:reviewer . .
RUN make env

CMD ["bash", "-c", "make && make test"]
