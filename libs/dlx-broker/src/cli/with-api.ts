import { addressOf } from './ctl/address.js';
import { Api } from './ctl/api.js';
import { CtlFailure, exit } from './ctl/exit.js';
import type { CommandOutput, CommonFlags } from './dead-letters/ask.js';

/**
 * Asks a server on behalf of a command. A failure is written to standard error.
 * @param name of the command, for errors
 * @returns the exit code
 */
export async function withApi(
  name: string,
  { url, user, password }: CommonFlags,
  output: CommandOutput,
  work: (api: Api) => Promise<void>,
): Promise<number> {
  try {
    const given = Object.entries({ url, user, password }).filter(
      (one): one is [string, string] => one[1] !== undefined,
    );
    await work(new Api(addressOf(new Map(given), output.env), undefined, name));
    return exit.ok;
  } catch (error) {
    if (!(error instanceof CtlFailure)) throw error;
    output.error(error.message);
    return error.code;
  }
}
