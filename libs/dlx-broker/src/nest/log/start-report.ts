import type { Backend } from '../../backends/index.js';
import {
  type Topology,
  joinedWildcards,
  misspeltExchanges,
  returningDeadLetters,
} from '../../backends/topology/index.js';
import type { HomeContext } from '../../platform/index.js';
import { meantOf } from '../../platform/options/index.js';
import type { HandlerSource } from '../core/handler-source.js';
import type { Handler, PlannedHandler } from '../core/handler.js';
import type { ConsumerPlan, Plan } from '../core/plan.js';
import type { DeathHook } from '../death-hooks/death.js';
import { circuitWarnings } from '../features/circuit/index.js';
import { orderWarnings } from '../features/ordered/order-warnings.js';
import { defaultBrokerName, type ResolvedOptions } from '../module/options.js';
import type { DlxServer } from '../module/server.js';
import type { EventLog } from './event-log.js';
import {
  argumentWarnings,
  deadLetterWarnings,
  describeHandler,
  idleRetryWarnings,
  keylessWarnings,
  lossWarning,
  secondsWarnings,
  misplacedWarning,
  overrideWarning,
  silentServerWarning,
  timeoutWarning,
  unhookedWarning,
  unseenWarning,
  unservedWarning,
} from './start-texts.js';

/** The queues that an application consumes or declares, with its parking lots and wait queues. */
const queuesOf = ({ topology, consumers }: Pick<Plan, 'topology' | 'consumers'>): readonly string[] => [
  ...new Set([...topology.queues.map(({ name }) => name), ...consumers.map(({ queue }) => queue)]),
];

/** A method with `@OnDeadLetter` that is probably never called, and the warning. */
interface UnusedHook {
  /** Class and method. */
  readonly origin: string;
  readonly text: string;
}

/**
 * The warnings of methods with `@OnDeadLetter` for a queue, or a pattern of queues, that the application does not know, or that is a
 * parking lot, which no handler consumes.
 */
function unusedHooks(hooks: readonly DeathHook[], plan: Pick<Plan, 'topology' | 'consumers'>): UnusedHook[] {
  const named = hooks.filter(({ queue }) => queue !== undefined);
  if (named.length === 0) return [];
  const known = queuesOf(plan);
  return named.flatMap((hook) => {
    const fitting = known.filter(hook.matches);
    const what = fitting.length === 0 ? unknownText(hook, known) : lotsText(hook, fitting, plan);
    return what === undefined ? [] : [{ origin: hook.origin, text: `@OnDeadLetter on ${hook.origin} ${what}` }];
  });
}

const unknownText = ({ queue }: DeathHook, known: readonly string[]): string =>
  typeof queue === 'string'
    ? `names queue '${queue}', which this application neither consumes nor declares${meantOf(queue, known)}`
    : `names queues by ${String(queue)}, which fits no queue that this application consumes or declares`;

/** @returns undefined unless all these queues are parking lots in which no handler fails and no message expires */
function lotsText(
  { queue, kinds }: DeathHook,
  fitting: readonly string[],
  { consumers }: Pick<Plan, 'consumers'>,
): string | undefined {
  const retries = consumers.flatMap(({ handlers }) => handlers.flatMap(({ retry }) => retry ?? []));
  const parking = retries.filter(({ parkingLot }) => fitting.includes(parkingLot));
  const hasDeaths = (name: string): boolean => {
    const own = parking.filter(({ parkingLot }) => parkingLot === name);
    const expires = kinds.has('expired') && own.some(({ retention }) => retention !== undefined);
    return own.length === 0 || expires || consumers.some((consumer) => consumer.queue === name);
  };
  if (fitting.some(hasDeaths)) return undefined;
  const failing = [...new Set(parking.map((retry) => `'${retry.queue}'`))];
  const lots = fitting.map((name) => `'${name}'`).join(', ');
  const what = fitting.length === 1 ? 'the parking lot' : 'parking lots';
  const named =
    typeof queue === 'string'
      ? `names queue ${lots}, which is ${what} of ${failing.join(', ')}`
      : `names queues by ${String(queue)}, which fits ${what} of ${failing.join(', ')} only: ${lots}`;
  return `${named}; it is called for the queue in which a message fails: write queue: ${failing.join(' or ')}`;
}

/** A queue that an option names and the application does not know, and the warning. */
interface UnknownQueue {
  readonly queue: string;
  readonly text: string;
}

/**
 * The warnings of names in the option `health.deadLetters.queues` that the application does not know. The queue may still be on the
 * broker.
 */
function unknownHealthQueues(names: readonly string[], plan: Pick<Plan, 'topology' | 'consumers'>): UnknownQueue[] {
  if (names.length === 0) return [];
  const known = queuesOf(plan);
  return [...new Set(names)]
    .filter((queue) => !known.includes(queue))
    .map((queue) => ({
      queue,
      text:
        `option 'health.deadLetters.queues' names queue '${queue}', which this application neither consumes nor declares: health ` +
        `looks at no dead letter of it unless the queue is on the broker${meantOf(queue, known)}`,
    }));
}

/**
 * A line for each queue whose dead letters return to it at once. A handler with a retry policy rejects no failed message into its own
 * queue, so its queue has none.
 */
function returnWarnings(planned: readonly PlannedHandler[], topology: Topology): readonly string[] {
  return returningDeadLetters(topology).flatMap(({ queue, exchange, routingKey }) => {
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
}

/** A line for each binding of a topic exchange with a wildcard that is an ordinary character. */
const wildcardWarnings = (topology: Topology): readonly string[] =>
  joinedWildcards(topology).map(({ word, binding: { routingKey, source, destination, destinationType, origin } }) => {
    const by = origin === undefined ? '' : ` (${origin})`;
    return (
      `routing key '${routingKey}', which binds ${destinationType} '${destination}' to topic exchange '${source}'${by}: '${word}' ` +
      "is no wildcard and fits only itself; * and # stand alone between dots, such as 'order.*'"
    );
  });

/** A line for each exchange that is probably misspelt. */
const exchangeWarnings = (topology: Topology): readonly string[] =>
  misspeltExchanges(topology).map(
    ({ name, meant, origin }) =>
      `exchange '${name}' is named by ${origin} and nowhere else in this application; did you mean '${meant}'? If '${name}' is ` +
      `meant, name it in option 'topology' too: { exchanges: ['${name}'] }`,
  );

/** How long an application may take, after its start, to connect and start its server, in milliseconds. */
const serverTimeout = 1_000;

/** Where a report of a start comes from and goes to. */
export interface ReportParts {
  readonly options: ResolvedOptions;
  readonly backend: Backend;
  readonly source: HandlerSource;
  readonly server: DlxServer;
  readonly home: HomeContext;
  readonly log: EventLog;
}

/** Logs the handlers of a broker when they start, and warns of likely mistakes, each once. */
export class StartReport {
  readonly #reported = new Set<Handler>();
  readonly #warned = new Set<string>();
  /** The plan of the last {@link plan}. */
  #plan: Plan | undefined;
  #serverTimer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: ReportParts) {}

  /** Warns of mistakes in a plan. @param doubts further warnings */
  plan(plan: Plan, doubts: readonly string[]): void {
    const { topology, notes, consumers } = plan;
    this.#plan = plan;
    const planned = consumers.flatMap(({ handlers }) => handlers);
    const circuits = circuitWarnings(planned.map(({ handler }) => handler));
    const ofTopology = [
      ...argumentWarnings(topology),
      ...deadLetterWarnings(topology),
      ...keylessWarnings(planned, topology),
      ...returnWarnings(planned, topology),
      ...wildcardWarnings(topology),
      ...exchangeWarnings(topology),
    ];
    for (const warning of [...notes, ...doubts, ...circuits, ...ofTopology]) {
      if (!this.#warned.has(warning)) this.parts.log.write('topologyDoubtful', warning, {});
      this.#warned.add(warning);
    }
  }

  /** Logs a handler that starts. */
  handler(planned: PlannedHandler, consumer: ConsumerPlan, topology: Topology): void {
    if (this.#reported.has(planned.handler)) return;
    this.#reported.add(planned.handler);
    const { options, backend, log } = this.parts;
    const place = { handler: planned.handler.origin, queue: planned.queue };
    if (options.logHandlers) log.write('handlerStarted', describeHandler(planned, consumer, topology, backend), place);
    const warning = lossWarning(planned, topology, backend);
    if (warning !== undefined) log.write('failuresLost', warning, place);
    const late = timeoutWarning(planned, backend.consumerTimeout);
    if (late !== undefined) log.write('timeoutTooLong', late, place);
    for (const doubt of secondsWarnings(planned)) log.write('durationDoubtful', doubt, place);
    for (const risk of orderWarnings(planned, options.declare)) log.write('orderAtRisk', risk, place);
  }

  /** Warns of methods that look like handlers, and that no server can make handlers. */
  unseen(): void {
    const { source, log } = this.parts;
    for (const override of source.overrides()) {
      log.write('handlerOverridden', overrideWarning(override), { handler: override.origin });
    }
    const unseen = source.unseen();
    if (unseen.length > 0) log.write('handlersUnseen', unseenWarning(unseen), { handlers: unseen.join(', ') });
  }

  /**
   * Warns of handlers and retry policies that get no messages, and of names of unknown queues. It waits before, because a server may be connected and started
   * after the application.
   * @param isListening true if the server is started
   * @param consumed the queues with a consumer
   * @param unused warns of circuits that no handler uses
   */
  unservedSoon(isListening: () => boolean, consumed: () => readonly string[], unused: () => void): void {
    const warn = (): void => this.#unserved(isListening(), consumed(), unused);
    this.#serverTimer = this.parts.home.runInAsyncScope(() => setTimeout(warn, serverTimeout).unref());
  }

  /** Withdraws the warnings of {@link unservedSoon}. */
  close(): void {
    clearTimeout(this.#serverTimer);
  }

  #unserved(isListening: boolean, consumed: readonly string[], unused: () => void): void {
    const { options, source, server, log } = this.parts;
    const misplaced = source.misplaced();
    if (misplaced.length > 0) {
      log.write('handlersMisplaced', misplacedWarning(misplaced), { handlers: misplaced.join(', ') });
    }
    const unserved = source.unserved(server);
    const token = options.name === defaultBrokerName ? 'DlxServer' : `getDlxServerToken('${options.name}')`;
    if (unserved.length > 0) {
      log.write('handlersUnserved', unservedWarning(unserved, token), { handlers: unserved.join(', ') });
    }
    const waiting = isListening ? [] : server.added.map(({ pattern }) => pattern);
    if (waiting.length > 0) {
      log.write('serverNotStarted', silentServerWarning(waiting), { patterns: waiting.join(', ') });
    }
    if (consumed.length > 0 && process.listenerCount('SIGTERM') === 0) {
      log.write('signalUnhandled', unhookedWarning, {});
    }
    if (unserved.length + waiting.length > 0) return;
    unused();
    for (const warning of idleRetryWarnings(Object.keys(options.queueRetry), consumed)) {
      log.write('retryUnused', warning, {});
    }
    if (this.#plan === undefined) return;
    for (const { origin, text } of unusedHooks(source.deathHooks, this.#plan)) {
      log.write('deathHookUnused', text, { handler: origin });
    }
    for (const { queue, text } of unknownHealthQueues(options.health.deadLetters?.queues ?? [], this.#plan)) {
      log.write('healthQueueUnknown', text, { queue });
    }
  }
}
