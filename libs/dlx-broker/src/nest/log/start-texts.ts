import type { Backend, ConsumerTimeout } from '../../backends/index.js';
import { retentionText, waitQueueName } from '../retry/index.js';
import { nearestWord } from '../../platform/options/index.js';
import {
  misspeltArguments,
  typeOfPredeclared,
  unreceivedDeadLetters,
  type Topology,
} from '../../backends/topology/index.js';
import type { Override } from '../core/explorer.js';
import type { PlannedHandler } from '../core/handler.js';
import { limitOf, usualTimeout } from '../features/ordered/time-in-hand.js';
import type { ConsumerPlan } from '../core/plan.js';

/** One line for the log about a handler: its queue, its bindings, its dead-letter exchange or retries. */
export function describeHandler(
  { handler, queue, retry }: PlannedHandler,
  { style }: ConsumerPlan,
  topology: Topology,
  backend: DeadLettering,
): string {
  const bindings = topology.bindings.filter(
    ({ destination, destinationType }) => destinationType === 'queue' && destination === queue,
  );
  const keys = bindings.map(({ source, routingKey }) => `${source} '${routingKey}'`).join(', ');
  const { value: exchange } = handler.settings.queueArguments.get('x-dead-letter-exchange') ?? {};
  const { value: key } = handler.settings.queueArguments.get('x-dead-letter-routing-key') ?? {};
  const dead =
    exchange === undefined
      ? []
      : [`dead letters to '${String(exchange)}'${key === undefined ? '' : ` '${String(key)}'`}`];
  const waits = retry?.delays.map((delay) => waitQueueName(delay, retry.waitQueueType)).join(', ') || 'wait queues';
  const how =
    style === 'in-hand' ? 'waiting in hand' : `${style === 'reject' ? 'rejected into' : 'republished to'} ${waits}`;
  const keeps = retry?.retention === undefined ? '' : ` ${retentionText(retry.retention)}`;
  const attempts = retry?.attempts === 1 ? '1 attempt' : `${retry?.attempts} attempts, ${how}`;
  const retries = retry && [`${attempts}, then '${retry.parkingLot}'${keeps}`];
  const consumes = `${handler.origin} consumes '${queue}'${keys === '' ? '' : ` (${keys})`}`;
  return [consumes, ...dead, ...(retries ?? []), ...deletions(queue, topology, backend)].join('; ');
}

/** Which part of a backend knows the dead-letter exchange that a policy sets. */
type DeadLettering = Pick<Backend, 'deadLetterExchange'>;

/** Which messages a queue deletes, because it has no dead-letter exchange. A retry policy does not get them. */
function deletions(queue: string, topology: Topology, backend: DeadLettering): readonly string[] {
  const args = topology.queues.find(({ name }) => name === queue)?.arguments;
  if (args === undefined || args.has('x-dead-letter-exchange')) return [];
  const isLimited = args.has('x-max-length') || args.has('x-max-length-bytes');
  const drops = isLimited && (args.get('x-overflow')?.value ?? 'drop-head') === 'drop-head';
  const deleted = [...(args.has('x-message-ttl') ? ['expired'] : []), ...(drops ? ['dropped'] : [])];
  if (deleted.length === 0 || backend.deadLetterExchange?.(queue) !== undefined) return [];
  return [`${deleted.join(' and ')} messages are deleted`];
}

/** A line for each time of less than a second that was probably meant as seconds. */
export function secondsWarnings({ handler: { origin }, retry, circuit }: PlannedHandler): readonly string[] {
  const parked = retry?.retention?.doubt;
  const ofCircuit = circuit?.options.doubts.map((doubt) => `circuit '${circuit.name}' of ${origin}: ${doubt}`) ?? [];
  return parked === undefined ? ofCircuit : [`@Retry on ${origin}: ${parked}`, ...ofCircuit];
}

/**
 * The warning for a handler that may work for longer than the consumer timeout. Without a time limit it does so only if the timeout is
 * below the usual one.
 */
export function timeoutWarning(planned: PlannedHandler, known: ConsumerTimeout | undefined): string | undefined {
  const { handler, queue, retry } = planned;
  const most = limitOf(planned, known);
  const timeout = retry?.timeout;
  if (timeout === undefined ? most >= usualTimeout.limit : timeout < most) return undefined;
  const [why, remedy] =
    timeout === undefined
      ? ['it has no time limit', 'give its @Retry a timeout']
      : [`its timeout is ${timeout} ms`, 'lower it'];
  return (
    `${handler.origin} may be at work for longer than the consumer timeout of queue '${queue}' (${most} ms), after which the server takes ` +
    `the message back: ${why}; ${remedy} below that, or raise the consumer timeout (option 'consumerTimeout')`
  );
}

/**
 * The warning for a handler whose failures would be lost: it has no retry policy, and its queue has no dead-letter exchange, by
 * arguments or by a policy of the broker. There is no warning for requests, whose client gets the error, and for
 * `@DeadLetter(false)`.
 */
export function lossWarning(
  { handler, queue, retry }: PlannedHandler,
  topology: Topology,
  backend: DeadLettering,
): string | undefined {
  const { losesFailures, queue: asked } = handler.settings;
  if (retry !== undefined || losesFailures || handler.kind === 'request') return undefined;
  const declared = topology.queues.find(({ name }) => name === queue);
  if (declared?.arguments.has('x-dead-letter-exchange') === true) return undefined;
  const isUnknown = asked.declare === false && backend.deadLetterExchange === undefined;
  if (isUnknown || backend.deadLetterExchange?.(queue) !== undefined) return undefined;
  return (
    `a message on which ${handler.origin} fails is lost: queue '${queue}' has no dead-letter exchange, and the handler no retry ` +
    "policy; add @DeadLetter('exchange') or @Retry({ attempts: 3 }), or @DeadLetter(false) if it may be lost"
  );
}

/** A line for each `@Consume` with an exchange that selects by routing keys, and without one. */
export function keylessWarnings(planned: readonly PlannedHandler[], topology: Topology): readonly string[] {
  return planned.flatMap(({ handler: { origin, patterns, settings }, queue }) => {
    const exchange = settings.consume?.exchange;
    const name = typeof exchange === 'object' ? exchange.name : exchange;
    const type = topology.exchanges.find((declared) => declared.name === name)?.type ?? typeOfPredeclared.get(name);
    const isBound = patterns.length > 0 || settings.bindings.some((binding) => binding.exchange === name);
    if (isBound || (type !== 'topic' && type !== 'direct')) return [];
    return [
      `@Consume on ${origin}: queue '${queue}' gets only messages with an empty routing key from ${type} exchange '${name}'; ` +
        `write the routingKey of its messages${type === 'topic' ? ", '#' for all" : ''}, or '' if that is meant`,
    ];
  });
}

/** A line for each queue whose dead letters no queue of this application gets, with the handler that would take them. */
export function deadLetterWarnings(topology: Topology): readonly string[] {
  return unreceivedDeadLetters(topology).map(({ queue, exchange, routingKey, hasBindings, boundBy = [] }) => {
    const start = `this application gets no dead letters of queue '${queue}': `;
    const elsewhere = 'or they are dropped unless another application gets them';
    if (boundBy.length > 0) {
      const keys = boundBy.map((key) => `'${key}'`).join(', ');
      return (
        `${start}they go to the default exchange with the routing key of their message (${keys}), and this application declares ` +
        `no queue of that name; name the queue for dead letters as the routing key, @DeadLetter('', '${queue}.dead'), and declare ` +
        `it by @Consume('${queue}.dead') or option 'topology', ${elsewhere}`
      );
    }
    if (exchange === '') {
      return (
        `${start}they go to queue '${routingKey}', which this application does not declare; declare it by ` +
        `@Consume('${routingKey}') or option 'topology', ${elsewhere}`
      );
    }
    const key = routingKey ?? '#';
    const why = hasBindings
      ? `they go to exchange '${exchange}' with the routing key '${key}', and no binding there fits it`
      : `they go to exchange '${exchange}', to which this application binds no queue`;
    const remedy = `@Consume({ queue: '${queue}.dead', exchange: '${exchange}', routingKey: '${key}' }) or option 'topology'`;
    return `${start}${why}; bind a queue by ${remedy}, ${elsewhere}`;
  });
}

/**
 * A line for each misspelt argument. It has no effect, because brokers accept arguments that they do not know (rule F9).
 */
export const argumentWarnings = (topology: Topology): readonly string[] =>
  misspeltArguments(topology).map(
    ({ kind, name, argument, meant, origin }) =>
      `argument '${argument}' of ${kind} '${name}'${origin === undefined ? '' : ` (${origin})`} does nothing: no broker knows ` +
      `it; did you mean '${meant}'?`,
  );

/** The subject and the verb of a warning: `Orders.created gets no messages`. */
const getNone = (handlers: readonly string[], note = ''): string =>
  `${handlers.join(', ')}${note} ${handlers.length === 1 ? 'gets' : 'get'} no messages`;

/** @param misplaced methods of providers, in which Nest reads no patterns */
export const misplacedWarning = (misplaced: readonly string[]): string =>
  `${getNone(misplaced)}: Nest reads @EventPattern and @MessagePattern in controllers only, and ` +
  `${misplaced.length === 1 ? 'this one is in a provider' : 'these are in providers'}; ` +
  'list the class among the controllers of its module, or use @Consume';

export const unseenWarning = (unseen: readonly string[]): string =>
  `${getNone(unseen)}: Nest does not see @EventPattern and @MessagePattern on methods whose names are symbols; ` +
  'give the method a name that is a string, or use @Consume';

export function overrideWarning({ origin, overridden, contributions }: Override): string {
  const decorators = contributions.map(({ decorator }) => `@${decorator}`).join(', ');
  return (
    `${origin} overrides ${overridden} without its decorators (${decorators}), which are not inherited: it gets no messages; ` +
    `write them above ${origin} as well, or give it another name if it is no handler`
  );
}

/** @param token the token by which the application gets its server, as source text */
export const unservedWarning = (unserved: readonly string[], token: string): string =>
  `no DlxServer is connected, so ${getNone(unserved, ' (@EventPattern, @MessagePattern)')} of this broker; ` +
  `call app.connectMicroservice({ strategy: app.get(${token}) }, { inheritAppConfig: true }) before the application starts, ` +
  "use @Consume, or name the transport that serves them: @EventPattern('x', Transport.TCP)";

/** @param waiting patterns of a server that is connected and was never started: their queues fill up */
export const silentServerWarning = (waiting: readonly string[]): string =>
  `the DlxServer is connected but not started, so the handlers of '${waiting.join("', '")}' get no messages: these wait in their ` +
  'queues; call await app.startAllMicroservices(), or listen() of a microservice';

/** Nothing handles the signal by which a process is asked to end. Nest listens to it only if the application says so. */
export const unhookedWarning =
  'SIGTERM ends this process at once, without waiting for its handlers (drainTimeout): call app.enableShutdownHooks()';

/** A policy for a queue that no handler consumes does nothing. */
export function idleRetryWarnings(named: readonly string[], consumed: readonly string[]): readonly string[] {
  return named
    .filter((queue) => !consumed.includes(queue))
    .map((queue) => {
      const meant = nearestWord(queue, consumed);
      const hint = meant === undefined ? '' : `; did you mean '${meant}'?`;
      return `option 'queueRetry' names queue '${queue}', which no handler of this application consumes${hint}`;
    });
}
