import { createBroker, deathsOf } from 'dlx-broker/engine';
import { args, body, open } from '../peers/engine.js';
import { StillClock } from '../still-clock.js';
import { memoryInUse, processorTime, type Workload } from '../workload.js';

const content = body(16);
const messages = 1_000_000;

export const w4Expirations: Workload = {
  id: 'W4 expirations',
  title: '1,000,000 messages, each with an expiration of its own, expire into a DLX and are read with their deaths',
  unit: 'msg/s',
  more: 'better',
  peers: {
    'dlx-broker': () => {
      const clock = new StillClock();
      const broker = createBroker({ clock });
      const channel = open(broker, () => {});
      channel.declareQueue('dead');
      channel.declareQueue('wait', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }),
      });
      const beforePublish = memoryInUse();
      for (let count = 1; count <= messages; count++) {
        channel.publish('', 'wait', { expiration: String(count) }, content);
      }
      const waiting = (memoryInUse() - beforePublish) / messages;
      const processorBefore = processorTime();
      clock.moveTo(clock.time + messages);
      const moved = processorTime() - processorBefore;
      const letters = (memoryInUse() - beforePublish) / messages;
      let read = 0;
      let wrong = 0;
      const processorBegin = processorTime();
      const consumer = open(broker, ({ message }) => {
        const [death] = deathsOf(message);
        if (death?.originalExpiration !== String(++read)) wrong++;
      });
      consumer.consume('dead', { noAck: true });
      const took = processorTime() - processorBegin;
      if (read !== messages || wrong > 0)
        throw new Error(`${read} of ${messages} came out, ${wrong} with another death`);
      return {
        value: messages / (moved + took),
        extra: {
          'bytes per message waiting': waiting.toFixed(0),
          'bytes per dead letter': letters.toFixed(0),
          'seconds of processor to dead-letter': moved.toFixed(2),
          'to read': took.toFixed(2),
        },
      };
    },
  },
};
