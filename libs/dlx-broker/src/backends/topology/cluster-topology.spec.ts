import { describe, expect, it } from 'vitest';
import { fromFieldTable, int32, toFieldTable } from '../../engine/message/index.js';
import { clusterTopology, noDeliveryLimit } from './cluster-topology.js';
import type { QueueDeclaration } from './topology.js';

type Plain = Readonly<Record<string, string | number>>;

const queue = (args: Plain, more: Partial<QueueDeclaration> = {}): QueueDeclaration => ({
  name: 'q',
  durable: true,
  exclusive: false,
  autoDelete: false,
  arguments: toFieldTable(args),
  ...more,
});

/** The arguments of one queue on a cluster, and the notes. */
function onCluster(args: Plain, more: Partial<QueueDeclaration> = {}, deliveryLimit?: number) {
  const declared = { exchanges: [], queues: [queue(args, more)], bindings: [] };
  const { topology, notes } = clusterTopology(declared, deliveryLimit === undefined ? {} : { deliveryLimit });
  return { args: { ...fromFieldTable(topology.queues[0]?.arguments) }, notes };
}

describe('on a cluster', () => {
  const dlx = { 'x-dead-letter-exchange': 'dlx' };
  const quorum = { 'x-queue-type': 'quorum' };
  const unlimited = { ...quorum, 'x-delivery-limit': noDeliveryLimit };
  const safe = { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };

  it('rule M1: a queue is a quorum queue whose dead letters are not lost', () => {
    const expected = { ...dlx, ...quorum, ...safe, 'x-delivery-limit': 20 };
    expect(onCluster(dlx)).toEqual({ args: expected, notes: [] });
    expect(onCluster({ ...dlx, ...quorum })).toEqual({ args: expected, notes: [] });
    expect(onCluster(dlx, {}, 50).args).toMatchObject({ 'x-delivery-limit': 50 });
    expect(onCluster({ ...dlx, 'x-delivery-limit': 3 }).args).toMatchObject({ 'x-delivery-limit': 3 });
  });

  it('a parked queue has no limit, beyond which messages would be dropped', () => {
    expect(onCluster({}).args).toEqual(unlimited);
    expect(onCluster(quorum).args).toEqual(unlimited);
  });

  it('a queue that names its type or its strategy keeps it', () => {
    const classic = { ...dlx, 'x-queue-type': 'classic', 'x-max-priority': 5 };
    expect(onCluster(classic)).toEqual({ args: classic, notes: [] });
    const own = { ...dlx, ...quorum, 'x-dead-letter-strategy': 'at-most-once' };
    expect(onCluster(own)).toEqual({ args: own, notes: [] });
  });

  it.each<[string, Plain, Partial<QueueDeclaration>]>([
    ['exclusive', {}, { exclusive: true }],
    ['deleted with its last consumer', {}, { autoDelete: true }],
    ['not durable', {}, { durable: false }],
    ['x-expires', { 'x-expires': 5_000 }, {}],
  ])('a queue stays classic, and is named, when it is %s', (why, args, more) => {
    const { args: kept, notes } = onCluster(args, { ...more, origin: '@Consume on Orders.created' });
    expect(kept).toEqual(args);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(new RegExp(`^queue 'q' \\(@Consume on Orders.created\\) stays classic: .*${why}`));
  });

  it('what a quorum queue cannot do is named', () => {
    const { args, notes } = onCluster({ 'x-max-priority': 5 });
    expect(args).toEqual(unlimited);
    expect(notes).toEqual(["queue 'q' loses x-max-priority"]);
  });

  it('keeps the rest of the topology', () => {
    const exchange = {
      name: 'e',
      type: 'topic',
      durable: true,
      autoDelete: false,
      internal: false,
      arguments: new Map(),
    };
    const given = { exchanges: [exchange], queues: [queue({}, { mayDiffer: ['x-overflow'] })], bindings: [] };
    const { topology } = clusterTopology(given);
    const args = new Map([...toFieldTable(quorum), ['x-delivery-limit', int32(noDeliveryLimit)]]);
    expect(topology).toEqual({ ...given, queues: [{ ...given.queues[0], arguments: args }] });
  });
});
