import { noProperties } from 'dlx-broker/engine';
import { Broker } from 'smqp';
import { embedded, open } from '../peers/engine.js';
import { type Measurement, memoryInUse, type Workload } from '../workload.js';

/** Fills and drains a queue, and compares the last tenth of the drain with the first. */
function backlog(messages: number, publish: () => void, drain: (each: () => void) => void): Measurement {
  const before = memoryInUse();
  const start = performance.now();
  for (let count = 0; count < messages; count++) publish();
  const filled = performance.now() - start;
  const bytes = (memoryInUse() - before) / messages;
  const marks: number[] = [];
  let drained = 0;
  const tenth = messages / 10;
  const begin = performance.now();
  drain(() => {
    if (++drained % tenth === 0) marks.push(performance.now());
  });
  const took = performance.now() - begin;
  if (drained !== messages) throw new Error(`${drained} of ${messages} messages came out`);
  const first = (marks[0] as number) - begin;
  const last = (marks[9] as number) - (marks[8] as number);
  const value = (messages * 2) / ((filled + took) / 1000);
  const extra = { 'bytes per message': bytes.toFixed(0), 'last tenth / first': (first / last).toFixed(2) };
  return { value, extra };
}

export const w8: Workload = {
  id: 'W8',
  title: 'a backlog of 16-byte messages in and out (1,000,000; smqp 100,000)',
  unit: 'msg/s',
  more: 'better',
  peers: {
    'dlx-broker': () => {
      const { broker, channel } = embedded();
      channel.declareQueue('q');
      let each = (): void => {};
      const consumer = open(broker, ({ deliveryTag }, on) => {
        each();
        on.ack(deliveryTag);
      });
      consumer.qos(250);
      return backlog(
        1_000_000,
        () => channel.publish('', 'q', noProperties, Buffer.from('0123456789abcdef')),
        (count) => {
          each = count;
          consumer.consume('q');
        },
      );
    },
    smqp: () => {
      const broker = new Broker();
      broker.assertExchange('x', 'direct');
      broker.assertQueue('q');
      broker.bindQueue('q', 'x', 'q');
      return backlog(
        100_000,
        () => void broker.publish('x', 'q', Buffer.from('0123456789abcdef')),
        (count) => {
          broker.consume(
            'q',
            (_key, message) => {
              count();
              message.ack();
            },
            { prefetch: 250 },
          );
        },
      );
    },
  },
};
