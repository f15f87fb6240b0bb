import { listen, type Listener, type ListenOptions } from '../amqp/index.js';
import { type Backend, EmbeddedBackend, policyPatterns, randomNames, SystemClock, turnPace } from '../backend/index.js';
import { Broker, type ProfileName } from '../broker/index.js';
import { DlxConfigurationError } from '../topology/index.js';
import { guestOf, letIn, type ServedUser } from '../users/index.js';
import type { DlxBrokerOptions } from './dlx-broker.module.js';
import type { Connected } from './options.js';

/** Ways for other processes into the broker of this one. */
export interface ListenAt {
  /** A port for AMQP 0-9-1 clients: on loopback, 5672, unless told; 0 is any that is free. */
  readonly amqp?: Omit<ListenOptions, 'authenticate'>;
  /** Who may log in. Unless told, `guest` with the password `guest`, who may do everything, but only from this machine. */
  readonly users?: readonly ServedUser[];
}

const nothing = async (): Promise<void> => {};

/** A backend that somebody else opened and will close. */
export const lent = (backend: Backend): Connected => ({
  backend,
  open: nothing,
  amqp: () => undefined,
  close: nothing,
});

/** Gets the module its broker: one that was lent, or one of its own. */
export function connect(options: DlxBrokerOptions): Connected {
  const { backend, broker, vhost = '/', user } = options;
  if (backend !== undefined) {
    if (options.listen === undefined) return lent(backend);
    throw new DlxConfigurationError(
      "DlxBrokerModule: option 'listen' opens ports of a broker in this process, but option 'backend' names one elsewhere",
    );
  }
  const used = broker ?? newBroker(options.rabbitmq);
  used.addVirtualHost(vhost);
  const embedded = new EmbeddedBackend(used, { vhost, ...(user !== undefined && { user }) });
  let listener: Listener | undefined;
  return {
    backend: embedded,
    open: async () => {
      if (options.listen?.amqp === undefined || listener !== undefined) return;
      letIn(used, options.listen.users ?? [guestOf(vhost)]);
      listener = await listen(used, options.listen.amqp).catch((error: NodeJS.ErrnoException) => {
        const { host = '127.0.0.1', port = 5672 } = options.listen?.amqp ?? {};
        const why = error.code === 'EADDRINUSE' ? 'is taken; choose another one, or 0 for any' : error.message;
        throw new DlxConfigurationError(`option 'listen.amqp' of DlxBrokerModule: port ${port} of ${host} ${why}`);
      });
    },
    amqp: () => (listener === undefined ? undefined : { host: listener.host, port: listener.port }),
    close: async () => {
      await listener?.close();
      await embedded.close();
      if (broker === undefined) used.close(); // its clock would keep the process alive
    },
  };
}

const newBroker = (rabbitmq: ProfileName = '3.10'): Broker =>
  new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns, pace: turnPace, rabbitmq });
