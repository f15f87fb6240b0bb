import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Api, reasonOf } from '../api.js';
import type { Answer, Command, Input } from '../command.js';
import { badArgument, CtlFailure, exit, noVhost, refused } from '../exit.js';

const group = 'Definitions';

function checkFormat({ options }: Input): void {
  const format = options.get('format') ?? 'json';
  if (format === 'json') return;
  if (format !== 'erlang') throw badArgument('Format should be either json or erlang');
  throw badArgument('definitions are read and written as JSON only');
}

async function exportTo({ args: [file = '-'] }: Input, api: Api): Promise<Answer> {
  const { text, body } = await api.call('GET', ['definitions'], [200]);
  if (file === '-') return { text, document: body };
  try {
    // They hold the hashes of passwords.
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    throw refused(exit.data, `No permissions to write to file ${file} or its parent directory`);
  }
  return undefined;
}

/** Undefined is standard input. */
const fileOf = ({ args: [file] }: Input): string | undefined => (file === '-' ? undefined : file);

/** @throws CtlFailure for a file that cannot be read */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw refused(exit.data, `File ${file} cannot be read: ${(error as Error).message}`);
  }
}

async function importFrom(input: Input, api: Api): Promise<Answer> {
  const file = fileOf(input);
  const text = file === undefined ? await input.stdin() : textOf(file);
  let definitions: unknown;
  try {
    definitions = JSON.parse(text);
  } catch (error) {
    const why = (error as Error).message.split('\n')[0];
    throw refused(exit.data, `Failed to deserialise input (format: JSON) (error: ${why})`);
  }
  const { status, body } = await api.call('POST', ['definitions'], [200, 204, 400], { body: definitions });
  if (status === 400) throw refusal(body);
  return { note: 'Successfully started definition import. This process is asynchronous and can take some time.' };
}

function refusal(body: unknown): CtlFailure {
  const { reason } = (body ?? {}) as { reason?: unknown };
  if (Array.isArray(reason) && reason[0] === 'no_such_vhost') return noVhost(String(reason[1]));
  return refused(exit.data, reasonOf(body) ?? 'refused');
}

export const definitionCommands: readonly Command[] = [
  {
    name: 'export_definitions',
    group,
    usage: '<file_path | "-"> [--format <json | erlang>] [--timeout <timeout>]',
    description: 'Exports users, permissions, virtual hosts, policies, exchanges, queues and bindings to a file',
    takes: [1, 1],
    options: { format: 'text' },
    check(input) {
      checkFormat(input);
      const [file = '-'] = input.args;
      if (file !== '-' && !existsSync(dirname(file))) throw badArgument(`Directory ${dirname(file)} does not exist`);
    },
    // To standard output the definitions go alone.
    banner: ({ args: [file] }) => (file === '-' ? '' : `Exporting definitions in JSON to a file at "${file}" ...`),
    run: exportTo,
  },
  {
    name: 'import_definitions',
    group,
    usage: '<file_path | "-"> [--format <json | erlang>] [--skip-if-unchanged] [--timeout <timeout>]',
    description: 'Imports the definitions of a file; other objects stay',
    takes: [0, 1],
    options: { format: 'text', 'skip-if-unchanged': 'flag' },
    check(input) {
      checkFormat(input);
      const file = fileOf(input);
      if (file !== undefined && !existsSync(file)) throw badArgument(`File ${file} does not exist`);
    },
    banner: (input) =>
      `Importing definitions in JSON from ${fileOf(input) === undefined ? 'standard input' : `a file at "${fileOf(input)}"`} ...`,
    run: importFrom,
  },
];
