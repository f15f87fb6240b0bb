import type { AsyncResource } from 'node:async_hooks';
import type { HomeContext } from '../../platform/index.js';
import { type Backend, type BackendDelivery } from '../../backends/index.js';
import type { Attempts } from './attempts.js';
import type { Gate } from '../features/circuit/gate.js';
import { DlxContext, patternOf } from './context.js';
import type { EventLog } from '../log/event-log.js';
import { GatedConsumption } from './gated-consumption.js';
import type { Handler, Handling, PlannedHandler } from './handler.js';
import { payloadOf } from './payload-of.js';
import type { ConsumerPlan } from './plan.js';
import { type Packet, packetOf } from '../features/envelope/packet.js';
import { PacketContext } from '../features/envelope/packet-context.js';
import { mayBePacket, PacketSuspicion } from '../features/envelope/suspicion.js';
import { OrderedQueue } from '../features/ordered/ordered-queue.js';
import { ReplyPublishers } from '../client/reply-publisher.js';
import { type Opened, Refusals } from './refusals.js';
import { shareOutbox } from '../features/outbox/group.js';
import { handlersFor, handlersOfPacket } from './selection.js';
import type { Settlement } from './settlement.js';
import { isSpent } from './spent.js';
import { runShared } from './shared-run.js';

/** Called when the broker ended a consumer, with its error where there is one. */
type Lost = (consumer: QueueConsumer, failure: Error | undefined) => void;

/** The consumer of a queue: finds the handler of a message, runs it, settles the message, and waits for handlers at the end. */
export class QueueConsumer {
  readonly #gated: GatedConsumption;
  #atWork = 0;
  /** Called when no handler runs any more. */
  readonly #waiting: (() => void)[] = [];
  #single: PlannedHandler | undefined;
  #plan: ConsumerPlan;
  #opensPackets = false;
  #hasEnded = false;
  #suspicion: PacketSuspicion | undefined;
  /** The messages in hand of handlers with `@Ordered`; undefined for others. */
  #ordered: OrderedQueue | undefined;
  readonly #replyPublishers: ReplyPublishers;
  /** One function for all messages. */
  readonly #settled = ({ epoch }: Handling): void => this.#done(epoch);
  readonly #refusals: Refusals;

  constructor(
    plan: ConsumerPlan,
    private readonly backend: Backend,
    private readonly settlement: Settlement,
    private readonly attempts: Attempts,
    private readonly home: HomeContext,
    private readonly log: EventLog,
    private readonly gate: Gate,
  ) {
    this.#plan = plan;
    this.#replyPublishers = new ReplyPublishers(backend);
    this.#refusals = new Refusals(settlement, log, this.#replyPublishers);
    const take = (delivery: BackendDelivery): void => this.home.fresh(this.#take, this, delivery);
    this.#gated = new GatedConsumption({
      backend,
      gate,
      take,
      plan: () => this.#plan,
      ordered: () => this.#ordered,
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
    return this.#ordered?.atWork ?? this.#atWork;
  }

  /** The messages in hand that keep an order; undefined for other handlers. */
  get ordered(): OrderedQueue | undefined {
    return this.#ordered;
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
    const { ordering, queue } = plan;
    if (ordering === undefined) return;
    if (this.#ordered !== undefined) this.#ordered.update(ordering);
    else this.#ordered = new OrderedQueue(queue, ordering, this.backend, this.settlement, this.log);
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
    this.#ordered?.stop();
    this.#gated.cancel();
  }

  /** Resolves when no handler runs any more, and their messages are settled, or wait for another try of that. */
  async idle(): Promise<void> {
    do {
      if (this.#ordered !== undefined) await this.#ordered.idle();
      else if (this.#atWork > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      await this.settlement.settling.idle(this.queue);
      // A message that was on its way when the consumer was cancelled may have begun meanwhile.
    } while (this.#ordered === undefined && this.#atWork > 0);
  }

  /** Closes the consumer. Unsettled messages return to the queue. @returns how many of them were at work */
  close(): number {
    const left = this.atWork;
    this.#ordered?.close();
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
    return this.#plan.isSingle && this.#ordered === undefined;
  }

  /** Decides about a message that comes while its gate is not open: the cancel was on its way, or the message is a probe. */
  #isAdmitted(delivery: BackendDelivery, own: AsyncResource): boolean {
    const { pause, circuit } = this.gate;
    if (pause !== undefined || circuit === undefined) {
      delivery.giveBack();
      return false;
    }
    const hold = (): void => this.settlement.wait(delivery, this.#plan.handlers[0]!);
    const run = (): void => own.runInAsyncScope(() => this.#take(delivery, own));
    return circuit.admits({ run: () => (delivery.settled ? undefined : run()), hold });
  }

  #begin(delivery: BackendDelivery, own: AsyncResource): void {
    try {
      if (this.#opensPackets) return this.#open(delivery, own);
      this.#select(delivery, new DlxContext(delivery), own);
    } catch (error) {
      this.#refusals.unreadable(delivery, error, this.#plan);
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
    if (first === undefined) return this.#refusals.unknown(delivery, context, own, opened, this.#plan, this.#suspicion);
    if (matching.length === 1) return this.#handle(delivery, context, first, own, opened);
    if (this.#ordered !== undefined) return this.#inOrder(this.#ordered, delivery, matching, own, opened);
    const spent = matching.find((planned) => isSpent(planned, context));
    if (spent !== undefined) return this.settlement.exhausted(delivery, spent, context.attempt);
    const data = opened === undefined ? this.#payloadFor(delivery, first) : opened.data;
    this.#atWork++;
    this.#share(delivery, context, matching, own, data, opened?.packet, () => this.#done(undefined));
  }

  /** Gives a message to several handlers. @param ended called when all have ended */
  #share(
    delivery: BackendDelivery,
    context: DlxContext,
    matching: readonly PlannedHandler[],
    own: AsyncResource,
    data: unknown,
    packet: Packet | undefined,
    ended: () => void,
  ): void {
    const replies = packet && this.#replyPublishers.for(delivery, packet, undefined, own);
    const { circuit } = this.gate;
    const epoch = circuit?.begin();
    const handlings = matching.map((planned): Handling => ({
      delivery,
      planned,
      context,
      replies,
      epoch,
      own,
      span: undefined,
    }));
    if (matching.some(({ outbox }) => outbox !== undefined)) shareOutbox(handlings);
    runShared(handlings, data, this.attempts, this.settlement, () => {
      if (epoch !== undefined) circuit?.ended(epoch);
      ended();
    });
  }

  #handle(
    delivery: BackendDelivery,
    context: DlxContext,
    planned: PlannedHandler,
    own: AsyncResource,
    opened?: Opened,
  ): void {
    if (this.#ordered !== undefined) return this.#inOrder(this.#ordered, delivery, [planned], own, opened);
    if (isSpent(planned, context)) return this.settlement.exhausted(delivery, planned, context.attempt);
    const data = opened === undefined ? this.#payloadFor(delivery, planned) : opened.data;
    const replies = this.#replyPublishers.for(delivery, opened?.packet, planned.handler, own);
    this.#atWork++;
    const epoch = planned.circuit?.begin();
    const handling = { delivery, planned, context, replies, epoch, own, span: undefined, begunAt: undefined };
    this.attempts.single(handling, data, this.#settled);
  }

  /** Puts a message into the lane of its key. The first handler that it matches gives the key. */
  #inOrder(
    ordered: OrderedQueue,
    delivery: BackendDelivery,
    matching: readonly PlannedHandler[],
    own: AsyncResource,
    opened: Opened | undefined,
  ): void {
    const planned = matching[0]!;
    let payload = opened === undefined ? this.#payloadFor(delivery, planned) : opened.data;
    let attempts = 0;
    const packet = opened?.packet;
    const handler = matching.length === 1 ? planned.handler : undefined;
    ordered.take({
      delivery,
      planned,
      payload,
      own,
      contextOf: (held) => (packet === undefined ? new DlxContext(held) : new PacketContext(held, packet)),
      run: (held, context, ended) => {
        // The attempt before may have changed its payload.
        if (attempts++ > 0) payload = packet === undefined ? payloadOf(delivery) : packetOf(payloadOf(delivery))?.data;
        const spent = matching.find((each) => isSpent(each, context));
        if (spent !== undefined) {
          this.settlement.exhausted(held, spent, context.attempt);
          return ended();
        }
        const begin = (): void => {
          if (handler === undefined) return this.#share(held, context, matching, own, payload, packet, ended);
          const replies = this.#replyPublishers.for(held, packet, handler, own);
          const epoch = planned.circuit?.begin();
          const handling = { delivery: held, planned, context, replies, epoch, own, span: undefined };
          this.attempts.single(handling, payload, () => {
            if (epoch !== undefined) planned.circuit?.ended(epoch);
            ended();
          });
        };
        // The circuit calls these later, when nothing else would rescue the message.
        const later = (call: () => void): void => {
          try {
            call();
          } catch (fault) {
            this.settlement.rescue({ delivery: held, planned }, fault);
            ended();
          }
        };
        const hold = (): void =>
          later(() => {
            this.settlement.wait(held, planned);
            ended();
          });
        // Another queue with the same circuit may have a message under trial.
        const run = (): void => later(() => own.runInAsyncScope(begin));
        if (planned.circuit?.admits({ run, hold, leave: hold }) !== false) begin();
      },
      fail: (held, context, failure) => {
        context.capture(failure);
        const replies = this.#replyPublishers.for(held, packet, handler, own);
        this.settlement.end({ failed: true, failure }, { delivery: held, planned, context, replies, span: undefined });
      },
    });
  }

  /** The payload for a handler, which may be a packet that no option announced. */
  #payloadFor(delivery: BackendDelivery, { handler }: PlannedHandler): unknown {
    const payload = payloadOf(delivery);
    if (mayBePacket(delivery.message)) this.#suspicion?.look(payload, delivery.queue, handler.origin);
    return payload;
  }

  #done(epoch: number | undefined): void {
    if (epoch !== undefined) this.gate.circuit?.ended(epoch);
    if (--this.#atWork > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
