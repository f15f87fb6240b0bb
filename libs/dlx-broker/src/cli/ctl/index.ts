import type { Command } from 'commander';
import { shownJson, shownLines, shownText } from '../../platform/index.js';
import type { Api } from '../api.js';
import { CommandError, exit } from '../command-error.js';
import {
  asking,
  type Call,
  type CommandOutput,
  type CommonFlags,
  type Ended,
  withServer,
  withVhost,
} from '../command.js';
import { type Facts, type Given, request, shownThing } from './request.js';
import { type Row, table } from './table.js';

interface CtlFlags extends CommonFlags {
  readonly quiet?: true;
  readonly silent?: true;
  readonly timeout?: string;
}

/** Adds the commands of `ctl` to a program. */
export function addCtl(parent: Command, output: CommandOutput, ended: Ended): void {
  const add = asking(output, ended);
  for (const [group, rows] of Object.entries(table)) {
    parent.commandsGroup(`${group}:`);
    for (const row of rows) {
      const { about, call = '', columns, options = [] } = row;
      const command = parent.command(row.command).description(about);
      if (columns !== undefined) command.argument('[columns...]', columns.join(' ').trim().replaceAll(' ', ', '));
      for (const [flags, description] of options) command.option(flags, description);
      const isOfVhost = call.includes('{vhost}') && !row.command.includes('<vhost>');
      (isOfVhost || row.only ? withVhost(command) : withServer(command))
        .option('-q, --quiet', 'write only what was asked for')
        .option('-s, --silent', 'the same, and no names of columns')
        .option('-t, --timeout <SECONDS>', 'how long to wait for an answer (default: as long as it takes)');
      add(command, (call: Call<CtlFlags>) => run(row, command, call));
    }
  }
}

async function run(row: Row, command: Command, { flags, api, output }: Call<CtlFlags>): Promise<void> {
  const args = command.registeredArguments.map((each, at) => [each.name(), command.processedArgs[at]] as const);
  const given = { vhost: '/', ...flags, ...Object.fromEntries(args) } as Given;
  const { call, body, headers, query = {}, thing, done, columns } = row;
  if (columns !== undefined && call !== undefined) return list(row, given, flags, api, output);
  if (call !== undefined) {
    const asked = Object.entries(query).filter(([flag]) => given[flag] === true);
    await request(api, call, given, {
      body: body?.(given),
      headers: headers?.(given) ?? {},
      query: Object.fromEntries(asked.map(([, name]) => [name, 'true'])),
      thing: call.startsWith('DELETE') ? thing : undefined,
    });
  }
  const answer = await row.run?.(given, api, output.stdin ?? (async () => ''));
  if (typeof answer === 'object') return output.out(shownJson(JSON.stringify(answer)));
  const what = done ?? (call?.startsWith('PUT') === true ? 'set' : 'removed');
  const text = answer ?? (call && thing ? shownText(`${shownThing(call, thing, given)}: ${what}`) : 'done');
  if (answer !== undefined || !(flags.quiet || flags.silent || flags.json)) output.out(shownLines(text));
}

/** Names of columns of rabbitmqctl, and their keys in the API. */
const keys: Readonly<Record<string, string>> = {
  source_name: 'source',
  destination_name: 'destination',
  destination_kind: 'destination_type',
  queue_name: 'queue.name',
  channel_pid: 'channel_details.name',
  connection: 'connection_details.name',
  owner_pid: 'owner_pid_details.name',
  limits: 'value',
};

function valueOf(row: Facts, column: string): unknown {
  const path = (keys[column] ?? column).split('.');
  const value = path.reduce<unknown>((object, key) => (object as Facts | undefined)?.[key], row);
  // RabbitMQ counts the messages of a new queue after some seconds.
  return value ?? (/^(messages|message_bytes|consumers)/.test(column) ? 0 : null);
}

/** Names as they are, other values as JSON. */
function cellOf(value: unknown): string {
  if (value === null || typeof value === 'string') return value ?? '';
  const isOfNames = Array.isArray(value) && value.every((each) => typeof each === 'string');
  return isOfNames ? value.join(',') : JSON.stringify(value);
}

async function list(row: Row, given: Given, flags: CtlFlags, api: Api, { out }: CommandOutput): Promise<void> {
  const [shown = [], others = []] = (row.columns ?? []).map((names) => names.split(' '));
  const asked = (given['columns'] as readonly string[]).flatMap((each) => each.split(/[\s,]+/).filter(Boolean));
  const unknown = asked.find((each) => ![...shown, ...others].includes(each));
  if (unknown !== undefined) {
    const text = `there is no column '${unknown}'; the columns are ${[...shown, ...others].join(', ')}`;
    throw new CommandError(text, exit.usage);
  }
  const { body } = await request(api, String(row.call), given);
  if (!Array.isArray(body)) throw api.foreign();
  const rows = (body as Facts[]).filter((each) => row.only?.(each, given) ?? true);
  const columns = asked.length === 0 ? shown : asked;
  const cut = (each: Facts): Facts => Object.fromEntries(columns.map((column) => [column, valueOf(each, column)]));
  if (flags.json) return out(shownJson(JSON.stringify(asked.length === 0 ? rows : rows.map(cut))));
  const lines = rows.map((each) => columns.map((column) => shownText(cellOf(valueOf(each, column)))).join('\t'));
  if (!flags.silent) lines.unshift(columns.join('\t'));
  if (lines.length > 0) out(lines.join('\n'));
}
