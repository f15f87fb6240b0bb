import type { AsyncResource } from 'node:async_hooks';
import type { Backend, BackendDelivery } from '../../backends/index.js';
import { grantedAttempt } from '../../platform/history/index.js';
import type { HomeContext } from '../../platform/index.js';
import { ReplyPublishers } from '../client/reply-publisher.js';
import type { EventLog } from '../log/event-log.js';
import { type AttemptParts, AttemptRun } from './attempt.js';
import { runShared, runSingle } from './attempts.js';
import { DlxContext, patternOf } from './context.js';
import { GatedConsumption } from './gated-consumption.js';
import {
  failedBy,
  type Gate,
  type Handler,
  type Handling,
  type MessageOrder,
  type Opened,
  type PlannedHandler,
} from './handler.js';
import { handlersFor } from './handler.js';
import { payloadOf } from './payload.js';
import type { ConsumerPlan } from './plan.js';
import type { Settlement } from './settlement.js';
import { UnhandledMessages } from './unhandled-messages.js';

/** Called when the broker ended a consumer, with its error where there is one. */
type Lost = (consumer: QueueConsumer, failure: Error | undefined) => void;

/** The consumer of a queue: finds the handler of a message, runs it, settles the message, and waits for handlers at the end. */
export class QueueConsumer {
  readonly #gated: GatedConsumption;
  #atWork = 0;
  /** Called when no handler runs any more. */
  readonly #waiting: (() => void)[] = [];
  #only: PlannedHandler | undefined;
  #plan: ConsumerPlan;
  #hasEnded = false;
  /** The messages in hand, if they are kept in an order. */
  #order: MessageOrder | undefined;
  readonly #publishers: ReplyPublishers;
  /** One function for all messages. */
  readonly #ended = ({ delivery, planned }: Handling): void => {
    planned.gate?.ended(delivery);
    this.#done();
  };
  readonly #unhandled: UnhandledMessages;

  constructor(
    plan: ConsumerPlan,
    backend: Backend,
    private readonly settlement: Settlement,
    private readonly attempts: AttemptParts,
    private readonly home: HomeContext,
    log: EventLog,
  ) {
    this.#plan = plan;
    this.#publishers = new ReplyPublishers(backend);
    this.#unhandled = new UnhandledMessages(settlement, log, this.#publishers);
    const take = (delivery: BackendDelivery): void => this.home.fresh(this.#take, this, delivery);
    this.#gated = new GatedConsumption({
      backend,
      gate: () => this.#gate,
      take,
      plan: () => this.#plan,
      order: () => this.#order,
      atWork: () => this.#atWork,
      interrupted: (...how) => this.attempts.watch.interrupted(this.queue, ...how),
    });
    this.update(plan);
  }

  /** True if it is started, also while it gets no messages because its gate is closed. */
  get running(): boolean {
    return this.#gated.running;
  }

  /** The number of messages that its handlers have in hand. */
  get atWork(): number {
    return this.#order?.atWork ?? this.#atWork;
  }

  /** The messages in hand, if they are kept in an order. */
  get order(): MessageOrder | undefined {
    return this.#order;
  }

  serves(handlers: ReadonlySet<Handler>): boolean {
    return this.#plan.handlers.some(({ handler }) => handlers.has(handler));
  }

  /** Changes the handlers of the queue while it is consumed. */
  update(plan: ConsumerPlan): void {
    this.#plan = plan;
    this.#only = plan.handlers.length === 1 ? plan.handlers[0] : undefined;
    this.#order = plan.ordering?.of(this.#order) ?? this.#order;
  }

  /** See {@link GatedConsumption.start}. */
  start(lost: Lost): Promise<void> | undefined {
    return this.#gated.start((failure) => lost(this, failure));
  }

  /** Starts, ends or replaces the consumer as its gate says now. */
  adjust(): void {
    this.#gated.adjust();
  }

  /**
   * Ends deliveries. Handlers of a queue with a single active consumer start nothing more, and stay the active one until {@link close}:
   * the next instance must not begin while one of them is at work.
   */
  cancel(): void {
    this.#hasEnded = true;
    this.#order?.stop();
    this.#gated.cancel();
  }

  /** Resolves when no handler runs any more, and their messages are settled, or wait for another try of that. */
  async idle(): Promise<void> {
    do {
      if (this.#order !== undefined) await this.#order.idle();
      else if (this.#atWork > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      await this.settlement.idle(this.queue);
      // A message that was on its way when the consumer was cancelled may have begun meanwhile.
    } while (this.#order === undefined && this.#atWork > 0);
  }

  /** Closes the consumer. Unsettled messages return to the queue. @returns how many of them were at work */
  close(): number {
    const left = this.atWork;
    this.#order?.close();
    this.#gated.close();
    return left;
  }

  get queue(): string {
    return this.#plan.queue;
  }

  #take(delivery: BackendDelivery, own: AsyncResource): void {
    if (this.#hasEnded && this.#leaves()) return;
    if (!this.#gated.isOpen && !this.#isAdmitted(delivery, own)) return;
    this.#begin(delivery, own);
  }

  /** True if a message that comes after the end is left unsettled: it returns to its place in the queue when the consumer is closed. */
  #leaves(): boolean {
    return this.#plan.isSingle && this.#order === undefined;
  }

  get #gate(): Gate | undefined {
    return this.#plan.handlers[0]?.gate;
  }

  /** Decides about a message that comes while its gate is not open: the cancel was on its way, or the message is a probe. */
  #isAdmitted(delivery: BackendDelivery, own: AsyncResource): boolean {
    const hold = (): void => this.settlement.wait(delivery, this.#plan.handlers[0]!);
    const take = (): void => own.runInAsyncScope(() => this.#take(delivery, own));
    const run = (): void => (delivery.settled ? undefined : take());
    return this.#gate?.admits({ run, hold, giveBack: () => delivery.giveBack() }) !== false;
  }

  /** Reads a message, and selects its handlers: the only one of the queue, or those that its envelope or its routing key names. */
  #begin(delivery: BackendDelivery, own: AsyncResource): void {
    const { handlers, reader } = this.#plan;
    try {
      const opened = reader?.open?.(delivery);
      const context = opened === undefined ? new DlxContext(delivery) : opened.contextOf(delivery);
      if (opened !== undefined) return this.#give(delivery, context, opened.select(handlers), own, opened);
      if (this.#only !== undefined) return this.#handle(delivery, context, this.#only, own, undefined);
      const key = patternOf(delivery.message, delivery.queue);
      this.#give(delivery, context, handlersFor(handlers, key), own, undefined);
    } catch (error) {
      this.#unhandled.unreadable(delivery, error, this.#plan);
    }
  }

  /** Gives a message to the handlers that were selected. If they are several, all of them have to succeed. */
  #give(
    delivery: BackendDelivery,
    context: DlxContext,
    matching: readonly PlannedHandler[],
    own: AsyncResource,
    opened: Opened | undefined,
  ): void {
    const [first] = matching;
    if (first === undefined) return this.#unhandled.unknown(delivery, context, own, opened, this.#plan);
    if (matching.length === 1) return this.#handle(delivery, context, first, own, opened);
    if (this.#order !== undefined) return this.#keep(this.#order, delivery, matching, own, opened);
    const spent = matching.find((planned) => isSpent(planned, context));
    if (spent !== undefined) return this.settlement.exhausted(delivery, spent, context.attempt);
    const data = this.#dataOf(delivery, first, opened);
    this.#atWork++;
    void this.#share(delivery, context, matching, own, data, opened).then(() => this.#done());
  }

  #handle(
    delivery: BackendDelivery,
    context: DlxContext,
    planned: PlannedHandler,
    own: AsyncResource,
    opened: Opened | undefined,
  ): void {
    if (this.#order !== undefined) return this.#keep(this.#order, delivery, [planned], own, opened);
    if (isSpent(planned, context)) return this.settlement.exhausted(delivery, planned, context.attempt);
    const data = this.#dataOf(delivery, planned, opened);
    this.#atWork++;
    this.#single(delivery, context, planned, own, data, opened, this.#ended);
  }

  /** Gives a message to one handler. */
  #single(
    delivery: BackendDelivery,
    context: DlxContext,
    planned: PlannedHandler,
    own: AsyncResource,
    data: unknown,
    opened: Opened | undefined,
    ended: (handling: Handling) => void,
  ): void {
    const replies = this.#publishers.for(delivery, opened, planned.handler, own);
    planned.gate?.begin(delivery);
    const attempt = new AttemptRun(this.attempts, { delivery, planned, context, replies, data, own });
    runSingle(attempt, this.settlement, ended);
  }

  /** Gives a message to several handlers. @returns resolves when all have ended */
  async #share(
    delivery: BackendDelivery,
    context: DlxContext,
    matching: readonly PlannedHandler[],
    own: AsyncResource,
    data: unknown,
    opened: Opened | undefined,
  ): Promise<void> {
    const replies = opened && this.#publishers.for(delivery, opened, undefined, own);
    const gate = this.#gate;
    gate?.begin(delivery);
    const all = matching.map(
      (planned) => new AttemptRun(this.attempts, { delivery, planned, context, replies, data, own }),
    );
    await runShared(all, this.settlement);
    gate?.ended(delivery);
  }

  /** Puts a message among those in hand, which says when its handlers begin. */
  #keep(
    order: MessageOrder,
    delivery: BackendDelivery,
    matching: readonly PlannedHandler[],
    own: AsyncResource,
    opened: Opened | undefined,
  ): void {
    const planned = matching[0]!;
    const only = matching.length === 1 ? planned : undefined;
    order.take({
      delivery,
      planned,
      payload: this.#dataOf(delivery, planned, opened),
      own,
      read: () => (opened === undefined ? payloadOf(delivery) : this.#plan.reader?.open?.(delivery)?.data),
      contextOf: (held) => (opened === undefined ? new DlxContext(held) : opened.contextOf(held)),
      exhausted: (held, context) => {
        const spent = matching.find((each) => isSpent(each, context));
        if (spent !== undefined) this.settlement.exhausted(held, spent, context.attempt);
        return spent !== undefined;
      },
      run: (held, context, data, ended) => {
        if (only === undefined) return void this.#share(held, context, matching, own, data, opened).then(ended);
        this.#single(held, context, only, own, data, opened, () => {
          only.gate?.ended(held);
          ended();
        });
      },
      fail: (held, context, failure) => {
        const replies = this.#publishers.for(held, opened, only?.handler, own);
        this.settlement.end(failedBy(failure, context), { delivery: held, planned, context, replies });
      },
    });
  }

  /** The payload for a handler. */
  #dataOf(delivery: BackendDelivery, { handler }: PlannedHandler, opened: Opened | undefined): unknown {
    if (opened !== undefined) return opened.data;
    const payload = payloadOf(delivery);
    this.#plan.reader?.look?.(payload, delivery, handler.origin);
    return payload;
  }

  #done(): void {
    if (--this.#atWork > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/**
 * True if the attempts of a message are used up, by its headers. A stream may have granted one more attempt.
 */
function isSpent({ retry }: PlannedHandler, context: DlxContext): boolean {
  if (retry === undefined) return false;
  const { attempt } = context; // calculated from the headers
  return attempt > retry.attempts && attempt > grantedAttempt(context.message, context.queue);
}
