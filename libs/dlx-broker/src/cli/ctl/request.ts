import { type Api, type Reply, reasonOf, type Sent } from './api.js';
import { CtlFailure, exit } from './exit.js';

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
 * @throws CtlFailure
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
    throw new CtlFailure(reply.status === 400 ? exit.usage : exit.unavailable, `Error: ${reason}`);
  const shown =
    thing === undefined
      ? filled(parents.map((name) => `${name} {${name}}`).join(' or no '), given, "'")
      : shownThing(call, thing, given);
  const lists = thing === undefined ? parents.map((name) => `${name}s`) : [String(names[0]).replaceAll('-', '_')];
  const remedy = `'dlx-broker ctl list_${lists.join("' and 'list_")}' shows what there is`;
  throw new CtlFailure(exit.data, `Error: there is no ${shown}; ${remedy}`);
}

/** Gets an object. @throws CtlFailure */
export async function get(api: Api, path: string, given: Given): Promise<Facts> {
  const { body } = await request(api, `GET ${path}`, given);
  if (typeof body === 'object' && body !== null) return body as Facts;
  throw api.foreign();
}

/** An argument in JSON. @throws CtlFailure */
export function json(given: Given, name: string): unknown {
  try {
    return JSON.parse(String(given[name]));
  } catch {
    const text = `Error: <${name}> is no JSON: ${String(given[name])}
In a shell write '{"dead-letter-exchange":"my-dlx"}', in cmd.exe "{""dead-letter-exchange"":""my-dlx""}"`;
    throw new CtlFailure(exit.usage, text);
  }
}
