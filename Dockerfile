# A sample as a container, on the library of this repository. `docker build --build-arg SAMPLE=sample-orders .`
FROM node:22-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --ignore-scripts && npm run build && npm prune --omit=dev

FROM node:22-slim
ARG SAMPLE=sample-orders
ENV NODE_ENV=production HOST=0.0.0.0 PROGRAM=dist/apps/${SAMPLE}/main.js
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/libs/dlx-broker libs/dlx-broker
COPY --from=build /build/apps apps
COPY --from=build /build/dist/apps dist/apps
USER node
# exec: node itself gets SIGTERM, and not a shell that does not pass it on.
CMD ["sh", "-c", "exec node $PROGRAM"]
