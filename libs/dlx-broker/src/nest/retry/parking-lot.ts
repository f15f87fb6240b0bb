import { type Field, int32, isReserved, isShortstr, longstr, maxShortstrBytes } from '../../engine/message/index.js';
import { DlxConfigurationError, shown } from '../../platform/options/index.js';
import { noDeliveryLimit, type QueueDeclaration } from '../../backends/topology/index.js';
import { type Retention, retentionArgumentNames, retentionArguments } from './retention.js';
import { isWaitQueueName, type WaitQueueType } from './wait-queue-names.js';

/** The parking lot for messages of a queue or a handler that names none. */
export const parkingLotOf = (name: string): string => `${name}.parked`;

/** The name of the parking lot, checked. @param usual the name when none is given @throws DlxConfigurationError */
export function checkedParkingLot(given: string | undefined, queue: string, usual: string, origin: string): string {
  const name = given ?? usual;
  const refuse = (why: string) => new DlxConfigurationError(`${origin}: parkingLot ${why}`);
  const out = `leave it out for '${usual}'`;
  if (typeof name !== 'string') throw refuse(`is ${shown(name)}; name a queue, or ${out}`);
  if (name === '') throw refuse(`is empty; name a queue, or ${out}`);
  if (name === queue) {
    throw refuse(`is '${name}', the work queue itself, where it would fail again; ${out}`);
  }
  if (isWaitQueueName(name)) throw refuse(`is '${name}', the name of a wait queue; choose another`);
  if (isReserved(name)) throw refuse(`is '${name}', but names beginning with 'amq.' are reserved; choose another`);
  if (!isShortstr(name)) throw refuse(`is longer than ${maxShortstrBytes} bytes; choose a shorter name`);
  return name;
}

/**
 * Declares a parking lot. Without a retention a parked message stays until it is consumed.
 * @param origin where it is needed, for error messages
 * @param type that of option `waitQueueType`, so that it is as safe on a cluster as wait queues are
 */
export function parkingLotQueue(
  name: string,
  origin: string,
  type: WaitQueueType,
  retention?: Retention,
): QueueDeclaration {
  const kept = retention === undefined ? [] : retentionArguments(retention, type);
  const args = new Map([...typed(type), ...kept]);
  return { ...plain, name, arguments: args, mayDiffer: retentionArgumentNames, origin };
}

/** Declares the queue that gets what a parking lot has kept for its time. */
export function archiveQueue(name: string, origin: string, type: WaitQueueType): QueueDeclaration {
  return { ...plain, name, arguments: new Map(typed(type)), origin };
}

const plain = { durable: true, exclusive: false, autoDelete: false } as const;

const typed = (type: WaitQueueType): readonly (readonly [string, Field])[] =>
  type === 'quorum'
    ? [
        ['x-queue-type', longstr('quorum')],
        ['x-delivery-limit', int32(noDeliveryLimit)],
      ]
    : [];
