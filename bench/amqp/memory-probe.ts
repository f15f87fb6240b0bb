import { createServer } from 'node:net';

// Loaded into dlx-broker by `--import`: a client that connects gets the bytes in use after a garbage collection.
const path = process.env['BENCH_MEMORY_PROBE'];
if (path !== undefined) {
  createServer((socket) => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    socket.end(String(heapUsed + external));
  })
    .listen(path)
    .unref();
}
