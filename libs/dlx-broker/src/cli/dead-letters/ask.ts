import type { LoginFlags } from '../ctl/address.js';
import { type Api, reasonOf, type Reply, type Sent } from '../ctl/api.js';
import { CtlFailure, exit } from '../ctl/exit.js';

/** The options of all commands about dead letters. */
export interface CommonFlags extends LoginFlags {
  readonly vhost?: string;
  readonly json?: true;
}

/** The virtual host of commands about one queue. */
export const vhostOf = ({ vhost = '/' }: CommonFlags): string => vhost;

/** The environment and the outputs of a command. */
export interface CommandOutput {
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  error(text: string): void;
  /** Absent: nothing is drawn, and an interrupt ends the process. */
  readonly terminal?: Terminal;
}

/** What a command can do with the terminal of its user. */
export interface Terminal {
  /** Characters of a line on standard error; undefined if standard error is no terminal, and progress is not drawn. */
  readonly width: number | undefined;
  /** True if standard output is a terminal that can be cleared. */
  readonly clears: boolean;
  /** Writes to standard error, as it is. */
  draw(text: string): void;
  /** Writes to standard output, as it is. Resolves when there is room for more. */
  write(text: string): Promise<void>;
  /** Calls `then` at the first Ctrl+C, in place of the end of the process. @returns a function that undoes this */
  onInterrupt(then: () => void): () => void;
}

/**
 * @param missing what does not exist when the server answers 404, for the error; undefined if the path names nothing
 * @throws CtlFailure with the reason of the server: exit code 65 if something does not exist, 64 for an invalid request
 */
export async function ask(
  api: Api,
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: readonly string[],
  missing: string | undefined,
  sent: Sent = {},
): Promise<Reply> {
  const reply = await api.call(method, path, [200, 201, 204, 400, 404, 405, 409, 501], sent);
  if (reply.status < 400) return reply;
  const reason = reasonOf(reply.body);
  // A RabbitMQ has none of these paths.
  const isKnown = reason !== undefined && reply.status !== 405 && (reply.status !== 404 || missing !== undefined);
  if (!isKnown) {
    const text = `Error: what is at '${api.address.base}' is no dlx-broker: it answers ${reply.status}; name the HTTP API of one by --url or DLX_BROKER_URL. A RabbitMQ has no API for dead letters, and cannot pause a queue`;
    throw new CtlFailure(exit.unavailable, text);
  }
  if (reply.status === 404) throw new CtlFailure(exit.data, `Error: there is no ${missing}`);
  throw new CtlFailure(reply.status === 400 ? exit.usage : exit.unavailable, `Error: ${inOptions(reason)}`);
}

/** The option for each parameter of the API. */
const options: ReadonlyMap<string, string> = new Map([
  ...['reason', 'exchange', 'error', 'fingerprint', 'text', 'by', 'for', 'rate', 'limit'].map(
    (name): readonly [string, string] => [name, name],
  ),
  ['queue', 'died-in'],
  ['first_queue', 'first-queue'],
  ['routing_key', 'routing-key'],
  ['older_than', 'older-than'],
  ['younger_than', 'younger-than'],
  ['page_size', 'limit'],
]);

/** A reason of the server that begins with the name of a parameter, with the name of the option in its place. */
const inOptions = (reason: string): string =>
  reason.replace(/^(?:'(\w+)'(?= (?:should be|is empty|is longer))|(reason)(?= has \d))/, (whole, quoted, plain) => {
    const option = options.get((quoted ?? plain) as string);
    return option === undefined ? whole : `--${option}`;
  });

/** The failure of a command that names messages by their ids, none of which is ready in the queue. */
export const noneOf = (ids: readonly string[], queue: string, vhost: string): CtlFailure => {
  const none = ids.length === 1 ? `there is no message ${ids[0]}` : 'there are none of these messages';
  return new CtlFailure(exit.data, `Error: ${none} ${placeOfIds(queue, vhost)}`);
};

/** The queue of a message that is not there, and the command that shows the ids. */
export const placeOfIds = (queue: string, vhost: string): string =>
  `in ${shownQueue(queue, vhost)}; 'dlx-broker dead-letters list ${queue}' shows the ids`;

/** An error shows a queue by its name and its virtual host. */
export const shownQueue = (queue: string, vhost: string): string => `queue '${queue}' in vhost '${vhost}'`;
