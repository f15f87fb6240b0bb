import { createBroker, int32 } from 'dlx-broker/engine';
import { args, open } from '../peers/engine.js';
import { StillClock } from '../still-clock.js';
import { memoryInUse, processorTime, type Workload } from '../workload.js';

const messages = 1_000_000;

/** A prime number: each delay from 1 ms on comes once, in mixed order. */
const stride = 611_953;

export const w4Delayed: Workload = {
  id: 'W4 delayed',
  title: '1,000,000 different delays of 16-byte messages in no order, held and delivered each at its time',
  unit: 'msg/s',
  more: 'better',
  peers: {
    'dlx-broker': () => {
      const clock = new StillClock();
      const broker = createBroker({ clock });
      const start = clock.time;
      let delivered = 0;
      let wrong = 0;
      const channel = open(broker, () => {});
      const consumer = open(broker, () => {
        if (clock.time !== start + ++delivered) wrong++;
      });
      channel.declareExchange('later', {
        type: 'x-delayed-message',
        arguments: args({ 'x-delayed-type': 'fanout' }),
      });
      channel.declareQueue('work');
      channel.bindQueue('work', 'later', '');
      consumer.consume('work', { noAck: true });
      const before = memoryInUse();
      const began = performance.now();
      const processorBefore = processorTime();
      for (let index = 0; index < messages; index++) {
        const headers = new Map([['x-delay', int32(1 + ((index * stride) % messages))]]);
        channel.publish('later', '', { headers }, Buffer.from('0123456789abcdef'));
      }
      const filled = performance.now() - began;
      const processorFilled = processorTime() - processorBefore;
      const bytes = (memoryInUse() - before) / messages;
      const begin = performance.now();
      const processorBegin = processorTime();
      while (clock.step());
      const took = performance.now() - begin;
      const processorTook = processorTime() - processorBegin;
      if (delivered !== messages) throw new Error(`${delivered} of ${messages} messages came out`);
      const extra = {
        'not at their time': String(wrong),
        'bytes per message held': bytes.toFixed(0),
        'seconds of processor to hold': processorFilled.toFixed(2),
        'to deliver': processorTook.toFixed(2),
      };
      return { value: messages / ((filled + took) / 1000), extra };
    },
  },
};
