import type { Field, FieldTable } from '../../../message/index.js';
import { nearestWord } from '../../../options/index.js';
import type { BindingDeclaration, ExchangeDeclaration, QueueDeclaration, Topology } from '../../../topology/index.js';
import { differing, ServerError, type TopologyDifference, TopologyError, type WaysToDelete } from '../../errors.js';
import { shownText } from '../../../host/index.js';
import { type Calls, codeOf, textOf } from './calls.js';
import { type Compared, comparedQueue, exchangeDifferences, shownField } from './compare.js';
import type { ExistingExchange, ExistingQueue } from './existing.js';
import { existingField, type Mismatch, mismatchIn, shownExisting } from './mismatch.js';

/** A declared topology. Queues whose arguments may differ are in it with their existing arguments. */
export interface Declared extends Topology {
  /** The names of queues whose existing arguments differ, where that is allowed (`mayDiffer`). */
  readonly different: ReadonlySet<string>;
}

/** How an operator replaces a queue of a server. */
const ways: WaysToDelete = (flag) =>
  `move its messages by 'dlx-broker move', and delete the old one when it is empty: by 'rabbitmqctl delete_queue NAME${flag}', or ` +
  `'dlx-broker ctl delete_queue NAME${flag}' on a dlx-broker`;

/** What a declaration asks of its server besides commands. */
export interface DeclaringServer {
  /** Whether it has an exchange type. */
  knows(type: string): boolean;
  /** Finds an existing queue by the management API. Absent without one. @returns undefined if that fails */
  readonly queue?: (name: string) => Promise<ExistingQueue | undefined>;
  readonly exchange?: (name: string) => Promise<ExistingExchange | undefined>;
}

/** The types of every server. Up to RabbitMQ 3.13 a declaration with an unknown type closes the connection (503). */
const sureTypes: ReadonlySet<string> = new Set(['direct', 'fanout', 'topic', 'headers']);

/** The most commands for one queue or exchange, besides one for each argument. */
const extraRounds = 3;

const byName = (origin: string | undefined): string => (origin === undefined ? '' : ` (${origin})`);

/**
 * Declares a topology on a server. First it compares existing objects by declaring them again, which changes nothing. It declares
 * missing objects only when nothing differs.
 * @throws TopologyError with all differences, or what the server refused; ClientError when the connection ended
 */
export async function declareOn(calls: Calls, topology: Topology, server: DeclaringServer): Promise<Declared> {
  const knows = (type: string): boolean => server.knows(type);
  const differences: TopologyDifference[] = [];
  const different = new Set<string>();
  const missing: { readonly exchanges: ExchangeDeclaration[]; readonly queues: QueueDeclaration[] } = {
    exchanges: [],
    queues: [],
  };
  for (const exchange of topology.exchanges) {
    calls.subject = `exchange '${exchange.name}'${byName(exchange.origin)}`;
    const isThere = await calls.finds((channel, done) => channel.checkExchange(exchange.name, done));
    if (!isThere) missing.exchanges.push(exchange);
    else if (knowsType(exchange, knows)) differences.push(...(await differencesOf(calls, exchange, server)));
  }
  const queues = new Map<string, QueueDeclaration>();
  for (const queue of topology.queues) {
    calls.subject = `queue '${queue.name}'${byName(queue.origin)}`;
    const isThere = await calls.finds((channel, done) =>
      channel.checkQueue(queue.name, (...[failure]) => done(failure)),
    );
    if (isThere) {
      const found = await compareQueue(calls, queue, server);
      const queueType = typeOf(found.asItIs);
      for (const difference of found.differences) differences.push({ ...difference, queueType });
      if (found.mayDiffer) different.add(queue.name);
      queues.set(queue.name, found.asItIs);
    } else missing.queues.push(queue);
  }
  if (differences.length > 0) throw differing(differences, ways);
  for (const exchange of missing.exchanges) {
    if (!knowsType(exchange, knows)) throw unsureType(exchange);
    calls.subject = `exchange '${exchange.name}'${byName(exchange.origin)}`;
    await attempt(calls.subject, () => declareExchange(calls, exchange));
  }
  for (const queue of missing.queues) {
    calls.subject = `queue '${queue.name}'${byName(queue.origin)}`;
    await attempt(calls.subject, () => declareQueue(calls, queue), typeHint(queue));
  }
  for (const binding of topology.bindings) {
    const { source, destination, destinationType } = binding;
    calls.subject = `binding of ${destinationType} '${destination}' to exchange '${source}'${byName(binding.origin)}`;
    await attempt(calls.subject, () => bind(calls, binding));
  }
  return {
    exchanges: topology.exchanges,
    queues: topology.queues.map((queue) => queues.get(queue.name) ?? queue),
    bindings: topology.bindings,
    different,
  };
}

export const declareExchange = (calls: Calls, { name, type, ...options }: ExchangeDeclaration): Promise<void> =>
  calls.run((channel, done) => channel.declareExchange(name, type, options, done));

export const declareQueue = async (calls: Calls, { name, ...options }: QueueDeclaration): Promise<void> => {
  await calls.call((channel, answer) => channel.declareQueue(name, options, answer));
};

export const bind = (
  calls: Calls,
  { source, destination, destinationType, routingKey, arguments: args }: BindingDeclaration,
): Promise<void> =>
  calls.run((channel, done) => {
    if (destinationType === 'queue') channel.bindQueue(destination, source, routingKey, args, done);
    else channel.bindExchange(destination, source, routingKey, args, done);
  });

const typeOf = ({ arguments: args }: QueueDeclaration): string =>
  shownText(String(args.get('x-queue-type')?.value ?? 'classic'));

const knowsType = ({ type }: ExchangeDeclaration, knows: (type: string) => boolean): boolean =>
  sureTypes.has(type) || knows(type);

function unsureType({ name, type, origin }: ExchangeDeclaration): TopologyError {
  const meant = nearestWord(type, [...sureTypes]);
  const remedy = 'declare the exchange by other means before the application starts';
  return new TopologyError(
    `cannot declare exchange '${name}'${byName(origin)}: the server does not say whether it has the type '${type}', and to try a ` +
      `type that it has not would close the connection; ${meant === undefined ? remedy : `did you mean '${meant}'? Otherwise ${remedy}`}`,
  );
}

/** What helps against a reply code and its text. */
type Hint = (code: number, text: string) => string | undefined;

const rightHint: Hint = (code) =>
  code === 403
    ? "give the user of rabbitmq() the right to configure it, or declare it by other means and set option 'declare' to false"
    : undefined;

/** For a server without the type of a queue: 406 with its name, or 540 (not implemented). */
function typeHint({ arguments: args }: QueueDeclaration): Hint {
  const type = args.get('x-queue-type')?.value;
  return (code, text) => {
    if (typeof type !== 'string' || (code !== 540 && !(code === 406 && text.includes('queue type')))) return undefined;
    if (code === 406 && !text.includes(`'${type}'`)) return undefined; // the type is known, and an argument does not go with it
    const remedy =
      type === 'quorum'
        ? "RabbitMQ has them from 3.8 on; without them set no 'quorum' of queues, no 'clusterTopology', and waitQueueType: 'classic'"
        : "the types are 'classic', 'quorum' and 'stream'";
    return `the server has no queues of type '${type}': ${remedy}`;
  };
}

/** @throws TopologyError that names the object and the place of its declaration */
async function attempt(what: string, declare: () => Promise<unknown>, hint?: Hint): Promise<void> {
  try {
    await declare();
  } catch (error) {
    throw explained(what, error, hint);
  }
}

/** An error of the server as a TopologyError; one of the connection as it is. */
function explained(what: string, error: unknown, hint: Hint = () => undefined): unknown {
  const code = codeOf(error);
  if (code === undefined || code === 541 || code === 506) return error;
  const text = shownText(textOf(error));
  const cause = new ServerError(text, code, { cause: error });
  const advice = hint(code, text) ?? rightHint(code, text);
  return new TopologyError(`cannot declare ${what}: ${text}${advice === undefined ? '' : `; ${advice}`}`, [], {
    cause,
  });
}

/** The server's reason for refusing the declaration of an existing object; undefined if the object is equal. */
async function refusal(
  what: string,
  origin: string | undefined,
  declare: () => Promise<unknown>,
): Promise<Mismatch | undefined> {
  try {
    await declare();
    return undefined;
  } catch (error) {
    const mismatch = codeOf(error) === 406 ? mismatchIn(textOf(error)) : undefined;
    if (mismatch === undefined) throw explained(`${what}${byName(origin)}`, error);
    return mismatch;
  }
}

type Flags = Pick<QueueDeclaration, 'durable' | 'autoDelete'> & Partial<ExchangeDeclaration>;

/** The properties of a declaration, by RabbitMQ's names. */
const flags: Readonly<Record<string, 'durable' | 'autoDelete' | 'internal'>> = {
  durable: 'durable',
  auto_delete: 'autoDelete',
  internal: 'internal',
};
const shownNames: Readonly<Record<string, string>> = { auto_delete: 'auto-delete' };

/** A declaration with the existing value in the place of what was asked for. */
function adopt<T extends Flags & { readonly arguments: FieldTable }>(declaration: T, mismatch: Mismatch): T {
  const { property, existing } = mismatch;
  const flag = flags[property];
  if (flag !== undefined) return { ...declaration, [flag]: existing === 'true' };
  if (property === 'type') return { ...declaration, type: existing };
  const args = new Map<string, Field>(declaration.arguments);
  const field = existingField(mismatch, args.get(property));
  if (field === undefined) args.delete(property);
  else args.set(property, field);
  return { ...declaration, arguments: args };
}

function difference(
  about: Pick<TopologyDifference, 'kind' | 'name' | 'origin'>,
  asked: Flags & { readonly arguments: FieldTable },
  mismatch: Mismatch,
): TopologyDifference {
  const { property } = mismatch;
  const flag = flags[property];
  const field = asked.arguments.get(property);
  const value = flag === undefined ? (property === 'type' ? asked.type : field) : asked[flag];
  const isField = flag === undefined && property !== 'type';
  const shown = isField ? shownField(field) : String(value);
  const existing = isField ? shownExisting(mismatch, field) : (mismatch.existing ?? 'none');
  return { ...about, property: shownNames[property] ?? property, existing, asked: shown };
}

async function differencesOf(
  calls: Calls,
  asked: ExchangeDeclaration,
  server: DeclaringServer,
): Promise<readonly TopologyDifference[]> {
  const about = { kind: 'exchange', name: asked.name, origin: asked.origin } as const;
  const found: TopologyDifference[] = [];
  let tried = asked;
  for (let round = 0; round < asked.arguments.size + 4 + extraRounds; round++) {
    const declare = (): Promise<void> => declareExchange(calls, tried);
    const mismatch = await refusal(`exchange '${asked.name}'`, asked.origin, declare);
    if (mismatch === undefined) return found;
    const existing = round === 0 ? await server.exchange?.(asked.name) : undefined;
    const all = existing && exchangeDifferences(asked, existing);
    if (all !== undefined && all.length > 0) return all;
    found.push(difference(about, asked, mismatch));
    tried = adopt(tried, mismatch);
  }
  return found;
}

/**
 * Compares a queue by the management API, if there is one. Without it the server names one argument at a time: each is adopted, and the
 * queue declared again until it is equal.
 */
async function compareQueue(calls: Calls, asked: QueueDeclaration, server: DeclaringServer): Promise<Compared> {
  const about = { kind: 'queue', name: asked.name, origin: asked.origin } as const;
  const differences: TopologyDifference[] = [];
  let mayDiffer = false;
  let tried = asked;
  for (let round = 0; round < asked.arguments.size + 2 + extraRounds; round++) {
    const declare = (): Promise<void> => declareQueue(calls, tried);
    const mismatch = await refusal(`queue '${asked.name}'`, asked.origin, declare);
    if (mismatch === undefined) break;
    const existing = round === 0 ? await server.queue?.(asked.name) : undefined;
    const compared = existing && comparedQueue(asked, existing);
    if (compared !== undefined && (compared.mayDiffer || compared.differences.length > 0)) return compared;
    if (asked.mayDiffer?.includes(mismatch.property) === true) mayDiffer = true;
    else differences.push(difference(about, asked, mismatch));
    tried = adopt(tried, mismatch);
  }
  return { differences, mayDiffer, asItIs: tried };
}
