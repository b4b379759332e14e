# One image for every part of a fleet: `docker build -t midcourse .`, then `docker run midcourse COMMAND`. See docs/deploy.md.
FROM node:24-bookworm-slim AS console
WORKDIR /build/console
COPY console/package.json console/package-lock.json console/.npmrc ./
RUN npm ci
COPY console ./
RUN npm run build

FROM python:3.13-slim-bookworm
# Any version of the distribution will do: a fixed one is gone with its next security update.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium-headless-shell chromium-sandbox fonts-dejavu-core tini \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY pyproject.toml hatch_build.py README.md LICENSE CHANGELOG.md requirements.lock ./
COPY src ./src
COPY examples ./examples
COPY --from=console /build/src/midcourse/server/dist ./src/midcourse/server/dist
RUN pip install --no-cache-dir 'uv>=0.9,<1' \
    && uv pip install --system --no-cache --constraint requirements.lock '.[browser,llm,mcp,oidc,s3,slack,temporal]' \
    && rm -rf /build
# Chromium keeps its sandbox only for an account that is not root.
RUN useradd --uid 10001 --create-home midcourse && install -d -o midcourse -m 700 /var/lib/midcourse
USER 10001
WORKDIR /home/midcourse
ENV MIDCOURSE_HOME=/var/lib/midcourse
VOLUME /var/lib/midcourse
ENTRYPOINT ["tini", "--", "midcourse"]
CMD ["--help"]
