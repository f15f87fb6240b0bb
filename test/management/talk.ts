import { randomBytes } from 'node:crypto';
import type { Turn } from './access-turns.js';

/** An answer with all that is not the same from run to run and from broker to broker made the same. */
export interface Said {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** One broker, the names of this run, and the users of the conversation. */
export class Talk {
  readonly #origin: string;
  readonly #login: string;
  readonly #id = `dlx-test-${randomBytes(4).toString('hex')}`;

  constructor(url: string) {
    const { origin, username, password } = new URL(url);
    this.#origin = origin;
    this.#login = username === '' ? 'guest:guest' : `${username}:${password}`;
  }

  async say({ as, method, path, body, headers = {}, isUnordered }: Turn): Promise<Said> {
    const response = await fetch(`${this.#origin}/api${this.named(path)}`, {
      method,
      headers: {
        ...this.#authorization(as),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: this.named(typeof body === 'string' ? body : JSON.stringify(body)) }),
    });
    const text = await response.text();
    const plain = this.#plain(text);
    const shown = isUnordered === true && Array.isArray(plain) ? inOrder(plain) : plain;
    return { status: response.status, headers: toldIn(response.headers), body: shown };
  }

  /** With the names of this run. */
  named(text: string): string {
    return text.replaceAll('{v}', `${this.#id}-v`).replaceAll('{u}', `${this.#id}-u-`);
  }

  #authorization(as: string | undefined): Readonly<Record<string, string>> {
    if (as === '') return {};
    const [user = '', password = 'secret'] = (as ?? '').split(':');
    const login = as === undefined ? this.#login : `${this.named('{u}')}${user}:${password}`;
    return { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
  }

  /** Names as in the conversation; of lists of the whole broker what belongs to it. */
  #plain(text: string): unknown {
    if (text === '') return undefined;
    const value = cleaned(JSON.parse(this.#unnamed(text)));
    return JSON.parse(this.#unnamed(JSON.stringify(value))); // once more, for what was a list of characters
  }

  #unnamed(text: string): string {
    return text
      .replaceAll(`${this.#id}-v`, '{v}')
      .replaceAll(`${this.#id}-u-`, '{u}')
      .replaceAll('rabbit@localhost', 'rabbit@vm');
  }
}

const toldHeaders = ['allow', 'content-type', 'content-disposition', 'www-authenticate'];

const toldIn = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    toldHeaders.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );

/** What a broker makes up, and what others do at the same time. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value))
    return isText(value) ? String.fromCodePoint(...(value as number[])) : value.filter(isOurs).map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  const isDefinitions = 'rabbit_version' in value; // they are in no order
  const entries = Object.entries(value).filter(([key]) => !noise.has(key));
  return Object.fromEntries(
    entries.map(([key, each]) => {
      const clean = madeUp.has(key) ? typeof each : cleaned(each);
      return [key, isDefinitions && Array.isArray(clean) ? inOrder(clean) : clean];
    }),
  );
}

/** Whatever order items and keys came in. */
const inOrder = (items: readonly unknown[]): readonly unknown[] =>
  items
    .map((item) => [keyOf(item), item] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, item]) => item);

const keyOf = (item: unknown): string => JSON.stringify(Object.entries(item as object).sort());

/** Characters, as Erlang has them. */
const isText = (list: readonly unknown[]): boolean =>
  list.length > 3 && list.every((each) => typeof each === 'number' && each > 31);

const madeUp = new Set(['password_hash', 'rabbit_version', 'total_count']);
/** Statistics come when RabbitMQ gets to it; they are compared elsewhere. */
const noise = new Set([
  'cluster_state',
  'message_stats',
  'recv_oct',
  'send_oct',
  'recv_oct_details',
  'send_oct_details',
]);
for (const name of ['messages', 'messages_ready', 'messages_unacknowledged']) {
  noise.add(name);
  noise.add(`${name}_details`);
}

/** The shared broker is full of others' virtual hosts, users and what they have. */
function isOurs(item: unknown): boolean {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return true;
  const { vhost, user, name, value } = item as Record<string, unknown>;
  if (Array.isArray(value) && value.length === 0) return false; // limits that were taken back leave this behind
  const whose = [vhost, user].some((each) => typeof each === 'string') ? [vhost, user] : [name];
  const isOfVhost = 'arguments' in item || 'pattern' in item; // of one virtual host, which the list need not name
  return (isOfVhost && vhost === undefined) || whose.some((each) => String(each).startsWith('{'));
}
