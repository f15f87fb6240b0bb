import { createBroker, noProperties } from 'dlx-broker/engine';
import { args, body, open } from '../peers/engine.js';
import { StillClock } from '../still-clock.js';
import type { Workload } from '../workload.js';

const content = body(16);
const messages = 1_000_000;

export const w4: Workload = {
  id: 'W4',
  title: '1,000,000 waiting messages expire at one instant into a DLX',
  unit: 'msg/s',
  more: 'better',
  peers: {
    'dlx-broker': () => {
      const clock = new StillClock();
      const broker = createBroker({ clock });
      const channel = open(broker, () => {});
      const queues = broker.virtualHost('/').queues;
      channel.declareQueue('dead');
      channel.declareQueue('wait', {
        arguments: args({
          'x-message-ttl': 60_000,
          'x-dead-letter-exchange': '',
          'x-dead-letter-routing-key': 'dead',
        }),
      });
      for (let count = 0; count < messages; count++) channel.publish('', 'wait', noProperties, content);
      clock.moveTo(clock.time + 59_999);
      const early = queues.get('dead')?.length ?? 0;
      const start = performance.now();
      clock.moveTo(clock.time + 1);
      const seconds = (performance.now() - start) / 1000;
      const dead = queues.get('dead')?.length ?? 0;
      return { value: dead / seconds, extra: { early: String(early) } };
    },
  },
};
