import type { AmqpChannel, AmqpConnection, Answer, Done } from '../../libs/dlx-broker/src/amqp/client/api.js';
import { openConnection } from '../../libs/dlx-broker/src/amqp/client/connection.js';
import { type Address, dial } from '../../libs/dlx-broker/src/amqp/client/dial.js';
import type { ConnectionOptions } from '../../libs/dlx-broker/src/amqp/client/handshake.js';
import { SystemClock } from '../../libs/dlx-broker/src/platform/index.js';

/** A connection over TCP with promises for tests. */
export interface Dialed {
  readonly connection: AmqpConnection;
  /** Why it ended; undefined when the client closed it. */
  readonly ended: Promise<Error | undefined>;
}

/** Connects. @throws why it could not */
export function connected(address: Address, options: Partial<ConnectionOptions> = {}): Promise<Dialed> {
  const { host, port } = address;
  const credentials = { user: 'guest', password: 'guest' };
  const runtime = { clock: new SystemClock(), later: (act: () => void) => void setImmediate(act) };
  return new Promise((resolve, reject) => {
    const ended = new Promise<Error | undefined>((resolveEnd) => {
      const all = { place: `${host}:${port}`, credentials, ...options };
      const connection = openConnection(all, dial(address), runtime, {
        opened: () => resolve({ connection, ended }),
        closed: (failure) => {
          resolveEnd(failure);
          if (failure !== undefined) reject(failure);
        },
        fault: (error) => {
          throw error;
        },
      });
    });
  });
}

/** A channel of it. */
export const channelOf = ({ connection }: Dialed): AmqpChannel => connection.openChannel({ closed: () => undefined });

/** Waits for an answer. @throws the failure */
export const asked = <T>(act: (answer: Answer<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => {
    act((failure, value) => (failure === undefined ? resolve(value) : reject(failure)));
  });

/** Waits until it is done. @returns the failure, if it was one */
export const failureOf = (act: (done: Done) => void): Promise<Error | undefined> =>
  new Promise((resolve) => act(resolve));
