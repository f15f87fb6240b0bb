import { DlxConfigurationError } from './configuration-error.js';
import { isWaitQueueName } from './wait-queues.js';

/** Names are short strings on the wire. */
const longestName = 255;

/** The name of a parking lot that can be one. @throws DlxConfigurationError */
export function checkedParkingLot(parkingLot: string | undefined, queue: string, origin: string): string {
  const name = parkingLot ?? `${queue}.parked`;
  const refuse = (why: string) => new DlxConfigurationError(`${origin}: parkingLot ${why}`);
  if (name === '') throw refuse(`is empty; name a queue, or leave it out for '${queue}.parked'`);
  if (name === queue) {
    throw refuse(`is '${name}', the work queue itself, where it would fail again; leave it out for '${queue}.parked'`);
  }
  if (isWaitQueueName(name)) throw refuse(`is '${name}', the name of a wait queue; choose another`);
  if (name.startsWith('amq.'))
    throw refuse(`is '${name}', but names beginning with 'amq.' are reserved; choose another`);
  if (Buffer.byteLength(name) > longestName) throw refuse(`is longer than ${longestName} bytes; choose a shorter name`);
  return name;
}
