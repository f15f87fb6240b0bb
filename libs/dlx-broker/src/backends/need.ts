import { didYouMean } from '../platform/options/index.js';
import { type Backend, type Capabilities, serverOf } from './backend.js';
import { NotAvailableError } from './errors.js';

/** A member of {@link Backend} that only some servers can offer. */
export type Capability = keyof Capabilities;

interface Row {
  /** Ends the sentence "X cannot ...". */
  readonly what: string;
  readonly why: string;
  readonly remedy: string;
}

/** Each capability: what an application cannot do without it, why a server may lack it, and the remedy. */
const capabilities: Readonly<Record<Capability, Row>> = {
  browsing: {
    what: 'show the messages that wait in a queue',
    why: 'AMQP 0-9-1 has no way to look at messages without taking them',
    remedy:
      "consume the queue (DeadLetters.from), or use a broker that can be looked into: embedded() or 'dlx-broker serve'",
  },
  listing: {
    what: 'list its queues',
    why: 'AMQP 0-9-1 has no list of queues',
    remedy: 'name the queues instead of giving a pattern',
  },
  delayed: {
    what: 'take back delayed messages',
    why: 'it holds delayed messages in wait queues, out of which no single message can be taken',
    remedy: 'let the handler check whether the event still counts, or use embedded(), which can',
  },
  deaths: {
    what: 'report deaths of messages',
    why: 'a server tells a client of no death in its queues',
    remedy: 'consume the queue to which the dead letters go',
  },
  pausing: {
    what: 'pause a queue',
    why: 'it delivers to every consumer that has room',
    remedy: "pause the handlers in each application, or use embedded() or 'dlx-broker serve'",
  },
};

/**
 * Gets a member of a backend that only some servers can offer. Ask at each use: a reconnect may find another server.
 * @returns the member
 * @throws NotAvailableError naming what the server cannot do, why, and a remedy
 */
export function need<C extends Capability>(backend: Backend, capability: C): NonNullable<Backend[C]> {
  const offered = backend[capability];
  if (offered !== undefined) return offered;
  const { what, why, remedy } = capabilities[capability];
  const advice = backend.remedyFor?.(capability) ?? remedy;
  throw new NotAvailableError(capability, `${serverOf(backend.state)} cannot ${what}: ${why}; ${advice}`);
}

/**
 * The end of an error about a queue that is not there: `; did you mean 'orders'?`. Empty if no name of a queue is near, and where the
 * backend cannot list its queues.
 */
export async function nearestQueue({ listing }: Pick<Backend, 'listing'>, name: string): Promise<string> {
  return listing === undefined
    ? ''
    : listing.queueNames().then(
        (names) => didYouMean(name, names),
        () => '',
      );
}
