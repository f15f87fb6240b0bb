import { DeadLetter, type DlxContext } from 'dlx-broker';
import { describe, expect, it } from 'vitest';
import { direct, fails, Morgue, noon, shop, standing, worker, type Given, type Shop } from './arrange.js';

const rejecting: Given = { providers: [worker(fails, DeadLetter('dlx')), Morgue] };
const lastOf = ({ bodies }: Shop): DlxContext => bodies().at(-1)!.context;

describe('on its death', () => {
  it('the exchange of a message becomes the dead-letter exchange (rule H1)', async () => {
    const given = await shop(rejecting);
    await given.emit('work', 'bad');
    expect(lastOf(given).message).toMatchObject({ exchange: 'dlx', routingKey: 'work' });
  });

  it('its routing key becomes that of its queue, if that names one; RabbitMQ 3.10 takes CC off then (rule H2)', async () => {
    const providers = [worker(fails, DeadLetter('dlx', 'set')), Morgue];
    const given = await shop({ providers }, standing({ rabbitmq: '3.10' }));
    await given.emit('work', 'bad', { cc: ['copy'] });
    expect(lastOf(given).message.routingKey).toBe('set');
    expect(lastOf(given).headers).not.toHaveProperty('CC');
  });

  it('CC stays on it otherwise', async () => {
    const given = await shop(rejecting);
    await given.emit('work', 'bad', { cc: ['copy'] });
    expect(lastOf(given).headers['CC']).toEqual(['copy']);
  });

  it('BCC is on it in no case (rule G3)', async () => {
    const given = await shop(rejecting);
    await given.emit('work', 'bad', { bcc: ['blind'] });
    expect(lastOf(given).headers).not.toHaveProperty('BCC');
  });

  it('its time to live is taken off, so that it does not expire again (rule H3)', async () => {
    const given = await shop({
      queues: { idle: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'end' }, end: {} },
    });
    await given.emit('idle', 'late', { ...direct, expiration: 100 });
    await given.advance('1h');
    expect(given.dlx.queue('end').messages()).toMatchObject([{ payload: 'late', expiresAt: undefined }]);
    expect(given.dlx.queue('end').messages()[0]?.properties.expiration).toBeUndefined();
  });

  it('everything else stays: body, properties and headers (rules H3, H4)', async () => {
    const given = await shop(rejecting);
    const options = {
      messageId: 'm-1',
      correlationId: 'c-1',
      type: 'order',
      priority: 3,
      headers: { tenant: 'x', n: 1.5 },
    };
    await given.emit('work', { deep: ['body'] }, options);
    const { headers, properties } = lastOf(given);
    expect(given.bodies()[0]?.data).toEqual({ deep: ['body'] });
    expect(properties).toMatchObject({ messageId: 'm-1', correlationId: 'c-1', type: 'order', priority: 3 });
    expect(headers).toMatchObject({ tenant: 'x', n: 1.5 });
  });
});

describe('the header x-death has for every death', () => {
  it('the queue, the reason, the time, the exchange, the routing keys and the count (rule H5)', async () => {
    const given = await shop(rejecting);
    await given.advance(1_999);
    await given.emit('work', 'bad', { cc: ['copy'], bcc: ['blind'] });
    expect(lastOf(given).headers['x-death']).toEqual([
      {
        count: 1,
        reason: 'rejected',
        queue: 'work',
        time: noon / 1_000 + 1, // whole seconds
        exchange: 'dlx.events',
        'routing-keys': ['work', 'copy'], // BCC is not shown
      },
    ]);
    expect(lastOf(given).deaths[0]?.time).toEqual(new Date(noon + 1_000));
  });

  it('the time as an AMQP timestamp and the count as a 64-bit integer', async () => {
    const given = await shop(rejecting);
    await given.emit('work', 'bad');
    const deaths = lastOf(given).properties.headers!.get('x-death');
    const [death] = deaths?.type === 'A' ? deaths.value : [];
    const types =
      death?.type === 'F' ? Object.fromEntries([...death.value].map(([name, { type }]) => [name, type])) : {};
    expect(types).toEqual({ count: 'l', reason: 'S', queue: 'S', time: 'T', exchange: 'S', 'routing-keys': 'A' });
  });

  it('original-expiration if the message had a time to live, as its publisher wrote it', async () => {
    const given = await shop({ queues: { idle: { 'x-dead-letter-exchange': 'dlx' } } });
    await given.emit('idle', 'late', { ...direct, expiration: 1_500 });
    await given.advance(1_500);
    expect(lastOf(given).deaths).toMatchObject([{ reason: 'expired', exchange: '', originalExpiration: '1500' }]);
  });

  it('no original-expiration if the time to live was that of its queue', async () => {
    const given = await shop({ queues: { idle: { 'x-dead-letter-exchange': 'dlx', 'x-message-ttl': 1_500 } } });
    await given.emit('idle', 'late', direct);
    await given.advance(1_500);
    expect(lastOf(given).deaths[0]).not.toHaveProperty('originalExpiration');
  });

  it('the dead-letter exchange as the exchange, from the second death on', async () => {
    const given = await shop({
      queues: {
        one: { 'x-dead-letter-exchange': 'dead', 'x-message-ttl': 1_000 },
        two: { 'x-dead-letter-exchange': 'dlx', 'x-message-ttl': 1_000 },
      },
      exchanges: { dead: 'fanout' },
      bindings: [['dead', 'two']],
    });
    await given.emit('one', 'twice', direct);
    await given.advance('2s');
    expect(lastOf(given).deaths).toMatchObject([
      { queue: 'two', exchange: 'dead' },
      { queue: 'one', exchange: '' },
    ]);
  });
});

describe('x-death is ordered', () => {
  /** `work` rejects into `wait`, which expires back to `work`; the third time it is let through to the morgue. */
  async function twoRounds(): Promise<Shop> {
    const seen: DlxContext[] = [];
    const given = await shop({
      providers: [
        worker(
          (_, context) => {
            seen.push(context);
            if (seen.length < 3) return fails();
            return undefined;
          },
          DeadLetter('', 'wait'),
        ),
        Morgue,
      ],
      queues: { wait: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'work', 'x-message-ttl': 60_000 } },
    });
    await given.emit('work', 'again');
    await given.advance('2m');
    return { ...given, bodies: () => seen.map((context) => ({ data: undefined, context })) };
  }

  it('the latest death first (rule H7)', async () => {
    const { bodies } = await twoRounds();
    const order = bodies().map(({ context }) => context.deaths.map(({ queue, reason }) => `${reason} in ${queue}`));
    expect(order).toEqual([[], ['expired in wait', 'rejected in work'], ['expired in wait', 'rejected in work']]);
  });

  it('with one entry for each queue and reason, which counts and moves to the front when it happens again (rule H6)', async () => {
    const { bodies } = await twoRounds();
    expect(bodies().map(({ context }) => context.deaths.map(({ count }) => count))).toEqual([[], [1, 1], [2, 2]]);
  });

  it('and keeps the rest of an entry as it was the first time', async () => {
    const { bodies } = await twoRounds();
    const [, second, third] = bodies();
    expect(third!.context.deaths.map(({ time }) => time)).toEqual(second!.context.deaths.map(({ time }) => time));
    expect(third!.context.deaths[1]).toMatchObject({ exchange: 'dlx.events', time: new Date(noon) });
  });

  it('with entries of their own for two reasons in one queue', async () => {
    const given = await shop({
      queues: { idle: { 'x-dead-letter-exchange': 'dlx', 'x-message-ttl': 1_000, 'x-max-length': 1 } },
    });
    await given.emit('idle', 'crowded out', direct);
    await given.emit('idle', 'late', direct);
    await given.advance('1s');
    expect(given.bodies().map(({ data, context }) => [data, context.deaths[0]?.reason])).toEqual([
      ['crowded out', 'maxlen'],
      ['late', 'expired'],
    ]);
  });
});

describe('the very first death', () => {
  it('is named in three headers of its own, which no later death changes (rule H8)', async () => {
    const given = await shop({
      providers: [worker(fails, DeadLetter('dlx')), Morgue],
      queues: { idle: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'work', 'x-message-ttl': 1_000 } },
    });
    await given.emit('idle', 'twice', direct);
    await given.advance('1s');
    expect(lastOf(given).deaths.map(({ reason }) => reason)).toEqual(['rejected', 'expired']);
    expect(lastOf(given).headers).toMatchObject({
      'x-first-death-reason': 'expired',
      'x-first-death-queue': 'idle',
      'x-first-death-exchange': '',
    });
  });

  it('has the same values as the entry of that death', async () => {
    const given = await shop(rejecting);
    await given.emit('work', 'bad');
    const { headers, deaths } = lastOf(given);
    const { reason, queue, exchange } = deaths[0]!;
    expect([reason, queue, exchange]).toEqual(
      ['reason', 'queue', 'exchange'].map((field) => headers[`x-first-death-${field}`]),
    );
  });
});
