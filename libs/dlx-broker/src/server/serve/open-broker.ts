import {
  Broker,
  type Clock,
  type Journal,
  type ProfileName,
  type RefusedPattern,
  type Stalled,
  versionOf,
} from '../../engine/broker/index.js';
import { policyPatterns, randomNames, SystemClock, turnPace } from '../../platform/index.js';
import type { Data, DataOptions } from '../../store/index.js';
import type { Fault } from '../index.js';

/** The present faults of the storage, the worst first. A broker without a journal has none. */
export function faultsOf(
  broker: Broker,
  journal: Pick<Journal, 'hasFailed' | 'trouble'> | undefined,
): readonly Fault[] {
  if (journal === undefined) return [];
  const { hasFailed = false, trouble } = journal;
  const stalled = [...broker.stalls];
  return [
    ...(hasFailed
      ? [{ name: 'storage_failed', reason: trouble ?? 'the storage has failed', queues: [] } as const]
      : []),
    ...(stalled[0] === undefined ? [] : [unreadableFault(stalled[0], stalled)]),
  ];
}

/** The log line for a queue that stands still. */
const stallLine = ({ queue, reason }: Stalled): string =>
  `queue '${queue.name}' in vhost '${queue.home.name}' stands still: ${reason}. Its messages stay where they are and are ` +
  'read again every few seconds; other queues go on. Check the disk';

/** The log line for a stored pattern that is refused today. */
const refusedLine = ({ of, reason }: RefusedPattern): string =>
  `${of}: a stored pattern is refused now and matches no name: ${reason}. Set it again with another pattern`;

/** The log line when no queue stands still any more. */
const stallOverLine = 'All queues go on: messages can be read from the disk again';

function unreadableFault({ reason }: Stalled, stalled: readonly Stalled[]): Fault {
  const queues = stalled.map(({ queue }) => ({ vhost: queue.home.name, name: queue.name }));
  const many = queues.length === 1 ? '1 queue stands' : `${queues.length} queues stand`;
  return { name: 'storage_unreadable', reason: `${many} still: ${reason}`, queues };
}

/** The global parameter by which tools distinguish brokers. It is made once, and stays as long as the data directory. */
const clusterId = 'internal_cluster_id';

/** Options of a broker in this process. */
export interface OpenBrokerOptions {
  /** The version of RabbitMQ to behave like; default 4. */
  readonly rabbitmq?: ProfileName | undefined;
  /** How long a delivery may stay unacknowledged, in milliseconds; Infinity for ever. Default 30 minutes. */
  readonly consumerTimeout?: number | undefined;
  /** When an at-least-once dead letter that did not arrive is published again, in milliseconds. Default 3 minutes. */
  readonly deadLetterRetryAfter?: number | undefined;
  /** Default: the clock of this machine. */
  readonly clock?: Clock | undefined;
  /** The data directory. Default: none, and nothing survives the end of the process. */
  readonly data?: (DataOptions & { readonly directory: string }) | undefined;
  /** Gives up an opening, which then fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Receivers of log lines and faults. */
export interface Reporter {
  /** Gets lines for the operator: refused logins, what the data directory has, changes of its disk space. */
  readonly notice?: ((text: string) => void) | undefined;
  /** Gets internal errors, failures of the disk, and damage in the data directory. */
  readonly log?: ((error: unknown) => void) | undefined;
  /** Called when a broker in memory closes while it has messages, with their number. */
  readonly lost?: ((messages: number) => void) | undefined;
}

/** Which RabbitMQ a broker behaves like, and where it keeps messages, with their number now. */
export function startLine({ broker, data }: OpenedBroker): string {
  const kept = data && `${data.isNew ? 'new' : `${data.journal.stats.entries} messages`}`;
  const place =
    data === undefined ? 'in memory: nothing survives this process' : `data directory ${data.directory}: ${kept}`;
  return `behaves as RabbitMQ ${versionOf(broker)}, ${place}`;
}

/** @param remedy what would have kept the messages */
export const lostLine = (messages: number, remedy: string): string =>
  `${messages === 1 ? '1 message is' : `${messages} messages are`} lost, because the broker was in memory; ${remedy} keeps them`;

/** An open broker, and its data directory. */
export interface OpenedBroker {
  readonly broker: Broker;
  readonly data: Data | undefined;
  /** Closes the broker, and completes the writes to the data directory. */
  close(): Promise<void>;
}

/** Makes a broker, and restores it from its data directory. @throws StoreError if the directory cannot be used, or the reason of the signal */
export async function openBroker(options: OpenBrokerOptions, reporter: Reporter): Promise<OpenedBroker> {
  const { rabbitmq, consumerTimeout, deadLetterRetryAfter, clock = new SystemClock(), data: kept, signal } = options;
  const data = kept && (await openDirectory({ ...kept, ...(signal && { signal }) }, clock, reporter));
  const broker = new Broker({
    clock,
    names: randomNames,
    patterns: policyPatterns,
    pace: turnPace,
    ...(rabbitmq !== undefined && { rabbitmq }),
    ...(consumerTimeout !== undefined && { consumerTimeout }),
    ...(deadLetterRetryAfter !== undefined && { deadLetterRetryAfter }),
    ...(data && { journal: data.journal }),
  });
  const close = async (): Promise<void> => {
    const messages = data === undefined ? messagesIn(broker) : 0;
    if (messages > 0) reporter.lost?.(messages);
    broker.close(); // its clock would keep the process alive
    await data?.close();
  };
  try {
    if (data !== undefined) await restore(data, broker, reporter);
    if (!broker.parameters.has(clusterId))
      broker.parameters.set(clusterId, `rabbitmq-cluster-id-${randomNames.token()}`);
    return { broker, data, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The messages that queues and delayed exchanges have. */
function messagesIn(broker: Broker): number {
  let messages = 0;
  for (const { queues, exchanges } of broker.virtualHosts.values()) {
    for (const { length, unacked, delayed, retained } of queues.values())
      messages += length + unacked + delayed + retained;
    for (const { delayed } of exchanges.values()) messages += delayed?.count ?? 0;
  }
  return messages;
}

/** The code of the store is loaded only when a data directory is used. */
async function openDirectory(
  { directory, ...options }: NonNullable<OpenBrokerOptions['data']> & Pick<OpenBrokerOptions, 'signal'>,
  clock: Clock,
  { notice, log }: Reporter,
): Promise<Data> {
  const { openData } = await import('../../store/index.js');
  let spaceChanged = (_isLow: boolean): void => {}; // replaced when the directory is open
  const data = await openData(directory, {
    ...options,
    now: () => clock.now(),
    failed: (error) => log?.(error),
    damaged: (error) => log?.(error),
    spaceChanged: (isLow) => spaceChanged(isLow),
  });
  spaceChanged = (isLow) => notice?.(spaceLine(data, isLow));
  if (data.journal.isFull) spaceChanged(true);
  return data;
}

/** RabbitMQ's log line about disk space, with the effect on publishers. */
function spaceLine({ journal, directory, diskFreeLimit }: Data, isLow: boolean): string {
  const [state, so] = isLow
    ? ['insufficient', 'persistent messages are refused until there is more']
    : ['sufficient', 'persistent messages are taken again'];
  const free = journal.stats.diskFree ?? 'unknown';
  return `Free disk space is ${state} for ${directory}: ${so}. Free bytes: ${free}. Limit: ${diskFreeLimit}`;
}

/** Restores the broker, and logs any damage. */
async function restore(data: Data, broker: Broker, { notice, log }: Reporter): Promise<void> {
  const { journal } = data;
  const { damageLines, StoreError } = await import('../../store/index.js');
  broker.stalls.changed = (stalled, isOver) => {
    if (isOver) notice?.(stallOverLine);
    else log?.(new StoreError('unreadable', stallLine(stalled)));
  };
  await data.restore(broker);
  for (const refused of broker.patterns.refused) notice?.(refusedLine(refused));
  const damage = damageLines(journal.damage);
  if (damage.length > 0) log?.(new StoreError('damaged', damage.join('\n')));
}
