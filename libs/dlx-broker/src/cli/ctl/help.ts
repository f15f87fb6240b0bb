import type { Command } from './command.js';
import { commands, groups } from './commands.js';
import { bold } from './format/bold.js';

/** The beginning of every usage line. */
const before = 'dlx-broker ctl [--url <url>] [--user <user>] [--password <password>] [--quiet]';

export const usageOf = ({ name, usage }: Command): string =>
  `${bold('Usage')}\n\n${`${before} ${name} ${usage}`.trimEnd()}`;

/** Commands that need no broker. */
export const withoutBroker: readonly Pick<Command, 'name' | 'group' | 'description'>[] = [
  { name: 'help', group: 'Help', description: 'Shows all commands, or the usage of one' },
  { name: 'version', group: 'Help', description: 'Shows the version of this program' },
];

/** The list of all commands, by group. */
export function commandList(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const sections = groups.map((group) => {
    const lines = [...withoutBroker, ...commands]
      .filter((command) => command.group === group)
      .map(({ name, description }) => `   ${name.padEnd(width)}  ${description}`);
    return `${bold(group)}:\n\n${lines.join('\n')}\n`;
  });
  return sections.join('\n');
}

/** For a command line without a command, or with an unknown one. */
export const overview = (): string => `
${bold('Usage')}

dlx-broker ctl [--url <url>] [--user <user>] [--password <password>] [--timeout <timeout>] [--quiet] <command> [<command options>]

Available commands:

${commandList()}
Use 'dlx-broker ctl help <command>' to learn more about a specific command`;

const commonOptions = `${bold('General Options')}

--url <url>            the management API, also as DLX_BROKER_URL (default: http://127.0.0.1:15672)
--user <user>          who asks, also as DLX_BROKER_USER (default on this machine: guest)
--password <password>  also as DLX_BROKER_PASSWORD, which is not visible in the list of processes
-p, --vhost <vhost>    virtual host to use, for commands that are about one (default: /)
-t, --timeout <n>      seconds to wait for an answer
-q, --quiet            tell only what was asked for
-s, --silent           the same, and no names above columns
--formatter <name>     table, pretty_table, csv or json
-?, --help             show this`;

/** The help text of a command. */
export function helpFor(command: Command): string {
  const columns = command.columns?.map(({ name }) => name).toSorted() ?? [];
  const asked = columns.length === 0 ? '' : `\n<column>\n\tmust be one of ${columns.join(', ')}\n`;
  return `\n${usageOf(command)}\n\n${command.description}.\n${asked}\n${commonOptions}\n`;
}
