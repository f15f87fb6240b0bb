import type { AsyncResource } from 'node:async_hooks';
import type { Backend, BackendDelivery } from '../../backends/index.js';
import { grantedAttempt } from '../../platform/history/index.js';
import type { HomeContext } from '../../platform/index.js';
import { ReplyPublishers } from '../client/reply-publisher.js';
import { type AttemptParts, AttemptRun } from './attempt.js';
import { runShared } from './shared-attempts.js';
import { DlxContext, patternOf } from './context.js';
import { GatedConsumption } from './gated-consumption.js';
import {
  type Arrival,
  failedBy,
  type Gate,
  type Handler,
  handlersFor,
  type Handling,
  type MessageOrder,
  type PlannedHandler,
} from './handler.js';
import { payloadOf } from './payload.js';
import type { ConsumerPlan } from './plan.js';
import type { Settlement } from './settlement.js';
import { UnhandledMessages } from './unhandled-messages.js';

/** What a consumer needs of its broker. */
export interface ConsumerParts extends AttemptParts {
  readonly backend: Backend;
  readonly settlement: Settlement;
  readonly home: HomeContext;
}

/** Called when a handler has ended. */
type Ended = (handling: Handling) => void;

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
  readonly #ended: Ended = ({ delivery, planned }) => {
    planned.gate?.ended(delivery);
    this.#done();
  };
  readonly #unhandled: UnhandledMessages;

  constructor(
    plan: ConsumerPlan,
    private readonly parts: ConsumerParts,
  ) {
    const { backend, settlement, log, home, watch } = parts;
    this.#plan = plan;
    this.#publishers = new ReplyPublishers(backend);
    this.#unhandled = new UnhandledMessages(settlement, log, this.#publishers);
    const take = (delivery: BackendDelivery): void => home.fresh(this.#take, this, delivery);
    this.#gated = new GatedConsumption({
      backend,
      gate: () => this.#gate,
      take,
      plan: () => this.#plan,
      order: () => this.#order,
      atWork: () => this.#atWork,
      interrupted: (...how) => watch.interrupted(this.queue, ...how),
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
      await this.parts.settlement.idle(this.queue);
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
    const hold = (): void => this.parts.settlement.wait(delivery, this.#plan.handlers[0]!);
    const take = (): void => own.runInAsyncScope(() => this.#take(delivery, own));
    const run = (): void => (delivery.settled ? undefined : take());
    return this.#gate?.admits({ run, hold, giveBack: () => delivery.giveBack() }) !== false;
  }

  /** Reads a message, and selects its handlers: the only one of the queue, or those that its envelope or its routing key names. */
  #begin(delivery: BackendDelivery, own: AsyncResource): void {
    const { handlers, reader } = this.#plan;
    try {
      const opened = reader?.open?.(delivery);
      const arrival = { delivery, own, opened };
      const context = contextOf(arrival);
      if (opened !== undefined) return this.#give(arrival, context, opened.select(handlers));
      if (this.#only !== undefined) return this.#handle(arrival, context, this.#only);
      this.#give(arrival, context, handlersFor(handlers, patternOf(delivery.message, delivery.queue)));
    } catch (error) {
      this.#unhandled.unreadable(delivery, error, this.#plan);
    }
  }

  /** Gives a message to the handlers that were selected. If they are several, all of them have to succeed. */
  #give(arrival: Arrival, context: DlxContext, matching: readonly PlannedHandler[]): void {
    const [first] = matching;
    if (first === undefined) return this.#unhandled.unknown(arrival, context, this.#plan);
    if (matching.length === 1) return this.#handle(arrival, context, first);
    if (this.#order !== undefined) return this.#keep(this.#order, arrival, matching);
    if (this.#isExhausted(arrival.delivery, context, matching)) return;
    const data = this.#dataOf(arrival, first);
    this.#atWork++;
    void this.#share(arrival, context, matching, data).then(() => this.#done());
  }

  #handle(arrival: Arrival, context: DlxContext, planned: PlannedHandler): void {
    const { delivery } = arrival;
    if (this.#order !== undefined) return this.#keep(this.#order, arrival, [planned]);
    if (isSpent(planned, context)) return this.parts.settlement.exhausted(delivery, planned, context.attempt);
    const data = this.#dataOf(arrival, planned);
    this.#atWork++;
    this.#single(arrival, context, planned, data, this.#ended);
  }

  /** Ends a message whose attempts are used up. @returns false for any other */
  #isExhausted(delivery: BackendDelivery, context: DlxContext, matching: readonly PlannedHandler[]): boolean {
    const spent = matching.find((planned) => isSpent(planned, context));
    if (spent !== undefined) this.parts.settlement.exhausted(delivery, spent, context.attempt);
    return spent !== undefined;
  }

  /** Gives a message to one handler. */
  #single(arrival: Arrival, context: DlxContext, planned: PlannedHandler, data: unknown, ended: Ended): void {
    const replies = this.#publishers.for(arrival, planned.handler);
    planned.gate?.begin(arrival.delivery);
    new AttemptRun(this.parts, arrival, planned, context, replies, data).runAlone(ended);
  }

  /** Gives a message to several handlers. @returns resolves when all have ended */
  async #share(
    arrival: Arrival,
    context: DlxContext,
    matching: readonly PlannedHandler[],
    data: unknown,
  ): Promise<void> {
    const replies = arrival.opened && this.#publishers.for(arrival, undefined);
    const gate = this.#gate;
    gate?.begin(arrival.delivery);
    const all = matching.map((planned) => new AttemptRun(this.parts, arrival, planned, context, replies, data));
    await runShared(all, this.parts.settlement);
    gate?.ended(arrival.delivery);
  }

  /** Puts a message among those in hand, which says when its handlers begin. */
  #keep(order: MessageOrder, arrival: Arrival, matching: readonly PlannedHandler[]): void {
    const { delivery, own, opened } = arrival;
    const planned = matching[0]!;
    const only = matching.length === 1 ? planned : undefined;
    order.take({
      delivery,
      planned,
      payload: this.#dataOf(arrival, planned),
      own,
      read: () => (opened === undefined ? payloadOf(delivery) : this.#plan.reader?.open?.(delivery)?.data),
      contextOf: (held) => contextOf({ delivery: held, own, opened }),
      exhausted: (held, context) => this.#isExhausted(held, context, matching),
      run: (held, context, data, ended) => {
        const again = { delivery: held, own, opened };
        if (only === undefined) return void this.#share(again, context, matching, data).then(ended);
        this.#single(again, context, only, data, () => {
          only.gate?.ended(held);
          ended();
        });
      },
      fail: (held, context, failure) => {
        const replies = this.#publishers.for({ delivery: held, own, opened }, only?.handler);
        this.parts.settlement.end(failedBy(failure, context), { delivery: held, planned, context, replies });
      },
    });
  }

  /** The payload for a handler. */
  #dataOf({ delivery, opened }: Arrival, { handler }: PlannedHandler): unknown {
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

const contextOf = ({ delivery, opened }: Arrival): DlxContext =>
  opened === undefined ? new DlxContext(delivery) : opened.contextOf(delivery);

/**
 * True if the attempts of a message are used up, by its headers. A stream may have granted one more attempt.
 */
function isSpent({ retry }: PlannedHandler, context: DlxContext): boolean {
  if (retry === undefined) return false;
  const { attempt } = context; // calculated from the headers
  return attempt > retry.attempts && attempt > grantedAttempt(context.message, context.queue);
}
