import { checkSameArgument, checkSameProperty } from '../equivalence.js';
import type { Field, FieldTable } from '../../message/index.js';
import { type Profile, profiles } from '../profile.js';
import type { QueueArgument } from './argument-row.js';
import { isKnown, queueArguments } from './arguments.js';
import type { QueueType } from '../declarations.js';

/** The properties of a queue that a redeclare compares. */
export interface QueueIdentity {
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly arguments: FieldTable;
}

/**
 * Checks that an existing queue has the properties of a redeclare (rules F10, F11). The caller has checked the owner of an
 * exclusive queue (rule O4).
 * @throws 406 that names the first difference
 */
export function checkEquivalent(
  queue: string,
  vhost: string,
  existing: QueueIdentity & { readonly type: QueueType },
  asked: QueueIdentity,
  profile: Profile = profiles['3.10'],
): void {
  const where = `queue '${queue}' in vhost '${vhost}'`;
  checkSameProperty('durable', existing.durable, asked.durable, where);
  checkSameProperty('auto_delete', existing.autoDelete, asked.autoDelete, where);
  if (existing.arguments === asked.arguments || (existing.arguments.size === 0 && asked.arguments.size === 0)) return;
  for (const row of comparedArguments[existing.type]) {
    const { name } = row;
    const current = existing.arguments.get(name);
    const received = asked.arguments.get(name);
    if ((current === undefined && received === undefined) || !isKnown(row, profile)) continue;
    if (name === 'x-queue-type' && isClassic(current) && isClassic(received)) continue;
    checkSameArgument(name, current, received, where);
  }
}

/** Naming the default type is the same as not naming one. */
const isClassic = (type: Field | undefined): boolean => type === undefined || type.value === 'classic';

const inOrder = (type: QueueType): readonly QueueArgument[] =>
  queueArguments
    .filter((row) => row.on[type] !== undefined && row.isCompared !== false)
    .sort((one, other) => one.on[type]! - other.on[type]!);

const comparedArguments: Readonly<Record<QueueType, readonly QueueArgument[]>> = {
  classic: inOrder('classic'),
  quorum: inOrder('quorum'),
};
