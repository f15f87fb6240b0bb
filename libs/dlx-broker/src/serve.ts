import { type Limits, listen, type Listener, type TlsOptions } from './amqp/index.js';
import { policyPatterns, randomNames, SystemClock, turnPace } from './backend/index.js';
import { Broker, type ProfileName } from './broker/index.js';
import { guestOf, letIn, type ServedUser } from './users/index.js';

/** What it takes to serve; everything has a default. */
export interface ServeOptions {
  readonly amqp?: { readonly host: string; readonly port: number };
  readonly tls?: TlsOptions;
  /** Which RabbitMQ it behaves like. */
  readonly rabbitmq?: ProfileName;
  /** Beside `/`. */
  readonly virtualHosts?: readonly string[];
  /** Unless told, `guest` with the password `guest`, who may do everything, but only from this machine. */
  readonly users?: readonly ServedUser[];
  readonly limits?: Partial<Limits>;
  /** Hears what an operator may want to know of clients: refused logins. */
  readonly notice?: (text: string) => void;
  /** Hears of faults of our own. */
  readonly log?: (error: unknown) => void;
}

/** A broker on its own, and how it is reached. */
export interface Served {
  readonly broker: Broker;
  readonly amqp: Listener;
  /** Tells all clients to go (320) and ends. */
  close(): Promise<void>;
}

/** Puts a broker together and opens its port. @throws what the system says when the port cannot be had */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const { rabbitmq, tls, limits, log, notice, amqp = {} } = options;
  const broker = new Broker({
    clock: new SystemClock(),
    names: randomNames,
    patterns: policyPatterns,
    pace: turnPace,
    ...(rabbitmq && { rabbitmq }),
  });
  for (const name of options.virtualHosts ?? []) broker.addVirtualHost(name);
  letIn(broker, options.users ?? [guestOf('/')]);
  const listener = await listen(broker, {
    ...amqp,
    ...(tls && { tls }),
    ...(limits && { limits }),
    ...(log && { log }),
    ...(notice && { notice }),
  });
  const close = async (): Promise<void> => {
    await listener.close();
    broker.close();
  };
  return { broker, amqp: listener, close };
}
