import { int32, longstr, table, array, type Field } from '../../libs/dlx-broker/src/engine/message/index.js';
import { drawBinding, drawPolicy, drawQueue, routingKeys, type Names } from './draw-topology.js';
import type { Random } from './random.js';
import type { Rehearsal } from './rehearsal.js';
import { channelCount } from './rehearsal.js';
import type { Sent, Step, Values } from './program.js';
import type { HeldDelivery } from './world.js';

/** The state of a program while it is drawn. */
export interface Draft {
  readonly random: Random;
  readonly names: Names;
  readonly rehearsal: Rehearsal;
  /** Types of the exchanges. */
  readonly types: ReadonlyMap<string, string>;
  readonly queueTypes: ReadonlyMap<string, 'quorum' | 'classic'>;
  readonly policies: boolean;
  /** Whether the second channel has transactions; bindings and queues change more often then. */
  readonly transactions: boolean;
  /** Whether `basic.qos` is called for itself, with and without global. */
  readonly sharedLimits: boolean;
  readonly unitsLeft: number;
  /** @returns a number that was not used before */
  count(): number;
}

/** Draws the next step; undefined if the drawn one makes no sense now. */
export function drawStep(draft: Draft): Step | undefined {
  const { random, names, rehearsal, transactions } = draft;
  const held = Array.from({ length: channelCount }, (_, channel) => rehearsal.world.held(channel)).flat();
  const isOpen = transactions && rehearsal.world.isTransactional(transactional);
  const channel = isOpen && random.chance(0.3) ? transactional : random.integer(0, channelCount - 1);
  const heldInTransaction = isOpen ? held.filter((each) => each.channel === transactional) : [];
  const fetched = held.filter(({ of }) => of.startsWith('g'));
  const waiting = names.queues.filter((name) => (rehearsal.ground.queues.get(name)?.length ?? 0) > 0);
  const queue = random.pick(waiting.length > 0 && random.chance(0.75) ? waiting : names.queues);
  const what = random.weighted({
    publish: 34,
    settle: held.length > 0 ? 60 : 0,
    settleInTransaction: heldInTransaction.length > 1 ? 25 : 0,
    get: isOpen ? 20 : 12,
    consume: rehearsal.world.consumers().length < 3 ? 8 : 0,
    elapse: draft.unitsLeft > 0 ? 9 : 0,
    cancel: 2,
    recover: held.length > 0 ? 4 : 0,
    close: 2,
    closeHolder: held.length > 1 ? 2 : 0,
    closeFetcher: fetched.length > 0 ? 3 : 0,
    bind: transactions ? 6 : 2,
    unbind: transactions ? 6 : 1,
    purge: 0.7,
    deleteQueue: transactions ? 2 : 0.7,
    deleteExchange: transactions ? 1.2 : 0.6,
    declare: transactions ? 2 : 0.8,
    policy: draft.policies ? 3 : 0,
    qos: draft.sharedLimits ? 9 : 0,
    select: transactions && !isOpen ? 8 : 0,
    commit: isOpen ? 11 : 0,
    rollback: isOpen ? 3 : 0,
  });
  switch (what) {
    case 'publish':
      return drawPublish(draft, channel);
    case 'settle':
      return drawSettle(random, random.pick(held), held);
    case 'settleInTransaction':
      return drawSettle(random, random.pick(heldInTransaction), held);
    case 'get':
      return { do: 'get', channel, queue, as: `g${draft.count()}`, noAck: random.chance(0.3) };
    case 'consume':
      return drawConsume(draft, channel, queue);
    case 'elapse':
      return { do: 'elapse', units: random.chance(0.8) ? 1 : Math.min(2, draft.unitsLeft) };
    case 'cancel':
      return drawCancel(draft);
    case 'recover':
    case 'close':
      return { do: what, channel };
    case 'closeHolder':
      return { do: 'close', channel: random.pick(held).channel };
    case 'closeFetcher':
      return { do: 'close', channel: random.pick(fetched).channel };
    case 'qos':
      return drawQos(draft, channel);
    case 'select':
      return { do: 'txSelect', channel: transactional };
    case 'commit':
      return { do: 'txCommit', channel: transactional };
    case 'rollback':
      return { do: 'txRollback', channel: transactional };
    case 'bind': {
      const from = random.pick(names.exchanges);
      return drawBinding(random, names, from, draft.types.get(from) as string);
    }
    case 'unbind': {
      const bound = drawBinding(random, names, random.pick(names.exchanges), 'direct');
      return { ...bound, do: bound.do === 'bindQueue' ? 'unbindQueue' : 'unbindExchange' } as Step;
    }
    case 'purge':
      return { do: 'purge', channel, name: queue };
    case 'deleteQueue':
      return drawDelete(draft, channel, queue);
    case 'deleteExchange':
      return {
        do: 'deleteExchange',
        channel,
        name: random.pick(names.exchanges),
        flags: random.chance(0.5) ? { ifUnused: true } : {},
      };
    case 'declare':
      return { ...drawQueue(random, names, queue, draft.queueTypes.get(queue)), channel } as Step;
    case 'policy': {
      const operator = random.chance(0.25);
      if (random.chance(0.7)) return drawPolicy(random, names, operator);
      return { do: 'clearPolicy', name: `p${random.integer(0, 1)}`, operator };
    }
  }
}

/** The channel with transactions, if there is one. */
const transactional = 1;

/** Rule D10: a shared limit and a consumer of a quorum queue are a hard error together. */
function drawQos({ random, rehearsal }: Draft, channel: number): Step | undefined {
  const global = random.chance(0.6);
  const ofQuorum = rehearsal.world
    .consumers()
    .some((consumer) => consumer.channel === channel && isQuorum(rehearsal, consumer.queue));
  if (global && ofQuorum) return undefined;
  return { do: 'qos', channel, prefetch: random.pick([0, 1, 2, 2, 3, 4]), global };
}

const isQuorum = (rehearsal: Rehearsal, queue: string): boolean =>
  rehearsal.ground.queues.get(queue)?.declared.type === 'quorum';

function drawPublish(draft: Draft, channel: number): Step {
  const { random, names } = draft;
  const direct = random.chance(0.5);
  const bodies = Array.from(
    { length: random.weighted({ one: 5, more: 4 }) === 'one' ? 1 : random.integer(2, 4) },
    () => {
      const body = `m${draft.count()}`;
      return random.chance(0.2) ? body.padEnd(random.integer(4, 12), '.') : body;
    },
  );
  return {
    do: 'publish',
    channel,
    exchange: direct ? '' : random.pick([...names.exchanges, ...names.exchanges, 'amq.fanout']),
    key: direct ? random.pick(names.queues) : random.pick(routingKeys),
    bodies,
    sent: drawSent(random, names),
    mandatory: random.chance(0.15),
  };
}

function drawSent(random: Random, names: Names): Sent {
  const headers: Record<string, Field> = {};
  const keys = (): Field =>
    array(Array.from({ length: random.integer(1, 2) }, () => longstr(random.pick([...names.queues, 'a', 'b']))));
  if (random.chance(0.15))
    headers['h'] = random.pick<Field>([int32(0), int32(1), { type: 'l', value: 1 }, longstr('1')]);
  if (random.chance(0.06)) headers['CC'] = keys();
  if (random.chance(0.05)) headers['BCC'] = keys();
  if (random.chance(0.08)) headers['x-death'] = drawForgery(random, names);
  if (random.chance(0.02)) headers['x-delivery-count'] = int32(7);
  if (random.chance(0.02)) headers['x-first-death-queue'] = longstr('mine');
  return {
    ...(random.chance(0.18) ? { expiration: { units: random.pick([0, 1, 1, 1, 2, 3]) } } : {}),
    ...(random.chance(0.2) ? { priority: random.integer(0, 6) } : {}),
    ...(random.chance(0.25) ? { deliveryMode: random.integer(1, 2) } : {}),
    ...(random.chance(0.05) ? { correlationId: 'c', type: 't' } : {}),
    ...(Object.keys(headers).length > 0 || random.chance(0.03) ? { headers } : {}),
  };
}

/** RabbitMQ writes an int64, clients every integer. */
const counts: readonly Field[] = [
  { type: 'l', value: 2 },
  { type: 'l', value: -1 },
  int32(1),
  int32(-2),
  { type: 'b', value: -3 },
  { type: 'B', value: 200 },
  { type: 's', value: 300 },
  { type: 'u', value: 40_000 },
  { type: 'i', value: 3_000_000_000 },
];

/** Entries as brokers write them, or nearly: those that crash 3.10.8 are left out (rule V5). */
function drawForgery(random: Random, names: Names): Field {
  if (random.chance(0.1)) return random.pick([longstr('x'), int32(1), array([])]);
  const reasons = ['rejected', 'expired', 'maxlen'];
  return array(
    Array.from({ length: random.integer(1, 2) }, () => {
      const entry = new Map<string, Field>();
      if (random.chance(0.9)) entry.set('count', random.pick(counts));
      entry.set('reason', longstr(random.pick(reasons)));
      entry.set('queue', longstr(random.pick(names.queues)));
      if (random.chance(0.5)) entry.set('exchange', longstr('x0'));
      if (random.chance(0.3)) entry.set('extra', int32(5));
      return table(entry);
    }),
  );
}

function drawConsume(draft: Draft, channel: number, queue: string): Step | undefined {
  const { random, rehearsal } = draft;
  const others = rehearsal.world.consumers().filter((other) => other.queue === queue);
  if (others.length > 0 && random.chance(0.5)) return undefined;
  const keepsLimits = draft.sharedLimits && random.chance(0.7);
  if (keepsLimits && rehearsal.world.sharedLimit(channel) > 0 && isQuorum(rehearsal, queue)) return undefined;
  return {
    do: 'consume',
    channel,
    queue,
    as: `c${draft.count()}`,
    noAck: random.chance(0.12),
    ...(keepsLimits ? {} : { prefetch: random.pick([1, 1, 2, 3, 0]) }),
    args: random.chance(0.15) ? { 'x-priority': random.integer(-1, 2) } : {},
  };
}

function drawCancel({ random, rehearsal }: Draft): Step | undefined {
  const consumers = rehearsal.world.consumers();
  if (consumers.length === 0) return undefined;
  const { name, channel, queue } = random.pick(consumers);
  // Rule V3: the next of a single-active-consumer queue gets nothing.
  const single = rehearsal.ground.queues.get(queue)?.settings.singleActiveConsumer === true;
  if (single && consumers.filter((other) => other.queue === queue).length > 1) return undefined;
  return { do: 'cancel', channel, consumer: name };
}

function drawDelete({ random, rehearsal }: Draft, channel: number, name: string): Step {
  // Rule D10: the conditions are a hard error there.
  const flags = isQuorum(rehearsal, name) ? {} : random.pick<Values>([{}, { ifEmpty: true }, { ifUnused: true }]);
  return { do: 'deleteQueue', channel, name, flags };
}

function drawSettle(random: Random, delivery: HeldDelivery, all: readonly HeldDelivery[]): Step {
  const { channel, of, nth } = delivery;
  const how = random.weighted({ reject: 5, nack: 4, ack: 1.5 });
  // Between queues the order of what returns or dies is open (rule J1), so all covered are of one; rule J6 is the order there.
  const covered = all.filter((other) => other.channel === channel);
  const isOrdered = how === 'ack' || covered.every(({ queue }) => queue === delivery.queue);
  const multiple = how !== 'reject' && isOrdered && random.chance(0.4);
  return { do: 'settle', channel, how, delivery: { of, nth }, multiple, requeue: how !== 'ack' && random.chance(0.4) };
}
