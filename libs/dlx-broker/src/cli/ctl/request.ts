import { bracketed } from '../../platform/index.js';
import { type Api, reasonOf, type Reply, type Sent } from '../api.js';
import { CommandError, exit } from '../command-error.js';

/** The arguments of a command by their names, and its options. */
export type Given = Readonly<Record<string, string | readonly string[] | true | undefined>>;

export type Facts = Readonly<Record<string, unknown>>;

const filled = (text: string, given: Given, quote = ''): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => `${quote}${String(given[name])}${quote}`);

/** What a command sets or removes, as texts name it. */
export const shownThing = (call: string, thing: string, given: Given): string =>
  filled(call.includes('/{vhost}/') ? `${thing} in vhost {vhost}` : thing, given, "'");

/**
 * Sends a request.
 * @param call method and path: `DELETE policies/{vhost}/{name}`. A segment whose argument is not given is left out
 * @param sent `thing` is what a DELETE removes
 * @throws CommandError
 */
export async function request(
  api: Api,
  call: string,
  given: Given,
  { thing, ...sent }: Sent & { readonly thing?: string | undefined } = {},
): Promise<Reply> {
  const [method, path = ''] = call.split(' ') as ['GET' | 'PUT' | 'POST' | 'DELETE', string];
  const segments = path.split('/').filter((each) => !(each.startsWith('{') && given[each.slice(1, -1)] === undefined));
  const names = segments.map((each) => filled(each, given));
  const reply = await api.call(method, names, [200, 201, 204, 400, 404, 405, 409], sent);
  if (reply.body === undefined && (reply.text !== '' || method === 'GET')) throw api.foreign();
  if (reply.status < 400) return reply;
  const reason = reasonOf(reply.body) ?? `it answers ${reply.status}`;
  const parents = thing === undefined ? ['vhost', 'user'].filter((name) => path.includes(`{${name}}`)) : [];
  const isMissing = reply.status === 404 || /not_found|no_such/.test(reason);
  if (!isMissing || (thing === undefined && parents.length === 0))
    throw new CommandError(`${reason}`, reply.status === 400 ? exit.usage : exit.unavailable);
  const shown =
    thing === undefined
      ? filled(parents.map((name) => `${name} {${name}}`).join(' or no '), given, "'")
      : shownThing(call, thing, given);
  const lists = thing === undefined ? parents.map((name) => `${name}s`) : [String(names[0]).replaceAll('-', '_')];
  const remedy = `'dlx-broker ctl list_${lists.join("' and 'list_")}' shows what there is`;
  throw new CommandError(`there is no ${shown}; ${remedy}`, exit.data);
}

/** Gets an object. @throws CommandError */
export async function get(api: Api, path: string, given: Given): Promise<Facts> {
  const { body } = await request(api, `GET ${path}`, given);
  if (typeof body === 'object' && body !== null) return body as Facts;
  throw api.foreign();
}

/** An argument in JSON. @throws CommandError */
export function json(given: Given, name: string): unknown {
  try {
    return JSON.parse(String(given[name]));
  } catch {
    const text = `<${name}> is no JSON: ${String(given[name])}
In a shell write '{"dead-letter-exchange":"my-dlx"}', in cmd.exe "{""dead-letter-exchange"":""my-dlx""}"`;
    throw new CommandError(text, exit.usage);
  }
}

const listOf = (value: unknown): readonly Facts[] => (Array.isArray(value) ? (value as Facts[]) : []);
const megabytes = (bytes: unknown): string => `${Math.round(Number(bytes) / 1e6)} MB`;

/** What the API knows of the broker: a text for people, or with `--json` all of it. */
export async function status(given: Given, api: Api): Promise<string | Facts> {
  const overview = await get(api, 'overview', given);
  // A user who may not see the node still gets the rest.
  const { status: code, body } = await api.send('GET', ['nodes', String(overview['node'])]);
  const node = (code === 200 ? body : {}) as Facts;
  if (given['json'] === true) return { ...node, ...overview };
  const totals = (overview['object_totals'] ?? {}) as Facts;
  const lines: readonly (readonly [label: string, value: unknown])[] = [
    ['RabbitMQ version', overview['rabbitmq_version']],
    ['Product', overview['product_name'] && ['product_name', 'product_version'].map((key) => overview[key]).join(' ')],
    ['Node', overview['node']],
    ['Process', node['os_pid']],
    ['Uptime', node['uptime'] && `${Math.floor(Number(node['uptime']) / 1000)} s`],
    ['Memory', node['mem_used'] && `${megabytes(node['mem_used'])}, limit ${megabytes(node['mem_limit'])}`],
    ['Free disk', node['disk_free'] && `${megabytes(node['disk_free'])}, limit ${megabytes(node['disk_free_limit'])}`],
    ['Alarm', node['mem_alarm'] === true ? 'too much memory is used; publishers wait' : undefined],
    ['Alarm', node['disk_free_alarm'] === true ? 'too little disk space is free; publishers wait' : undefined],
    ...listOf(node['dlx_faults']).map(({ reason }) => ['Alarm', `storage: ${String(reason)}`] as const),
    ...['connections', 'channels', 'queues', 'consumers'].map((name) => [`Total ${name}`, totals[name]] as const),
    ...listOf(overview['listeners']).map(
      ({ protocol, ip_address: address, port }) =>
        ['Listener', `${String(protocol)} ${bracketed(String(address))}:${String(port)}`] as const,
    ),
  ];
  return lines.flatMap(([label, value]) => (value === undefined ? [] : [`${label}: ${String(value)}`])).join('\n');
}

/** A password from the command line, or else the first line of standard input. @throws CommandError */
export async function passwordOf(given: unknown, stdin: () => Promise<string>): Promise<string> {
  const [password = ''] = typeof given === 'string' ? [given] : (await stdin()).split(/\r?\n/);
  if (password !== '') return password;
  throw new CommandError('the password is empty: write it behind the user, or to standard input', exit.usage);
}
