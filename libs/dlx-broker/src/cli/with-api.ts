import { addressOf, type LoginFlags } from './ctl/address.js';
import { Api } from './ctl/api.js';
import { CtlFailure, exit } from './ctl/exit.js';
import type { CommandOutput } from './dead-letters/ask.js';

/**
 * The API of the server that the options name, or else the environment.
 * @param name of the command, for errors
 * @throws CtlFailure
 */
export function apiOf(name: string, { url, user, password }: LoginFlags, env: CommandOutput['env']): Api {
  const given = Object.entries({ url, user, password }).filter((one): one is [string, string] => one[1] !== undefined);
  return new Api(addressOf(new Map(given), env), undefined, name);
}

/**
 * Asks a server on behalf of a command. A failure is written to standard error.
 * @param name of the command, for errors
 * @param work may return an exit code; otherwise it is 0
 * @returns the exit code
 */
export async function withApi(
  name: string,
  flags: LoginFlags,
  output: CommandOutput,
  work: (api: Api) => Promise<number | void>,
): Promise<number> {
  try {
    return (await work(apiOf(name, flags, output.env))) ?? exit.ok;
  } catch (error) {
    if (!(error instanceof CtlFailure)) throw error;
    output.error(error.message);
    return error.code;
  }
}
