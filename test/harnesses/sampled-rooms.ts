import { silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { toFieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { Statistics } from '../../libs/dlx-broker/src/server/statistics/statistics.js';
import { apiHarness, type HarnessOptions } from './api-harness.js';

/** The HTTP API of a broker with samples of its counts, which tests take themselves, and a channel to fill queues. */
export function sampledRooms(options: HarnessOptions = {}) {
  const all: Statistics[] = [];
  const rooms = apiHarness({
    ...options,
    makeHost: (broker) => {
      all.push(new Statistics(broker, () => broker.clock.now()));
      return { statistics: all[0]! };
    },
  });
  const channel = rooms.broker.connect().openChannel(silentOutbox);
  const declare = (name: string, args: Record<string, unknown> = {}, more = {}): void =>
    void channel.declareQueue(name, { arguments: toFieldTable(args), ...more });
  const publish = (queue: string, count = 1): void => {
    for (let n = 0; n < count; n++) channel.publish('', queue, {}, Buffer.from('x'));
  };
  const reject = (queue: string, count = 1): void => {
    for (let n = 0; n < count; n++) channel.reject(channel.get(queue)!.deliveryTag, false);
  };
  /** Five seconds pass, and a sample is taken. */
  const pass = (times = 1): void => {
    for (let n = 0; n < times; n++) {
      rooms.clock.advance(5_000);
      all[0]!.sample();
    }
  };
  return { ...rooms, vhost: rooms.broker.virtualHost('/'), channel, declare, publish, reject, pass };
}

/** Arguments of a queue that dead-letters through the default exchange. */
export const dyingTo = (queue: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  'x-dead-letter-exchange': '',
  'x-dead-letter-routing-key': queue,
  ...more,
});
