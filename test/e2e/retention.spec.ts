import { Injectable, type Type } from '@nestjs/common';
import { Ctx } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxClient, type DlxContext, Redrives, Retry, type RetryPolicy } from 'dlx-broker';
import { int32, longstr } from 'dlx-broker/engine';
import { retryWithBackoff } from 'dlx-broker/streams';
import { DlxTesting } from 'dlx-broker/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { retain } from '../../libs/dlx-broker/src/nest/retry/lot-retention.js';
import { planRetry } from '../../libs/dlx-broker/src/nest/retry/index.js';
import { declaredArguments } from '../harnesses/declared-arguments.js';
import { noDeliveryLimit } from '../../libs/dlx-broker/src/backends/topology/index.js';

const opened: DlxTesting[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

/** A handler of the queue `orders` that fails, with this policy. */
function failing(more: Partial<RetryPolicy>, queue = 'orders'): Type<unknown> {
  @Injectable()
  class Orders {
    @Consume({ queue, routingKey: `${queue}.created` })
    @Retry({ attempts: 1, ...more })
    created(@Ctx() _context: DlxContext): void {
      throw new TypeError('no stock');
    }
  }
  return Orders;
}

const lotArguments = (dlx: DlxTesting, name: string) => declaredArguments(dlx.broker, name);

const make = (): DlxTesting => {
  const dlx = new DlxTesting({ logger: false });
  opened.push(dlx);
  return dlx;
};

async function started(...providers: Type<unknown>[]) {
  const dlx = make();
  await dlx.start({ providers });
  const emit = (id: number): void => void dlx.app.get(DlxClient).emit('orders.created', { id });
  return { dlx, emit, lot: () => dlx.queue('orders.parked'), archive: () => dlx.queue('orders.parked.archive') };
}

describe('@Retry with parkFor', () => {
  it('keeps parked messages for 90 days, counted from the parking, and archives them with their history', async () => {
    const { dlx, emit, lot, archive } = await started(failing({ parkFor: '90d', onExpiry: 'archive' }));
    emit(1);
    await dlx.advance('30d');
    emit(2);
    await dlx.advance('59d');
    await dlx.advance(86_399_999);
    expect([lot().payloads(), archive().payloads()]).toEqual([[{ id: 1 }, { id: 2 }], []]);
    await dlx.advance(1);
    expect([lot().payloads(), archive().payloads()]).toEqual([[{ id: 2 }], [{ id: 1 }]]);
    const [archived] = archive().messages();
    expect(archived!.headers).toMatchObject({ 'dlx-error-class': 'TypeError', 'dlx-parked': true });
    expect(archived!.deaths).toMatchObject([
      { queue: 'orders.parked', reason: 'expired', count: 1 },
      { queue: 'orders', reason: 'rejected', count: 1 },
    ]);
    await dlx.advance('3650d');
    expect([lot().ready, archive().ready]).toEqual([0, 2]);
  });

  it('archives by default, and drops where it says so', async () => {
    const { dlx } = await started(failing({ parkFor: '1d' }));
    expect(lotArguments(dlx, 'orders.parked')).toEqual({
      'x-message-ttl': 86_400_000,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'orders.parked.archive',
    });
    const dropping = await started(failing({ parkFor: '1d', onExpiry: 'drop' }));
    expect(lotArguments(dropping.dlx, 'orders.parked')).toEqual({ 'x-message-ttl': 86_400_000 });
    expect(dropping.archive().exists).toBe(false);
    dropping.emit(1);
    await dropping.dlx.advance(86_399_999);
    expect(dropping.lot().ready).toBe(1);
    await dropping.dlx.advance(1);
    expect(dropping.lot().ready).toBe(0);
  });

  it('a redrive takes what is still there', async () => {
    const { dlx, emit, lot, archive } = await started(failing({ parkFor: '10d' }));
    emit(1);
    await dlx.advance('5d');
    emit(2);
    await dlx.advance('6d');
    const task = dlx.app.get(Redrives).start({ from: 'orders.parked', perSecond: Infinity });
    await dlx.advance('1m');
    expect(task.current.redriven).toBe(1);
    expect([lot().payloads(), archive().payloads()]).toEqual([[{ id: 2 }], [{ id: 1 }]]);
  });

  it('says it in descriptions of the topology', async () => {
    const { dlx } = await started(failing({ parkFor: '90d' }));
    expect(dlx.app.get(DlxBroker).describeTopology()).toContain(
      'then orders.parked for 90d, then orders.parked.archive',
    );
  });
});

describe('a parking lot that exists', () => {
  async function existing(
    args: ReadonlyMap<string, ReturnType<typeof longstr>>,
    provider: Type<unknown>,
    before?: (dlx: DlxTesting) => void,
  ) {
    const dlx = make();
    const lines: string[] = [];
    const declared = { durable: true, exclusive: false, autoDelete: false, arguments: args };
    await dlx.backend.declare({ exchanges: [], bindings: [], queues: [{ ...declared, name: 'orders.parked' }] });
    before?.(dlx);
    const { Logger } = await import('@nestjs/common');
    vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(String(line)));
    await dlx.start({ providers: [provider] });
    return { dlx, warnings: lines.filter((line) => line.includes('parking lot')) };
  }
  const noArguments = new Map<string, ReturnType<typeof longstr>>();

  it('keeps its arguments, and gets a policy of the embedded broker', async () => {
    const { dlx, warnings } = await existing(noArguments, failing({ parkFor: '90d' }));
    expect(warnings).toEqual([]);
    expect(lotArguments(dlx, 'orders.parked')).toEqual({});
    const { queues, policies } = dlx.broker.virtualHost('/');
    expect(queues.get('orders.parked')?.inForce.policy?.name).toBe('dlx-broker.retention.orders.parked');
    expect(policies.user.matchQueue('ordersXparked', 'classic')).toBeUndefined();
    dlx.app.get(DlxClient).emit('orders.created', { id: 1 });
    await dlx.advance('90d');
    expect(dlx.queue('orders.parked.archive').payloads()).toEqual([{ id: 1 }]);
  });

  it('leaves the policy of an operator alone, and says what is missing', async () => {
    const { dlx, warnings } = await existing(noArguments, failing({ parkFor: '90d' }), ({ broker }) =>
      broker.virtualHost('/').setPolicy('mine', { pattern: 'parked$', definition: { 'max-length': 100 } }),
    );
    expect(warnings).toEqual([
      "parking lot 'orders.parked' exists with other arguments, which cannot change, and a policy does not make it " +
        "'orders.parked for 90d, then orders.parked.archive' either: policy 'mine' applies to it, and a queue has one policy only",
    ]);
    expect(dlx.broker.virtualHost('/').queues.get('orders.parked')?.inForce.policy?.name).toBe('mine');
  });

  it('with a shorter time says that its arguments take precedence', async () => {
    const { warnings } = await existing(
      new Map([['x-message-ttl', int32(1_000) as never]]),
      failing({ parkFor: '90d' }),
    );
    expect(warnings).toEqual([expect.stringContaining('its own arguments say another message-ttl')]);
  });

  it('keeps its time without parkFor, and says so', async () => {
    const { dlx, warnings } = await existing(new Map([['x-message-ttl', int32(1_000) as never]]), failing({}));
    expect(warnings).toEqual([
      "parking lot 'orders.parked' was declared with a time to live or a dead-letter exchange and keeps it, though its @Retry " +
        'has no parkFor: parked messages may leave it',
    ]);
    expect(lotArguments(dlx, 'orders.parked')).toEqual({ 'x-message-ttl': 1_000 });
  });

  it('loses a policy of ours that nothing asks for any more', async () => {
    const { dlx } = await existing(
      noArguments,
      failing({}),
      ({ backend }) => void backend.retain('orders.parked', { 'message-ttl': 5 }),
    );
    expect(dlx.broker.virtualHost('/').policies.user.list()).toEqual([]);
    expect(dlx.broker.virtualHost('/').queues.get('orders.parked')?.settings.messageTtl).toBeUndefined();
  });

  it('on a RabbitMQ: the warning has the policy to set', () => {
    const { retention } = planRetry({ attempts: 1, parkFor: '36h' }, { queue: 'orders', origin: 'here' });
    expect(retain(new Map([['orders.parked', retention]]), new Set(['orders.parked']), {})).toEqual([
      "parking lot 'orders.parked' exists with other arguments, which cannot change; unless a policy says " +
        "'orders.parked for 1d 12h, then orders.parked.archive' already, set one: rabbitmqctl set_policy 'orders.parked.retention' " +
        `'^orders\\.parked$' '{"message-ttl":129600000,"dead-letter-exchange":"","dead-letter-routing-key":"orders.parked.archive"}' --apply-to queues`,
    ]);
    expect(retain(new Map([['orders.parked', retention]]), new Set(), {})).toEqual([]);
  });
});

describe('a parking lot of the type quorum', () => {
  it('keeps each message until the archive has it', () => {
    const target = { queue: 'orders', origin: 'here', waitQueueType: 'quorum' } as const;
    const { topology } = planRetry({ attempts: 1, parkFor: '1d' }, target);
    const [archive, lot] = topology.queues.slice(-2).map(({ name, arguments: args }) => ({
      name,
      ...Object.fromEntries([...args].map(([key, { value }]) => [key, value])),
    }));
    expect(archive).toEqual({
      name: 'orders.parked.archive',
      'x-queue-type': 'quorum',
      'x-delivery-limit': noDeliveryLimit,
    });
    expect(lot).toMatchObject({
      name: 'orders.parked',
      'x-queue-type': 'quorum',
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    });
  });
});

describe('parkFor is refused', () => {
  it('in a stream, which declares no parking lot', () => {
    expect(() => retryWithBackoff({ attempts: 2, parkFor: '1d' })).toThrow('set it in the @Retry of the handler');
  });

  it.each([
    [{ parkFor: '0s' }, 'parkFor is 0, so nothing would be parked; leave it out to park for ever'],
    [{ parkFor: 'soon' }, 'parkFor'],
    [{ parkFor: '1d', onExpiry: 'delete' as 'drop' }, "onExpiry is 'delete'; write 'archive' or 'drop'"],
    [{ onExpiry: 'drop' } as const, "onExpiry says what follows parkFor, which is missing; add parkFor: '90d'"],
    [{ parkFor: '1d', parkingLot: 'x'.repeat(250) }, 'is longer than 255 bytes; set a shorter parkingLot'],
  ])('with %o', async (more, text) => {
    await expect(make().start({ providers: [failing(more)] })).rejects.toThrow(text);
  });

  it('for two handlers that share a parking lot and differ', async () => {
    const [one, other] = [failing({ parkFor: '1d' }), failing({ parkingLot: 'orders.parked' }, 'mails')];
    await expect(make().start({ providers: [one, other] })).rejects.toThrow(
      /parking lot 'orders.parked': Orders.created says 'orders.parked for 1d.*', and Orders.created says nothing of parkFor/,
    );
  });
});
