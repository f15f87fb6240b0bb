import type { Queue, VirtualHost } from '../../../engine/broker/index.js';

/**
 * True if the message of a position was delivered and is not settled, or waits for its delayed retry. It may become ready
 * again. Yields wherever it may pause.
 */
export function* isHeld(vhost: VirtualHost, queue: Queue, position: number): Generator<void, boolean, void> {
  let held = false;
  if (queue.delayed > 0) {
    queue.peek(
      () => false,
      (entry) => void (held ||= entry.position === position),
    );
  }
  for (const { channels } of queue.unacked === 0 ? [] : vhost.connections) {
    for (const { receiver } of channels) {
      receiver.settler.unacked.each(({ from, entry }) => void (held ||= from === queue && entry.position === position));
      yield;
    }
    if (held) return true;
  }
  return held;
}
