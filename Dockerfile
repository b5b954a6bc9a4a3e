# syntax=docker/dockerfile:1

# First stage: the build. Nothing of it gets into the image, except the files that the last stage copies.
FROM node:24-bookworm-slim AS build
WORKDIR /app
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 make g++ \
 && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci
COPY tsconfig.json tsconfig.build.json ormconfig.ts ./
COPY migrations migrations
COPY src src
COPY scripts scripts
COPY openapi.json ./
COPY sdk sdk
COPY portal portal
# The pages are served where PORTAL says so.
RUN npm run build
# The files that the program loads, and nothing else of dist and node_modules (docs/adr/0015-bundle.md).
RUN node scripts/runtime-files.mjs --into /runtime

# Last stage: Node and the files that the program loads. The same Node as above: it refuses the V8 code cache of another one.
FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="Portal authentication service"
ENV NODE_ENV=production \
    PORT=3000
WORKDIR /app
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn*
COPY --from=build /runtime ./
# A number, so that Kubernetes can see that the user is not root (runAsNonRoot). Any other user works as well: every user can
# read all files, and the service writes none.
USER 10001:10001
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so it gets SIGTERM and can finish the running requests.
CMD ["node", "dist/src/main.js"]
