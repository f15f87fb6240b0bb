import { nearestWord } from '../../../platform/options/index.js';
import { differing, type TopologyDifference, TopologyError } from '../../errors.js';
import type { BindingDeclaration, ExchangeDeclaration, QueueDeclaration, Topology } from '../../topology/index.js';
import type { Calls } from './calls.js';
import {
  byName,
  comparedExchange,
  comparedQueue,
  compareExisting,
  type Comparing,
  explained,
  type Hint,
} from './compare.js';
import type { ExistingExchange, ExistingQueue } from './existing.js';

/** A declared topology. Queues whose arguments may differ are in it with their existing arguments. */
interface Declared extends Topology {
  /** The names of queues whose existing arguments differ, where that is allowed (`mayDiffer`). */
  readonly different: ReadonlySet<string>;
}

/** How an operator deletes a queue of a server. */
const way = "by 'rabbitmqctl delete_queue NAME', or 'dlx-broker ctl delete_queue NAME' on a dlx-broker";

/** What a declaration asks of its server besides commands. */
interface DeclaringServer {
  /** Whether it has an exchange type. */
  knows(type: string): boolean;
  /** Finds an existing queue by the management API. Absent without one. @returns undefined if that fails */
  readonly queue?: (name: string) => Promise<ExistingQueue | undefined>;
  readonly exchange?: (name: string) => Promise<ExistingExchange | undefined>;
}

/** The types of every server. Up to RabbitMQ 3.13 a declaration with an unknown type closes the connection (503). */
const sureTypes: ReadonlySet<string> = new Set(['direct', 'fanout', 'topic', 'headers']);

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
    const isThere = await calls.exists((channel, done) => channel.checkExchange(exchange.name, done));
    if (!isThere) missing.exchanges.push(exchange);
    else if (isTypeKnown(exchange, knows)) {
      const comparing: Comparing<ExchangeDeclaration> = {
        kind: 'exchange',
        declare: (tried) => declareExchange(calls, tried),
        existing: async () => {
          const existing = await server.exchange?.(exchange.name);
          return existing && comparedExchange(exchange, existing);
        },
      };
      differences.push(...(await compareExisting(exchange, comparing)).differences);
    }
  }
  const queues = new Map<string, QueueDeclaration>();
  for (const queue of topology.queues) {
    calls.subject = `queue '${queue.name}'${byName(queue.origin)}`;
    const isThere = await calls.exists((channel, done) =>
      channel.checkQueue(queue.name, (...[failure]) => done(failure)),
    );
    if (isThere) {
      const found = await compareExisting(queue, {
        kind: 'queue',
        declare: (tried) => declareQueue(calls, tried),
        existing: async () => {
          const existing = await server.queue?.(queue.name);
          return existing && comparedQueue(queue, existing);
        },
      });
      differences.push(...found.differences);
      if (found.mayDiffer) different.add(queue.name);
      queues.set(queue.name, found.asItIs);
    } else missing.queues.push(queue);
  }
  if (differences.length > 0) throw differing(differences, way);
  for (const exchange of missing.exchanges) {
    if (!isTypeKnown(exchange, knows)) throw typeMayBeUnknown(exchange);
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

const isTypeKnown = ({ type }: ExchangeDeclaration, knows: (type: string) => boolean): boolean =>
  sureTypes.has(type) || knows(type);

function typeMayBeUnknown({ name, type, origin }: ExchangeDeclaration): TopologyError {
  const meant = nearestWord(type, [...sureTypes]);
  const remedy = 'declare the exchange by other means before the application starts';
  return new TopologyError(
    `cannot declare exchange '${name}'${byName(origin)}: the server does not say whether it has the type '${type}', and to try a ` +
      `type that it has not would close the connection; ${meant === undefined ? remedy : `did you mean '${meant}'? Otherwise ${remedy}`}`,
  );
}

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
