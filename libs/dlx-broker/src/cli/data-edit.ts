import type { Command } from 'commander';
import type { Queue, VirtualHost } from '../engine/broker/index.js';
import { isReserved, isShortstr, maxShortstrBytes } from '../engine/message/index.js';
import { damageLines, editData } from '../store/index.js';
import { CommandError, exit } from './command-error.js';
import { acting, type CommandOutput, type Ended, writing } from './command.js';
import { checkData, contentsOf, exportData, restored, type Write } from './data.js';

/** Adds the commands of `data` to a program. */
export function addData(parent: Command, output: CommandOutput, ended: Ended): void {
  const add = acting(output, ended);
  const write = writing(output);
  const command = (name: string, about: string): Command =>
    parent.command(name).description(about).argument('<DIR>', 'the data directory');
  const ofQueue = (name: string, about: string): Command =>
    command(name, about)
      .argument('<QUEUE>', 'the name of the queue')
      .option('--vhost <NAME>', 'its virtual host', '/')
      .option('--dry-run', 'show the changes without making them');
  const check = command('check', 'Verify every record and count messages: exit code 0, or 1 for damage.');
  add(check, (_flags, directory: string) => checkData(directory, write));
  const remove = ofQueue('remove', 'Remove a queue, so that it can be declared anew with other arguments.');
  add(
    remove.option('--with-messages', 'also a queue with messages, which are lost'),
    (flags: EditFlags, directory: string, queue: string) => editQueue(directory, { ...flags, queue }, write),
  );
  add(
    ofQueue('rename', 'Rename a queue; its messages, bindings and arguments stay.').argument('<NEW>', 'its new name'),
    (flags: EditFlags, directory: string, queue: string, to: string) =>
      editQueue(directory, { ...flags, queue, to }, write),
  );
  add(command('export', 'Write every message with its deaths as a line of JSON.'), (_flags, directory: string) =>
    exportData(directory, write, (line) => output.error(`dlx-broker: ${line}`)),
  );
}

/** What names a queue: bindings are removed with it, or follow it to its new name; dead-letter settings are not changed. */
function referencesTo(
  { exchanges, queues, policies }: VirtualHost,
  queue: Queue,
): Readonly<Record<'bindings' | 'deadLetters', string[]>> {
  const { name } = queue;
  return {
    bindings: [...exchanges.values()].flatMap((exchange) =>
      exchange
        .bindings()
        .filter(({ destination }) => destination === queue)
        .map(({ bindingKey }) => `exchange '${exchange.name}' is bound to it with the key '${bindingKey}'`),
    ),
    deadLetters: [
      ...[...queues.values()]
        .filter(({ settings }) => settings.deadLetterExchange === '' && settings.deadLetterRoutingKey === name)
        .map((other) => `queue '${other.name}' sends its dead letters to it by name`),
      ...[...policies.user.list(), ...policies.operator.list()]
        .filter(({ definition }) => definition.get('dead-letter-routing-key') === name)
        .map((policy) => `policy '${policy.name}' has it as its dead-letter-routing-key`),
    ],
  };
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
    const { bindings, deadLetters } = referencesTo(broker.virtualHost(vhost), queue);
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
