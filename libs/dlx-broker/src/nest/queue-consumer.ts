import type { AsyncResource } from 'node:async_hooks';
import { NO_MESSAGE_HANDLER } from './nest-versions.js';
import { type HomeContext, shownText } from '../host/index.js';
import {
  type Backend,
  type BackendDelivery,
  type CancelReason,
  type Consumption,
  ServerError,
} from '../backend/index.js';
import { deathsOf } from '../message/index.js';
import { grantedAttempt } from '../history/index.js';
import { Requesters } from './requesters.js';
import type { Attempts } from './attempts.js';
import { DlxContext, patternOf } from './context.js';
import type { EventLog } from './event-log.js';
import { errorFacts, mostCharacters, textOf } from './failure-log.js';
import { type Handler, type Handling, type Outcome, type PlannedHandler, succeeded } from './handler.js';
import { decodePayload } from './payload.js';
import type { ConsumerPlan } from './plan.js';
import { type Packet, packetOf } from './packets/packet.js';
import { PacketContext } from './packets/packet-context.js';
import { PacketReplies } from './packets/packet-replies.js';
import { mayBePacket, PacketSuspicion } from './packets/suspicion.js';
import { lateValues, Replies } from './replies.js';
import { handlersFor, handlersOfPacket } from './selection.js';
import type { Settlement } from './settlement.js';

export class UnknownPatternError extends Error {
  override readonly name = 'UnknownPatternError';
}

/** A payload that was read before its handler was known. */
interface Opened {
  readonly data: unknown;
  /** Undefined: the payload is no packet. */
  readonly packet: Packet | undefined;
}

/** The consumer of a queue: finds the handler of a message, runs it, settles the message, and waits for handlers at the end. */
export class QueueConsumer {
  #consumption: Consumption | undefined;
  #atWork = 0;
  /** Called when no handler runs any more. */
  readonly #waiting: (() => void)[] = [];
  #single: PlannedHandler | undefined;
  #plan: ConsumerPlan;
  #opensPackets = false;
  #suspicion: PacketSuspicion | undefined;
  readonly #requesters: Requesters;
  readonly #late = lateValues();

  constructor(
    plan: ConsumerPlan,
    private readonly backend: Backend,
    private readonly settlement: Settlement,
    private readonly attempts: Attempts,
    private readonly home: HomeContext,
    private readonly log: EventLog,
  ) {
    this.#plan = plan;
    this.#requesters = new Requesters(backend);
    this.update(plan);
  }

  get running(): boolean {
    return this.#consumption !== undefined;
  }

  /** The number of messages that its handlers have in hand. */
  get atWork(): number {
    return this.#atWork;
  }

  serves(handlers: ReadonlySet<Handler>): boolean {
    return this.#plan.handlers.some(({ handler }) => handlers.has(handler));
  }

  /** Changes the handlers of the queue while it is consumed. */
  update(plan: ConsumerPlan): void {
    this.#plan = plan;
    this.#single = plan.handlers.length === 1 ? plan.handlers[0] : undefined;
    this.#opensPackets = plan.envelope === 'nest';
    if (plan.envelope !== undefined) this.#suspicion = undefined;
    else this.#suspicion ??= new PacketSuspicion(this.log);
  }

  /**
   * @param lost called when the broker ended the consumer, with its error where there is one
   * @returns a promise if the broker answers later; it rejects when the consumer could not start
   */
  start(lost: (consumer: QueueConsumer, failure: Error | undefined) => void): Promise<void> | undefined {
    const { queue, prefetch, priority } = this.#plan;
    const onCancel = (_reason: CancelReason, failure?: Error): void => {
      this.#consumption = undefined;
      lost(this, failure);
    };
    const options = { prefetch, ...(priority !== undefined && { priority }), onCancel };
    const take = (delivery: BackendDelivery): void => this.home.fresh(this.#take, this, delivery);
    this.#consumption = this.backend.consume(queue, options, take);
    return this.#consumption.started?.catch((failure: unknown) => {
      this.#consumption = undefined;
      throw failure instanceof ServerError ? this.#named(failure) : failure;
    });
  }

  /** The error with the names of the handlers that do not start. */
  #named({ message, code, cause }: ServerError): ServerError {
    const origins = this.#plan.handlers.map(({ handler }) => handler.origin).join(', ');
    return new ServerError(`${origins}: ${message}`, code, { cause });
  }

  cancel(): void {
    this.#consumption?.cancel();
  }

  /** Resolves when no handler runs any more. */
  async idle(): Promise<void> {
    if (this.#atWork > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Closes the consumer. Unsettled messages return to the queue. @returns how many they were */
  close(): number {
    const left = this.#atWork;
    this.#consumption?.close();
    this.#consumption = undefined;
    return left;
  }

  get queue(): string {
    return this.#plan.queue;
  }

  #take(delivery: BackendDelivery, own: AsyncResource): void {
    try {
      if (this.#opensPackets) return this.#open(delivery, own);
      this.#select(delivery, new DlxContext(delivery), own);
    } catch (error) {
      this.#refuse(delivery, error);
    }
  }

  /** Takes a message of a queue of packets. A body that is no packet is the data. */
  #open(delivery: BackendDelivery, own: AsyncResource): void {
    const payload = payloadOf(delivery);
    const packet = packetOf(payload);
    if (packet !== undefined) {
      const context = new PacketContext(delivery, packet);
      return this.#give(delivery, context, handlersOfPacket(this.#plan.handlers, packet), own, {
        data: packet.data,
        packet,
      });
    }
    this.#select(delivery, new DlxContext(delivery), own, { data: payload, packet });
  }

  /** The only handler of a queue gets all messages of the queue. The routing key selects among handlers that share one. */
  #select(delivery: BackendDelivery, context: DlxContext, own: AsyncResource, opened?: Opened): void {
    if (this.#single !== undefined) return this.#handle(delivery, context, this.#single, own, opened);
    const key = patternOf(delivery.message, delivery.queue);
    this.#give(delivery, context, handlersFor(this.#plan.handlers, key), own, opened);
  }

  /** Gives a message to the handlers that were selected. If they are several, all of them have to succeed. */
  #give(
    delivery: BackendDelivery,
    context: DlxContext,
    matching: readonly PlannedHandler[],
    own: AsyncResource,
    opened?: Opened,
  ): void {
    const [first] = matching;
    if (first === undefined) return this.#refuseUnknown(delivery, context, own, opened);
    if (matching.length === 1) return this.#handle(delivery, context, first, own, opened);
    const spent = matching.find((planned) => isSpent(planned, context));
    if (spent !== undefined) return this.settlement.exhausted(delivery, spent, context.attempt);
    const data = opened === undefined ? this.#payloadFor(delivery, first) : opened.data;
    const replies = opened?.packet && this.#repliesFor(delivery, opened.packet, undefined, own);
    let left = matching.length;
    const handlings = matching.map((planned): Handling => ({ delivery, planned, context, replies, span: undefined }));
    let worst: readonly [Outcome, Handling] = [succeeded, handlings[0]!];
    this.#atWork++;
    for (const handling of handlings) {
      this.attempts.shared(handling, data, (outcome) => {
        if (rankOf(outcome) > rankOf(worst[0])) {
          this.settlement.outvoted(...worst);
          worst = [outcome, handling];
        } else if (handling !== worst[1]) this.settlement.outvoted(outcome, handling);
        if (--left > 0) return;
        if (rankOf(worst[0]) === 0) replies?.complete(doNothing);
        this.settlement.end(...worst);
        this.#done();
      });
    }
  }

  #handle(
    delivery: BackendDelivery,
    context: DlxContext,
    planned: PlannedHandler,
    own: AsyncResource,
    opened?: Opened,
  ): void {
    if (isSpent(planned, context)) return this.settlement.exhausted(delivery, planned, context.attempt);
    const data = opened === undefined ? this.#payloadFor(delivery, planned) : opened.data;
    const replies = this.#repliesFor(delivery, opened?.packet, planned.handler, own);
    this.#atWork++;
    this.attempts.single({ delivery, planned, context, replies, span: undefined }, data, () => this.#done());
  }

  /** The payload for a handler, which may be a packet that no option announced. */
  #payloadFor(delivery: BackendDelivery, { handler }: PlannedHandler): unknown {
    const payload = payloadOf(delivery);
    if (mayBePacket(delivery.message)) this.#suspicion?.look(payload, delivery.queue, handler.origin);
    return payload;
  }

  /** A packet with an id wants an answer, whatever the kind of its handler. */
  #repliesFor(
    { message }: BackendDelivery,
    packet: Packet | undefined,
    handler: Handler | undefined,
    own: AsyncResource,
  ): Replies | undefined {
    const { replyTo, correlationId } = message.own;
    const isWanted = packet === undefined ? handler?.kind === 'request' : packet.id !== undefined;
    if (replyTo === undefined || !isWanted) return undefined;
    const Kind = packet === undefined ? Replies : PacketReplies;
    return new Kind(this.backend, this.#requesters, this.#late, replyTo, correlationId, own);
  }

  /** Refuses a message that no handler is for. The client of a request in a packet gets the error of Nest's own server. */
  #refuseUnknown(delivery: BackendDelivery, context: DlxContext, own: AsyncResource, opened: Opened | undefined): void {
    this.settlement.counts.unknownPattern++;
    const { queue } = delivery;
    const pattern = context.getPattern();
    const error = new UnknownPatternError(`no handler of queue '${queue}' is for the pattern '${pattern}'`);
    const text = `${shownText(error.message, mostCharacters)}; the message is refused`;
    this.log.tell('unknownPattern', text, { queue: shownText(queue), pattern: shownText(pattern, mostCharacters) });
    if (opened?.packet !== undefined)
      this.#repliesFor(delivery, opened.packet, undefined, own)?.error(NO_MESSAGE_HANDLER, doNothing);
    else if (mayBePacket(delivery.message)) this.#suspicion?.lookAtRefused(delivery, this.#origins());
    this.settlement.refuse(delivery, error, this.#plan);
  }

  #origins(): readonly string[] {
    return this.#plan.handlers.map(({ handler }) => handler.origin);
  }

  /** Refuses a message that no handler can take. It is not requeued, because it would return for ever. */
  #refuse(delivery: BackendDelivery, error: unknown): void {
    this.settlement.counts.undecodable++;
    const queue = shownText(delivery.queue);
    const text = `queue '${queue}': ${textOf(error)}; the message is refused`;
    this.log.tell('unreadable', text, { queue, ...errorFacts(error) });
    try {
      this.settlement.refuse(delivery, error, this.#plan);
    } catch (failure) {
      const notRefused = `queue '${queue}': a message cannot be refused: ${textOf(failure)}`;
      this.log.tell('unrefused', notRefused, { queue, ...errorFacts(failure) });
    }
  }

  #done(): void {
    if (--this.#atWork > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** The worst of several outcomes settles a message: a failure, or else a handler that was busy. */
const rankOf = (outcome: Outcome): number => (outcome.failed ? 2 : outcome.isBusy === true ? 1 : 0);

/**
 * True if the attempts of a message are used up, by its headers. A stream may have granted one more attempt.
 */
function isSpent({ retry }: PlannedHandler, context: DlxContext): boolean {
  if (retry === undefined) return false;
  const { attempt } = context; // calculated from the headers
  return attempt > retry.attempts && attempt > grantedAttempt(context.message, context.queue);
}

const doNothing = (): void => undefined;

/**
 * The payload for a handler. A message that another queue rejected may be undecodable: a handler of dead letters gets its bytes,
 * because a second reject would lose the message.
 */
function payloadOf(delivery: BackendDelivery): unknown {
  const { message } = delivery;
  try {
    return decodePayload(message);
  } catch (error) {
    const { queue } = delivery;
    const deaths = deathsOf(message);
    const rejectedElsewhere =
      deaths.some(({ reason }) => reason === 'rejected') && !deaths.some((death) => death.queue === queue);
    if (rejectedElsewhere) return Buffer.from(message.body);
    throw error;
  }
}
