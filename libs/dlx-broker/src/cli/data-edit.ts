import type { Broker, Queue, VirtualHost } from '../engine/broker/index.js';
import { isReserved, isShortstr, maxShortstrBytes } from '../engine/message/index.js';
import { damageLines, editData } from '../store/index.js';
import { contentsOf, dataExit, restored, type Write } from './data.js';
import { Refusal } from './refusal.js';

/** References to the name of a queue, as lines of text. */
interface References {
  /** Bindings: they are removed with the queue, or follow it to its new name. */
  readonly bindings: readonly string[];
  /** Dead-letter settings with its name: they are not changed. */
  readonly deadLetters: readonly string[];
}

function referencesTo(broker: Broker, queue: Queue): References {
  const vhost = broker.virtualHost(queue.home.name);
  return {
    bindings: bindingsOf(vhost, queue),
    deadLetters: [...namedByQueues(vhost, queue), ...namedByPolicies(vhost, queue)],
  };
}

const bindingsOf = (vhost: VirtualHost, queue: Queue): string[] =>
  [...vhost.exchanges.values()].flatMap((exchange) =>
    exchange
      .bindings()
      .filter(({ destination }) => destination === queue)
      .map(({ bindingKey }) => `exchange '${exchange.name}' is bound to it with the key '${bindingKey}'`),
  );

const namedByQueues = (vhost: VirtualHost, { name }: Queue): string[] =>
  [...vhost.queues.values()]
    .filter(({ settings }) => settings.deadLetterExchange === '' && settings.deadLetterRoutingKey === name)
    .map((other) => `queue '${other.name}' sends its dead letters to it by name`);

function namedByPolicies(vhost: VirtualHost, { name }: Queue): string[] {
  const { user, operator } = vhost.policies;
  return [...user.list(), ...operator.list()]
    .filter(({ definition }) =>
      Object.entries(definition).some(([key, value]) => key === 'dead-letter-routing-key' && value === name),
    )
    .map((policy) => `policy '${policy.name}' has it as its dead-letter-routing-key`);
}

export interface QueueEdit {
  readonly vhost: string;
  readonly queue: string;
  /** The new name; undefined to remove the queue. */
  readonly to?: string;
  readonly dryRun: boolean;
  /** Allows to remove a queue that has messages. */
  readonly withMessages?: boolean;
}

/**
 * Removes or renames a queue in a data directory that no process has open, and writes what changes with it. The change is
 * atomic: after a power cut it is done completely, or not at all.
 * @returns the exit code @throws Refusal, StoreError; then nothing has changed
 */
export async function editQueue(directory: string, edit: QueueEdit, out: Write): Promise<number> {
  const { vhost, queue, to, dryRun } = edit;
  const { lines, messages } = await planned(directory, edit);
  for (const line of lines) await out(`${line}\n`);
  if (dryRun) {
    await out('dry run: nothing was changed\n');
    return dataExit.whole;
  }
  if (to === undefined && messages > 0 && edit.withMessages !== true)
    throw new Refusal(
      `queue '${queue}' holds ${messages} messages. Nothing was changed; add --with-messages to lose them, or export them first`,
    );
  if (!(await editData(directory, (journal, onDurable) => journal.edit(vhost, queue, to, onDurable))))
    throw new Refusal(`queue '${queue}' in vhost '${vhost}' has changed meanwhile. Nothing was changed; try again`);
  await out(to === undefined ? 'removed\n' : 'renamed\n');
  return dataExit.whole;
}

/** Finds out what changes, with a copy of the broker in memory. */
async function planned(directory: string, edit: QueueEdit): Promise<{ lines: readonly string[]; messages: number }> {
  const { vhost, queue: name, to } = edit;
  const { broker, data } = await restored(directory);
  try {
    const [damage] = damageLines(data.journal.damage);
    if (damage !== undefined)
      throw new Refusal(`${damage}. Nothing was changed; look with 'data check', and start a broker on it first`);
    const queue = broker.virtualHosts.get(vhost)?.queues.get(name);
    if (queue === undefined) throw new Refusal(`no queue '${name}' in vhost '${vhost}' of ${data.directory}`);
    checkNew(to, broker.virtualHosts.get(vhost)?.queues ?? new Map());
    const contents = [...contentsOf(broker)].find((one) => one.vhost === vhost && one.queue === name);
    const messages = contents?.kept.length ?? 0;
    const { bindings, deadLetters } = referencesTo(broker, queue);
    const what = `queue '${name}' in vhost '${vhost}' (${queue.declared.type}, ${messages} messages)`;
    const lines = [
      to === undefined
        ? `${what} is removed, with all it holds`
        : `${what} gets the name '${to}'; its messages and arguments come along`,
      ...bindings.map((line) => `  ${line}: ${to === undefined ? 'removed, too' : 'follows it'}`),
      ...deadLetters.map((line) => `  ${line}: not changed`),
    ];
    return { lines, messages };
  } finally {
    await data.close();
  }
}

/** @throws Refusal */
function checkNew(to: string | undefined, queues: ReadonlyMap<string, unknown>): void {
  if (to === undefined) return;
  if (queues.has(to)) throw new Refusal(`there is a queue '${to}' already. Nothing was changed; choose another name`);
  const isUsable = to !== '' && !isReserved(to) && isShortstr(to) && !/[\r\n]/.test(to);
  if (!isUsable)
    throw new Refusal(
      `'${to}' cannot be the name of a queue: 1 to ${maxShortstrBytes} bytes in one line, not beginning with 'amq.'`,
    );
}
