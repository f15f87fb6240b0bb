import type { Channel } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { toFieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';

/** Declares a queue for dead letters, and queues whose messages come there when they die. */
export function declareDying(channel: Channel, queues: readonly string[], dead = 'dead'): void {
  channel.declareQueue(dead, {});
  const args = toFieldTable({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': dead });
  for (const name of queues) channel.declareQueue(name, { arguments: args });
}

/** Rejects everything that waits in a queue. @returns how many messages */
export function rejectAll(channel: Channel, queue: string): number {
  let count = 0;
  for (let got = channel.get(queue); got !== undefined; got = channel.get(queue)) {
    channel.reject(got.deliveryTag, false);
    count++;
  }
  return count;
}
