import type { Message } from '../message/index.js';
import type { Broker } from './broker.js';
import type { TopologyChange } from './declarations.js';

/** `classic` or `quorum` for a queue, another type for delayed messages. */
interface HolderType {
  readonly type: string;
}

/** The declaration of a thing, or its replacement. */
export type Added = Extract<TopologyChange, { readonly change: 'added' }>;

/** Whether a declaration outlives the process (rule L1): all but transient exchanges, and transient or exclusive queues. */
export function outlives(added: Added): boolean {
  if (added.kind === 'exchange') return added.details.durable;
  return added.kind !== 'queue' || (added.details.durable && added.details.owner === undefined);
}

/** Whether a durable queue keeps the message (rules L1, L3): a classic one persistent messages, a quorum queue all. */
export const isPersistent = ({ type }: HolderType, message: Message): boolean =>
  type === 'quorum' || message.own.deliveryMode === 2;

/** The stored messages of a queue, by their last known state. */
interface RestoredParts<T> {
  /** Never delivered. */
  readonly fresh: T;
  /** Delivered once, and back in the queue. */
  readonly returned: T;
  /** Delivered, and not settled. */
  readonly held: T;
}

/** The parts in the order in which they are restored to the queue (section L). */
export const inRestoreOrder = <T>({ type }: HolderType, { fresh, returned, held }: RestoredParts<T>): readonly T[] =>
  type === 'classic' ? [held, returned, fresh] : [fresh, returned, held];

/** The kinds in the order of restoring: each comes after those on which it depends. */
const kinds = [
  'global-parameter',
  'vhost',
  'vhost-limit',
  'user',
  'permission',
  'topic-permission',
  'policy',
  'operator-policy',
  'exchange',
  'queue',
  'queue-pause',
  'binding',
] as const;

function restoreOne(broker: Broker, added: Added): void {
  if (added.kind === 'user') return void broker.access.setUser(added.name, added.details);
  if (added.kind === 'global-parameter') return void broker.parameters.set(added.name, added.value);
  if (added.kind === 'vhost') return void broker.addVirtualHost(added.vhost, added.details);
  const vhost = broker.addVirtualHost(added.vhost);
  const where = `in vhost '${added.vhost}'`;
  switch (added.kind) {
    case 'vhost-limit':
      return vhost.limits.set(added.name, added.value);
    case 'topic-permission':
      return broker.patterns.restore(
        `topic permissions of user '${added.name}' for exchange '${added.details.exchange}' ${where}`,
        () => broker.access.topics.set(added.name, added.vhost, added.details),
      );
    case 'permission':
      return broker.patterns.restore(`permissions of user '${added.name}' ${where}`, () =>
        broker.access.setPermissions(added.name, added.vhost, added.details),
      );
    case 'policy':
      return broker.patterns.restore(`policy '${added.name}' ${where}`, () =>
        vhost.setPolicy(added.name, added.details),
      );
    case 'operator-policy':
      return broker.patterns.restore(`operator policy '${added.name}' ${where}`, () =>
        vhost.setOperatorPolicy(added.name, added.details),
      );
    case 'exchange':
      return void vhost.addExchange(added.details);
    case 'queue':
      return void vhost.addQueue(added.details, vhost.scheduler.clock.now());
    case 'queue-pause':
      return vhost.queues.get(added.name)?.pausing.begin(added.details);
    case 'binding': {
      const { to, destination: name, bindingKey, arguments: args } = added.details;
      const destination = to === 'queue' ? vhost.queues.get(name) : vhost.exchanges.get(name);
      // If a queue or exchange was not durable, it is gone, and the binding with it.
      if (destination !== undefined) vhost.exchanges.get(added.name)?.bind(destination, bindingKey, args);
    }
  }
}

/** Objects that are declared in one turn: some milliseconds. */
const declaredInTurn = 256;

/** Declares stored things in a new broker, some of them in each step. @param declared in any order */
export function* restoringTopology(broker: Broker, declared: Iterable<Added>): Generator<void, undefined> {
  const all = new Map<Added['kind'], Added[]>(kinds.map((kind) => [kind, []]));
  for (const added of declared) all.get(added.kind)?.push(added);
  let count = 0;
  for (const list of all.values()) {
    for (const added of list) {
      if (++count % declaredInTurn === 0) yield;
      restoreOne(broker, added);
    }
  }
}
