import type { Command } from 'commander';
import type { Broker, Queue, VirtualHost } from '../engine/broker/index.js';
import { isReserved, isShortstr, maxShortstrBytes } from '../engine/message/index.js';
import { damageLines, editData } from '../store/index.js';
import { CommandError, exit } from './command-error.js';
import { act, type CommandOutput, type Ended, writing } from './command.js';
import { checkData, contentsOf, exportData, restored, type Write } from './data.js';

/** Adds the commands of `data` to a program. */
export function addData(parent: Command, output: CommandOutput, ended: Ended): void {
  const write = writing(output);
  const command = (name: string, about: string): Command =>
    parent.command(name).description(about).argument('<DIR>', 'the data directory');
  const ofQueue = (name: string, about: string): Command =>
    command(name, about)
      .argument('<QUEUE>', 'the name of the queue')
      .option('--vhost <NAME>', 'its virtual host', '/')
      .option('--dry-run', 'show the changes without making them');
  act(
    command('check', 'Verify every record and count messages: exit code 0, or 1 for damage.'),
    output,
    ended,
    (_flags, directory: string) => checkData(directory, write),
  );
  act(
    ofQueue('remove', 'Remove a queue, so that it can be declared anew with other arguments.').option(
      '--with-messages',
      'also a queue with messages, which are lost',
    ),
    output,
    ended,
    (flags: EditFlags, directory: string, queue: string) => editQueue(directory, { ...flags, queue }, write),
  );
  act(
    ofQueue('rename', 'Rename a queue; its messages, bindings and arguments stay.').argument('<NEW>', 'its new name'),
    output,
    ended,
    (flags: EditFlags, directory: string, queue: string, to: string) =>
      editQueue(directory, { ...flags, queue, to }, write),
  );
  act(
    command('export', 'Write every message with its deaths as a line of JSON.'),
    output,
    ended,
    (_flags, directory: string) => exportData(directory, write, (line) => output.error(`dlx-broker: ${line}`)),
  );
}

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

interface EditFlags {
  readonly vhost: string;
  readonly dryRun?: boolean;
  /** Allows to remove a queue that has messages. */
  readonly withMessages?: boolean;
}

export interface QueueEdit extends EditFlags {
  readonly queue: string;
  /** The new name; undefined to remove the queue. */
  readonly to?: string;
}

/**
 * Removes or renames a queue in a data directory that no process has open, and writes what changes with it. The change is
 * atomic: after a power cut it is done completely, or not at all.
 * @returns the exit code @throws CommandError, StoreError; then nothing has changed
 */
export async function editQueue(directory: string, edit: QueueEdit, out: Write): Promise<number> {
  const { vhost, queue, to, dryRun } = edit;
  const { lines, messages } = await planned(directory, edit);
  for (const line of lines) await out(`${line}\n`);
  if (dryRun) {
    await out('dry run: nothing was changed\n');
    return exit.ok;
  }
  if (to === undefined && messages > 0 && edit.withMessages !== true)
    throw new CommandError(
      `queue '${queue}' holds ${messages} messages. Nothing was changed; add --with-messages to lose them, or export them first`,
    );
  if (!(await editData(directory, (journal, onDurable) => journal.edit(vhost, queue, to, onDurable))))
    throw new CommandError(
      `queue '${queue}' in vhost '${vhost}' has changed meanwhile. Nothing was changed; try again`,
    );
  await out(to === undefined ? 'removed\n' : 'renamed\n');
  return exit.ok;
}

/** Finds out what changes, with a copy of the broker in memory. */
async function planned(directory: string, edit: QueueEdit): Promise<{ lines: readonly string[]; messages: number }> {
  const { vhost, queue: name, to } = edit;
  const { broker, data } = await restored(directory);
  try {
    const [damage] = damageLines(data.journal.damage);
    if (damage !== undefined)
      throw new CommandError(`${damage}. Nothing was changed; look with 'data check', and start a broker on it first`);
    const queue = broker.virtualHosts.get(vhost)?.queues.get(name);
    if (queue === undefined) throw new CommandError(`no queue '${name}' in vhost '${vhost}' of ${data.directory}`);
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

/** @throws CommandError */
function checkNew(to: string | undefined, queues: ReadonlyMap<string, unknown>): void {
  if (to === undefined) return;
  if (queues.has(to))
    throw new CommandError(`there is a queue '${to}' already. Nothing was changed; choose another name`);
  const isUsable = to !== '' && !isReserved(to) && isShortstr(to) && !/[\r\n]/.test(to);
  if (!isUsable)
    throw new CommandError(
      `'${to}' cannot be the name of a queue: 1 to ${maxShortstrBytes} bytes in one line, not beginning with 'amq.'`,
    );
}
