import type { Backend } from '../../backends/index.js';
import type { HomeContext } from '../../platform/index.js';
import type { Topology } from '../../backends/topology/index.js';
import type { EventLog } from './event-log.js';
import type { HandlerSource } from '../core/handler-source.js';
import { circuitWarnings } from '../features/circuit/index.js';
import type { Handler, PlannedHandler } from '../core/handler.js';
import { defaultBrokerName, type ResolvedOptions } from '../module/options.js';
import { orderWarnings } from '../features/ordered/order-warnings.js';
import type { ConsumerPlan, Plan } from '../core/plan.js';
import type { DlxServer } from '../module/server.js';
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
import { exchangeWarnings, returnWarnings, wildcardWarnings } from './topology-doubts.js';
import { unknownHealthQueues, unusedHooks } from './unknown-queues.js';

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
