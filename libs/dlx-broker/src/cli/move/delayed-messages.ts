import type { Channel, Exchange } from '../../broker/index.js';

type Delayed = NonNullable<Exchange['delayed']>;

/** A message that a delayed exchange has. */
export interface DelayedMessage {
  readonly delayed: Delayed;
  readonly entry: Parameters<Parameters<Delayed['each']>[0]>[0];
}

/**
 * The delayed messages of a virtual host that would reach one queue and no other, in the order in which they are due.
 * @param note gets a line for each exchange with messages that stay: those that would reach other queues as well, and those with an expiration
 */
export function delayedMessagesFor(
  { exchanges, routing }: Channel['vhost'],
  queue: string,
  note: (line: string) => void,
): DelayedMessage[] {
  const found: DelayedMessage[] = [];
  for (const exchange of exchanges.values()) {
    const { delayed } = exchange;
    if (delayed === undefined) continue;
    let [shared, expiring] = [0, 0];
    delayed.each((entry) => {
      const queues = routing.queuesOf(entry.message, exchange).map(({ name }) => name);
      if (!queues.includes(queue)) return;
      if (queues.length > 1) shared += 1;
      else if (entry.message.own.expiration !== undefined) expiring += 1;
      else found.push({ delayed, entry });
    });
    const stay = (count: number, why: string): void => {
      if (count > 0) note(`${count} delayed messages of exchange '${exchange.name}' stay: ${why}`);
    };
    stay(shared, `they go to other queues than '${queue}', too`);
    stay(expiring, 'on the other side the delay takes the place of their expiration');
  }
  return found.sort((one, other) => one.entry.due - other.entry.due);
}
