import { expect, it } from 'vitest';
import { longstr } from '../../message/index.js';
import { CountedNames } from '../../../nest/testing/counted-names.js';
import { publishText } from '../../../../../../test/harnesses/listener.js';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import { Broker } from '../broker.js';
import type { Channel } from '../channel/channel.js';
import { type Delivery, silentOutbox } from '../ports.js';

/** A clock that counts how often it is read. */
class CountedClock extends ManualClock {
  reads = 0;
  later = 0;

  override now(): number {
    this.reads++;
    return super.now() + this.later;
  }
}

/** A broker with queue `q`, whose consumer calls a function for each delivery. */
function arrange(prefetch: number, onDelivery: (delivery: Delivery, channel: Channel, clock: CountedClock) => void) {
  const clock = new CountedClock();
  const names = new CountedNames();
  const broker = new Broker({ clock, names, patterns: { compile: () => ({ matches: () => true }) } });
  const publishing = broker.connect().openChannel(silentOutbox);
  publishing.declareQueue('dead');
  const toDead = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };
  const args = new Map(Object.entries(toDead).map(([name, value]) => [name, longstr(value)]));
  publishing.declareQueue('q', { arguments: args });
  const consume = (): void => {
    const channel: Channel = broker.connect().openChannel({
      ...silentOutbox,
      deliver: (delivery) => onDelivery(delivery, channel, clock),
    });
    channel.qos(prefetch);
    channel.consume('q');
  };
  const lengths = (): readonly number[] => {
    const { queues } = broker.virtualHost('/');
    return ['q', 'dead'].map((name) => queues.get(name)?.length ?? -1);
  };
  return { clock, publishing, consume, lengths, broker };
}

it('an ack in the callback of a delivery does not read the clock again', () => {
  const scene = arrange(10, ({ deliveryTag }, channel) => channel.ack(deliveryTag));
  scene.consume();
  publishText(scene.publishing, '', 'q', 'first');
  scene.clock.reads = 0;
  publishText(scene.publishing, '', 'q', 'second');
  expect(scene.clock.reads).toBe(1);
  expect(scene.lengths()).toEqual([0, 0]);
});

it('what expired while the callback ran is not delivered because of its ack (rule B5)', () => {
  const bodies: string[] = [];
  const scene = arrange(1, ({ deliveryTag, body }, channel, clock) => {
    bodies.push(Buffer.from(body).toString());
    clock.later += 20;
    channel.ack(deliveryTag);
  });
  publishText(scene.publishing, '', 'q', 'first');
  publishText(scene.publishing, '', 'q', 'short', { expiration: '10' });
  publishText(scene.publishing, '', 'q', 'long', { expiration: '1000' });
  scene.consume();
  expect(bodies).toEqual(['first', 'long']);
  expect(scene.lengths()).toEqual([0, 1]);
});

it('a publish in the callback has the time of the clock (rule B4)', () => {
  const scene = arrange(10, ({ deliveryTag }, channel, clock) => {
    channel.ack(deliveryTag);
    clock.later += 20;
    publishText(channel, '', 'dead', 'kept', { expiration: '10' });
  });
  scene.consume();
  publishText(scene.publishing, '', 'q', 'first');
  expect(scene.publishing.get('dead')?.messageCount).toBe(0);
});

it('the time in the callback is that of the command, and afterwards that of the clock', () => {
  const times: number[] = [];
  const scene = arrange(10, (_, { vhost }, clock) => {
    clock.later += 20;
    times.push(vhost.scheduler.time);
  });
  scene.consume();
  const before = scene.clock.now();
  publishText(scene.publishing, '', 'q', 'first');
  times.push(scene.publishing.vhost.scheduler.time);
  expect(times).toEqual([before, before + 20]);
});
