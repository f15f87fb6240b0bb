import { MessageChannel } from 'node:worker_threads';

/** Bytes: V8 begins to collect garbage when the memory beside its heap has grown by 64 MiB. */
const reserved = 80_000_000;

/** Milliseconds between two requests. */
const pause = 2_000;

/**
 * Makes a function that asks V8 to collect garbage, in V8's own steps. An idle process collects nothing: garbage would count as
 * memory in use, and an alarm would never end. The function reserves memory to make V8 begin. The reserved memory is never
 * touched, so the system provides none of it, and it is freed at once.
 * @param now milliseconds of a clock that never goes back
 */
export function collector(now: () => number = () => performance.now()): () => void {
  let askedAt = -Infinity;
  return () => {
    if (now() - askedAt < pause) return;
    askedAt = now();
    try {
      const { buffer } = Buffer.allocUnsafeSlow(reserved);
      const { port1, port2 } = new MessageChannel();
      port1.postMessage(buffer, [buffer as ArrayBuffer]);
      port1.close();
      port2.close();
    } catch {
      // The system has no addresses left. V8 then collects garbage without being asked.
    }
  };
}
