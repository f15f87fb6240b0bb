import { type Backend, type ConsumerTimeout, profileOf } from '../../backends/index.js';
import {
  noDeliveryLimit,
  returningDeadLetters,
  type Topology,
  unreceivedDeadLetters,
} from '../../backends/topology/index.js';
import type { HomeContext } from '../../platform/index.js';
import type { Feature, Warning } from '../core/feature.js';
import type { HandlerSource } from '../handlers/handler-source.js';
import type { Handler, PlannedHandler } from '../core/handler.js';
import type { ConsumerPlan, Plan } from '../core/plan.js';
import { limitOf, usualTimeout } from '../core/consumer-timeout.js';
import { defaultBrokerName, type ResolvedOptions } from '../module/options.js';
import type { DlxServer } from '../module/server.js';
import type { EventLog } from './event-log.js';
import { describeHandler } from './start-lines.js';

/** How long an application may take, after its start, to connect and start its server, in milliseconds. */
const serverTimeout = 1_000;

/** Where the checks of a start come from and where they are logged. */
export interface CheckedParts {
  readonly options: ResolvedOptions;
  readonly backend: Backend;
  readonly source: HandlerSource;
  readonly server: DlxServer;
  readonly home: HomeContext;
  readonly log: EventLog;
  readonly features: readonly Feature[];
}

/** Logs the handlers of a broker when they start, and warns where messages would be lost or handled by nothing, each once. */
export class StartChecks {
  readonly #logged = new Set<Handler>();
  readonly #warned = new Set<string>();
  #serverTimer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: CheckedParts) {}

  /** Warns of dead letters in a plan. @param doubts further warnings */
  plan({ topology, notes, consumers }: Plan, doubts: readonly string[]): void {
    const planned = consumers.flatMap(({ handlers }) => handlers);
    const ofFeatures = planned.flatMap((each) => this.#warnings(each, true));
    const letters = [...unreceivedWarnings(topology), ...returnWarnings(planned, topology)];
    for (const warning of [...notes, ...doubts, ...ofFeatures.map(({ text }) => text), ...letters]) {
      if (!this.#warned.has(warning)) this.parts.log.write('topologyDoubtful', warning, {});
      this.#warned.add(warning);
    }
  }

  /** Logs a handler that starts, and warns where its messages would be lost. */
  handler(planned: PlannedHandler, consumer: ConsumerPlan, topology: Topology): void {
    if (this.#logged.has(planned.handler)) return;
    this.#logged.add(planned.handler);
    const { options, backend, log } = this.parts;
    const place = { handler: planned.handler.origin, queue: planned.queue };
    if (options.logHandlers) log.write('handlerStarted', describeHandler(planned, consumer, topology, backend), place);
    const lost = lossWarning(planned, topology, backend) ?? limitWarning(planned, topology, backend);
    if (lost !== undefined) log.write('failuresLost', lost, place);
    const late = timeoutWarning(planned, topology, backend.consumerTimeout);
    if (late !== undefined) log.write('timeoutTooLong', late, place);
    for (const { event, text } of this.#warnings(planned, false)) log.write(event, text, place);
  }

  /** The warnings of features. @param isPlanned true for those of a plan, false for those of a handler that starts */
  #warnings(planned: PlannedHandler, isPlanned: boolean): readonly Warning[] {
    const { features, options } = this.parts;
    const all = features.flatMap((feature) => feature.warnings?.(planned, options.declare) ?? []);
    return all.filter(({ event }) => (event === 'topologyDoubtful') === isPlanned);
  }

  /**
   * Warns of handlers that get no messages, and of a shutdown that waits for none. It waits before, because a server may be connected
   * and started after the application.
   * @param isListening true if the server is started
   * @param isConsuming true if a queue has a consumer
   */
  unservedSoon(isListening: () => boolean, isConsuming: () => boolean): void {
    const warn = (): void => this.#unserved(isListening(), isConsuming());
    this.#serverTimer = this.parts.home.runInAsyncScope(() => setTimeout(warn, serverTimeout).unref());
  }

  /** Withdraws the warnings of {@link unservedSoon}. */
  close(): void {
    clearTimeout(this.#serverTimer);
  }

  #unserved(isListening: boolean, isConsuming: boolean): void {
    const { options, source, server, log } = this.parts;
    const misplaced = source.misplaced();
    if (misplaced.length > 0) {
      const text =
        `${getNone(misplaced)}: Nest reads @EventPattern and @MessagePattern in controllers only, and ` +
        `${misplaced.length === 1 ? 'this one is in a provider' : 'these are in providers'}; ` +
        'list the class among the controllers of its module, or use @Consume';
      log.write('handlersMisplaced', text, { handlers: misplaced.join(', ') });
    }
    const unserved = source.unserved(server);
    if (unserved.length > 0) {
      const token = options.name === defaultBrokerName ? 'DlxServer' : `getDlxToken(DlxServer, '${options.name}')`;
      const text =
        `no DlxServer is connected, so ${getNone(unserved, ' (@EventPattern, @MessagePattern)')} of this broker; ` +
        `call app.connectMicroservice({ strategy: app.get(${token}) }, { inheritAppConfig: true }) before the application starts, ` +
        "use @Consume, or name the transport that serves them: @EventPattern('x', Transport.TCP)";
      log.write('handlersUnserved', text, { handlers: unserved.join(', ') });
    }
    if (!isListening && server.added.length > 0) {
      const patterns = server.added.map(({ pattern }) => pattern);
      const text =
        `the DlxServer is connected but not started, so the handlers of '${patterns.join("', '")}' get no messages: these wait in their ` +
        'queues; call await app.startAllMicroservices(), or listen() of a microservice';
      log.write('serverNotStarted', text, { patterns: patterns.join(', ') });
    }
    // Nest listens to the signal by which a process is asked to end only if the application says so.
    if (isConsuming && process.listenerCount('SIGTERM') === 0) {
      const text =
        'SIGTERM ends this process at once, without waiting for its handlers (drainTimeout): call app.enableShutdownHooks()';
      log.write('signalUnhandled', text, {});
    }
  }
}

const argumentsOf = (topology: Topology, queue: string) =>
  topology.queues.find(({ name }) => name === queue)?.arguments;

const isQuorum = (topology: Topology, queue: string): boolean =>
  argumentsOf(topology, queue)?.get('x-queue-type')?.value === 'quorum';

/** The subject and the verb of a warning: `Orders.created gets no messages`. */
const getNone = (handlers: readonly string[], note = ''): string =>
  `${handlers.join(', ')}${note} ${handlers.length === 1 ? 'gets' : 'get'} no messages`;

/**
 * The warning for a handler whose failures would be lost: it has no retry policy, and its queue has no dead-letter exchange, by
 * arguments or by a policy of the broker. There is no warning for requests, whose client gets the error, and for
 * `@DeadLetter(false)`.
 */
function lossWarning(
  { handler, queue, retry }: PlannedHandler,
  topology: Topology,
  backend: Pick<Backend, 'deadLetterExchange'>,
): string | undefined {
  const { losesFailures, queue: asked } = handler.settings;
  if (retry !== undefined || losesFailures || handler.kind === 'request') return undefined;
  if (argumentsOf(topology, queue)?.has('x-dead-letter-exchange') === true) return undefined;
  const isUnknown = asked.declare === false && backend.deadLetterExchange === undefined;
  if (isUnknown || backend.deadLetterExchange?.(queue) !== undefined) return undefined;
  return (
    `a message on which ${handler.origin} fails is lost: queue '${queue}' has no dead-letter exchange, and the handler no retry ` +
    "policy; add @DeadLetter('exchange') or @Retry({ attempts: 3 }), or @DeadLetter(false) if it may be lost"
  );
}

/**
 * The warning for a quorum queue without a delivery limit of its own and without a dead-letter exchange: RabbitMQ 4 drops what returns
 * to it too often (rule W6). A process that a message kills returns it each time.
 */
function limitWarning({ handler, queue }: PlannedHandler, topology: Topology, backend: Backend): string | undefined {
  const args = argumentsOf(topology, queue);
  if (!isQuorum(topology, queue) || args?.has('x-delivery-limit') === true) return undefined;
  if (args?.has('x-dead-letter-exchange') === true || handler.settings.losesFailures) return undefined;
  const { state } = backend;
  if (!('server' in state) || profileOf(state.server) !== '4' || backend.deadLetterExchange?.(queue) !== undefined)
    return undefined;
  return (
    `queue '${queue}' of ${handler.origin} loses a message that returns more than 20 times, for example one that ends the process each ` +
    'time: RabbitMQ 4 drops such messages of a quorum queue that has no delivery limit and no dead-letter exchange; ' +
    `add @DeadLetter('exchange'), or @QueueArguments({ 'x-delivery-limit': ${noDeliveryLimit} }) for no limit`
  );
}

/**
 * The warning for a handler that may work for longer than the consumer timeout. Without a time limit it does so only if the timeout is
 * below the usual one.
 */
function timeoutWarning(
  planned: PlannedHandler,
  topology: Topology,
  known: ConsumerTimeout | undefined,
): string | undefined {
  const { handler, queue, retry } = planned;
  if (known?.quorumOnly === true && !isQuorum(topology, queue)) return undefined;
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

/** A line for each queue whose dead letters no queue of this application gets, with the handler that would take them. */
const unreceivedWarnings = (topology: Topology): readonly string[] =>
  unreceivedDeadLetters(topology).map(({ queue, exchange, routingKey, hasBindings, boundBy = [] }) => {
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

/**
 * A line for each queue whose dead letters return to it at once. A handler with a retry policy rejects no failed message into its own
 * queue, so its queue has none.
 */
const returnWarnings = (planned: readonly PlannedHandler[], topology: Topology): readonly string[] =>
  returningDeadLetters(topology).flatMap(({ queue, exchange, routingKey }) => {
    const failing = planned.find((each) => each.queue === queue && each.retry === undefined);
    if (failing === undefined) return [];
    const from = exchange === '' ? 'the default exchange' : `exchange '${exchange}'`;
    const key = routingKey === undefined ? 'the routing key of their message' : `the routing key '${routingKey}'`;
    return [
      `dead letters of queue '${queue}' return to it at once and without an end: ${from} routes them back by ${key}, so a ` +
        `message on which ${failing.handler.origin} fails is handled again and again; write @Retry({ attempts: 3 }) instead ` +
        'of @DeadLetter, or lead the dead letters to another queue',
    ];
  });
