import type { SafeProcess, SafeTracing } from '../tracing/index.js';
import { doNothing } from '../../platform/index.js';
import type { AttemptWatch } from './attempt-watch.js';
import { Attempt, type AttemptParts, type Processing } from './attempt.js';
import type { HandlerScope } from '../features/circuit/handler-scope.js';
import type { EventLog } from '../log/event-log.js';
import { busy, type End, succeeded, type Handling, type Outcome } from './handler.js';
import { pauseWhileBusy, type IdempotencyGuard } from '../features/idempotent/guard.js';
import { endOutbox } from '../features/outbox/end-of-attempt.js';
import { Collector } from '../features/outbox/collector.js';
import { Outbox } from '../features/outbox/outbox.js';
import type { OutboxScope } from '../features/outbox/scope.js';
import type { ReplyPublisher } from '../client/reply-publisher.js';
import type { Settlement } from './settlement.js';

/** Gives a message to a handler: within the time limit, between the hooks, and only if it was not handled before. */
export class Attempts implements AttemptParts {
  constructor(
    readonly settlement: Settlement,
    private readonly guard: IdempotencyGuard,
    readonly processing: Processing,
    readonly log: EventLog,
    private readonly tracing: SafeTracing | undefined,
    private readonly outboxes: OutboxScope,
    readonly scope: HandlerScope,
    readonly watch: AttemptWatch,
  ) {}

  /** Runs the only handler of a message. Its outcome settles the message. */
  single(handling: Handling, data: unknown, settled: (handling: Handling) => void): void {
    const { delivery, planned, context, replies } = handling;
    const { events } = this.settlement;
    if (events.observed) {
      events.emit('delivered', delivery, { handler: planned.handler.origin, attempt: context.attempt });
    }
    const end = (outcome: Outcome): void => {
      this.settlement.end(outcome, handling);
      settled(handling);
    };
    if (this.#wasLost(handling, end)) return;
    if (planned.outbox !== undefined) handling.outbox = new Outbox();
    if (planned.handler.settings.idempotence === undefined) return this.#run(handling, data, replies, end);
    const skip = (claim: 'busy' | 'done'): void => {
      if (claim === 'done') {
        this.settlement.duplicate(delivery, planned);
        replies?.complete(doNothing); // a packet of Nest may ask a handler of events
      } else this.settlement.postpone(delivery, planned, pauseWhileBusy);
      settled(handling);
    };
    const run = (ended: (outcome: Outcome) => void): void => this.#run(handling, data, replies, ended);
    this.guard.pass(planned, data, context, run, skip, end);
  }

  /** Runs one of several handlers of a message. The caller settles the message when all have ended. */
  shared(handling: Handling, data: unknown, end: (outcome: Outcome) => void): void {
    const { planned, context } = handling;
    const member = handling.group?.member(end);
    const last = member?.end ?? end;
    if (this.#wasLost(handling, last)) return;
    const run = (ended: End): void =>
      this.#run(handling, data, undefined, member ? (outcome) => member.arrive(outcome, ended) : ended);
    this.guard.pass(planned, data, context, run, (claim) => last(claim === 'done' ? succeeded : busy), last);
  }

  /** Ends the attempt as failed if the message comes again because its attempt before took too long. */
  #wasLost(handling: Handling, end: End): boolean {
    const failure = this.watch.lost(handling);
    if (failure === undefined) return false;
    const { context } = handling;
    context.markHooked(); // no handler was called, so the hook is not missing
    context.capture(failure);
    end({ failed: true, failure });
    return true;
  }

  /** Runs a handler, with its outbox if it has one. */
  #run(handling: Handling, data: unknown, replies: ReplyPublisher | undefined, end: End): void {
    const { planned, outbox, context } = handling;
    if (outbox === undefined || planned.outbox === undefined) return this.#traced(handling, data, replies, end);
    const { origin } = planned.handler;
    const collector = new Collector(outbox, planned.outbox, origin, context.message.own.messageId);
    context.collect(collector);
    replies?.hold(outbox);
    const ended: End = (outcome) => {
      collector.close();
      this.outboxes.leave(() => (handling.group === undefined ? endOutbox(handling, outcome, end) : end(outcome)));
    };
    this.outboxes.run(collector, () => this.#traced(handling, data, replies, ended));
  }

  /** Runs a handler inside its span, if there is tracing. */
  #traced(handling: Handling, data: unknown, replies: ReplyPublisher | undefined, end: End): void {
    const span = this.tracing && startSpan(this.tracing, handling);
    if (span === undefined) return new Attempt(this, handling, data, replies, end).begin();
    handling.span = span;
    const ended: End = (outcome) => {
      span.handled();
      end(outcome);
    };
    span.run(() => new Attempt(this, handling, data, replies, ended).begin());
  }
}

const startSpan = (tracing: SafeTracing, { delivery, planned, context }: Handling): SafeProcess | undefined =>
  tracing.startProcess({
    message: delivery.message,
    queue: delivery.queue,
    handler: planned.handler.origin,
    attempt: context.attempt,
    metadata: context.dispatched(),
  });
