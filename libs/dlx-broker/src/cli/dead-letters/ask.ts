import { type Api, reasonOf, type Reply, type Sent } from '../ctl/api.js';
import { CtlFailure, exit, type ExitCode } from '../ctl/exit.js';

/** The options of all commands about dead letters. */
export interface CommonFlags {
  readonly vhost: string;
  readonly url?: string;
  readonly user?: string;
  readonly password?: string;
  readonly json?: true;
}

/** The environment and the outputs of a command. */
export interface CommandOutput {
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  error(text: string): void;
}

/** @throws CtlFailure with the reason of the server: exit code 65 if something does not exist, 64 for an invalid request */
export async function ask(
  api: Api,
  method: 'GET' | 'POST' | 'DELETE',
  path: readonly string[],
  sent: Sent = {},
): Promise<Reply> {
  const reply = await api.call(method, path, [200, 201, 204, 400, 404, 409], sent);
  if (reply.status < 400) return reply;
  const reason = reasonOf(reply.body);
  if (reason === undefined) {
    const text = `Error: what is at '${api.address.base}' is no dlx-broker: it answers ${reply.status}`;
    throw new CtlFailure(exit.unavailable, text);
  }
  throw new CtlFailure(codes.get(reply.status) ?? exit.unavailable, `Error:\n${reason}`);
}

const codes: ReadonlyMap<number, ExitCode> = new Map([
  [400, exit.usage],
  [404, exit.data],
]);
