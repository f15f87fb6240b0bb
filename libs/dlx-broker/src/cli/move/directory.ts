import { existsSync } from 'node:fs';
import {
  type Broker,
  type Channel,
  type Clock,
  type Connection,
  Outcome as Fate,
  type Settled,
  silentOutbox,
} from '../../broker/index.js';
import { shownText } from '../../host/index.js';
import { openBroker, type OpenedBroker } from '../../open-broker.js';
import { Refusal } from '../refusal.js';
import { type DelayedMessage, delayedMessagesFor } from './delayed-messages.js';
import { delayQueueArguments, delayQueueFor, exchangeFor, withDelay } from './names.js';
import { type DirectoryPlace, shownPlace } from './places.js';
import { MoveFailure, type Moving, type Source, type Taken, type Target, defaultWindow } from './ends.js';

/** The year 1970: no message has expired, no lease is over, and no delay. */
const longAgo = 1;

/** A queue of a data directory that no other process has open. */
class Directory {
  readonly channel: Channel;
  readonly #connection: Connection;

  private constructor(
    readonly own: OpenedBroker,
    readonly place: DirectoryPlace,
  ) {
    this.#connection = this.broker.connect({ vhost: place.vhost });
    this.channel = this.#connection.openChannel(silentOutbox);
  }

  /** @throws Refusal, StoreError */
  static async open(place: DirectoryPlace, note: (line: string) => void, takesMessages: boolean): Promise<Directory> {
    const { directory, vhost, queue } = place;
    if (!existsSync(directory)) {
      const remedy = 'check the path, or write amqp://HOST:PORT/VHOST for a server';
      throw new Refusal(`${directory} is not there. Nothing was read or written; ${remedy}`);
    }
    // With the real time, the start of the broker would expire messages and leases. A move must change only its own queue.
    let now = (): number => longAgo;
    const clock: Clock = { now: () => now(), wakeAt: () => undefined };
    const heard: unknown[] = [];
    const log = (error: unknown): void => void heard.push(error);
    const own = await openBroker({ clock, data: { directory } }, { log });
    try {
      const known = own.broker.virtualHosts.get(vhost);
      if (known === undefined) throw new Refusal(`no virtual host '${vhost}' in ${directory}`);
      if (!known.queues.has(queue)) throw new Refusal(`no queue '${queue}' in vhost '${vhost}' of ${directory}`);
      if (takesMessages) now = Date.now; // the messages to come may have a time to live
      for (const error of heard) note(shownText((error as Error).message));
      return new Directory(own, place);
    } catch (error) {
      await own.close();
      throw error;
    }
  }

  get broker(): Broker {
    return this.own.broker;
  }

  /** Waits for the disk. Otherwise a crash could bring back many messages that are already in the target. */
  stored(act: () => void): Promise<void> {
    const { broker } = this;
    return new Promise<void>((resolve, reject) => {
      const { sequence } = broker;
      act();
      broker.onStored(sequence, (failure) => (failure ? reject(this.fails(failure)) : resolve()));
    });
  }

  fails(error: unknown): MoveFailure {
    const { directory, queue } = this.place;
    return new MoveFailure('impossible', `queue '${queue}' of ${directory}: ${(error as Error).message}`, {
      cause: error,
    });
  }

  async close(): Promise<void> {
    this.#connection.close();
    await this.own.close();
  }
}

/** Takes messages out of a queue of a data directory. @throws Refusal, StoreError */
export async function directorySource(place: DirectoryPlace, note: (line: string) => void): Promise<Source> {
  const open = await Directory.open(place, note, false);
  const { channel } = open;
  // After a crash every message of a classic queue counts as redelivered. Those that were taken are back at its head.
  const isExact = channel.vhost.queues.get(place.queue)?.declared.type === 'quorum';
  let taken = 0;
  let waiting: Iterator<DelayedMessage> | undefined;
  const nextDelayed = (): Taken | undefined => {
    waiting ??= delayedMessagesFor(channel.vhost, place.queue, note).values();
    const { value, done } = waiting.next();
    return done === true ? undefined : takenOf(open, value);
  };
  return {
    next: async (): Promise<Taken | undefined> => {
      try {
        const got = channel.get(place.queue);
        if (got === undefined) return nextDelayed();
        const { deliveryTag: tag, redelivered, message, body } = got;
        const { routingKey, properties, origin } = message;
        const settle = (act: () => void): void => {
          if (!channel.isClosed) act();
        };
        return {
          routingKey,
          properties,
          origin,
          body,
          redelivered: redelivered && (isExact || taken++ < defaultWindow),
          ack: () => open.stored(() => settle(() => channel.ack(tag))),
          giveBack: () => settle(() => channel.nack(tag)),
        };
      } catch (error) {
        throw open.fails(error);
      }
    },
    close: () => open.close(),
  };
}

/** A delayed message, whose delay does not end, because the clock of this command does not advance. */
function takenOf(open: Directory, { delayed, entry }: DelayedMessage): Taken {
  const { routingKey, own, body, origin } = entry.message;
  return {
    routingKey,
    properties: own,
    origin,
    body,
    due: entry.due,
    redelivered: false,
    ack: () => open.stored(() => open.broker.batch(() => delayed.drop(entry))),
    giveBack: () => undefined,
  };
}

/** Sends messages to a queue of a data directory. @throws Refusal, StoreError */
export async function directoryTarget(place: DirectoryPlace, note: (line: string) => void): Promise<Target> {
  const open = await Directory.open(place, note, true);
  const { channel } = open;
  const exchange = exchangeFor(place.queue);
  try {
    channel.declareExchange(exchange, { type: 'fanout', durable: false });
    channel.bindQueue(place.queue, exchange, '');
  } catch (error) {
    await open.close();
    throw new Refusal(`${shownPlace(place)} cannot be bound to exchange '${exchange}': ${(error as Error).message}`);
  }
  const send = (to: string, key: string, { properties, body, origin }: Moving): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      const settled: Settled = (failure) => {
        if (failure === undefined) resolve();
        else reject(open.fails(failure));
      };
      try {
        const fate = channel.publishNow(to, key, properties, body, settled, origin);
        const trouble = channel.vhost.journal?.trouble;
        if ((fate & Fate.Refused) === 0) return;
        if (trouble !== undefined) return reject(open.fails(new Error(trouble)));
        reject(new MoveFailure('refused', `queue '${place.queue}' of ${place.directory} is full and refuses messages`));
      } catch (error) {
        reject(open.fails(error));
      }
    });
  let delayQueue: string | undefined;
  const declareDelayQueue = (): string => {
    const name = delayQueueFor(place.queue);
    try {
      channel.declareQueue(name, { durable: true, arguments: delayQueueArguments(place.queue) });
    } catch (error) {
      throw open.fails(error);
    }
    note(`delayed messages wait in queue '${name}'; delete it when it is empty`);
    return name;
  };
  return {
    publish: (message) => send(exchange, message.routingKey, message),
    publishLater: async (message, delay) => send('', (delayQueue ??= declareDelayQueue()), withDelay(message, delay)),
    close: async () => {
      try {
        if (!channel.isClosed) channel.deleteExchange(exchange);
      } finally {
        await open.close();
      }
    },
  };
}
