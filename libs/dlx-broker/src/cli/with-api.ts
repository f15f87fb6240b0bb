import { addressOf, type LoginFlags } from './ctl/address.js';
import { Api } from './ctl/api.js';
import { CtlFailure, exit } from './ctl/exit.js';
import type { CommandOutput } from './dead-letters/ask.js';

type ApiFlags = LoginFlags & { readonly timeout?: string };

/**
 * The API of the server that the options name, or else the environment.
 * @param name of the command, for errors
 * @throws CtlFailure
 */
export function apiOf(name: string, flags: ApiFlags, env: CommandOutput['env']): Api {
  const { timeout } = flags;
  if (timeout !== undefined && !(Number(timeout) > 0))
    throw new CtlFailure(exit.usage, `Error: --timeout must be a number of seconds above 0, but is '${timeout}'`);
  return new Api(addressOf(flags, env), timeout === undefined ? undefined : Number(timeout) * 1000, name);
}

/**
 * Asks a server on behalf of a command. A failure is written to standard error.
 * @param name of the command, for errors
 * @param work may return an exit code; otherwise it is 0
 * @returns the exit code
 */
export async function withApi(
  name: string,
  flags: ApiFlags,
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
