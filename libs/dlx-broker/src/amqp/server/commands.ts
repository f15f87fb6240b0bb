import { AmqpError, type Channel, notStored, partialCompletion, type Settled } from '../../engine/broker/index.js';
import { methodIds } from '../../engine/message/index.js';
import { type FrameWriter, type MethodReader, methods } from '../wire/index.js';

/** A channel, as its commands know it. */
export interface CommandChannel {
  readonly engine: Channel;
  readonly to: FrameWriter;
  readonly number: number;
  /** @throws AmqpError when the connection has as many consumers as it may have */
  checkConsumers(): void;
  /** `basic.get`: the message, or nothing. */
  get(asked: ReturnType<typeof methods.readBasicGet>): void;
  /** `basic.replace`: the next message of this channel takes the place of this delivery. @throws AmqpError */
  replaceNext(deliveryTag: number): void;
  /** Calls `write` when all outputs pending for this client are sent. */
  afterOutputs(write: () => void): void;
  /** @returns a callback that answers by `write`, or ends the channel with the error of `failed` */
  answerWhenStored(write: () => void, failed: (failure: Error) => AmqpError): Settled;
}

/** What a method of a client does on its channel. Throws on any error. */
interface Command {
  /**
   * Whether the command has an answer, which must not overtake the outputs of earlier commands: returns, deliveries and
   * confirms.
   */
  readonly answers: boolean;
  /** Whether the command waits until all of these outputs are sent. Otherwise only its answer does. */
  readonly waitsForOutputs: boolean;
  run(channel: CommandChannel, from: MethodReader): void;
}

type Run = Command['run'];

const answered = (run: Run): Command => ({ answers: true, waitsForOutputs: true, run });
const unanswered = (run: Run): Command => ({ answers: false, waitsForOutputs: false, run });

/**
 * A command that is answered when its change is durable, as in RabbitMQ.
 * @param run makes the change, and returns the function that writes the answer, if there is one
 */
const answeredWhenDurable = (
  id: number,
  run: (channel: CommandChannel, from: MethodReader) => (() => void) | undefined,
): Command => ({
  answers: true,
  waitsForOutputs: true,
  run: (channel, from) => {
    const { scheduler } = channel.engine;
    const { sequence } = scheduler;
    const write = run(channel, from);
    if (write === undefined) return;
    if (scheduler.sequence === sequence) return write();
    scheduler.onDurable(channel.answerWhenStored(write, (failure) => notStored(id, failure)));
  },
});

/** The error of a commit that could not be made durable. */
const incomplete = (): AmqpError => partialCompletion().blame(methodIds.txCommit);

/** A tag beyond the safe integers is a bigint: no channel has such a delivery. */
function deliveryTag(tag: number | bigint): number {
  if (typeof tag === 'number') return tag;
  throw new AmqpError('PRECONDITION_FAILED', `unknown delivery tag ${tag}`);
}

/** Every method that a client may send on an open channel, except publish and close. */
export const commands: ReadonlyMap<number, Command> = new Map<number, Command>([
  [
    methodIds.channelFlow,
    answered(({ to, number }, from) => {
      const { active } = methods.readChannelFlow(from);
      if (!active) throw new AmqpError('NOT_IMPLEMENTED', 'active=false');
      methods.writeChannelFlowOk(to, number, true);
    }),
  ],
  [
    methodIds.accessRequest,
    answered(({ to, number }, from) => {
      methods.readAccessRequest(from);
      methods.writeAccessRequestOk(to, number, 1);
    }),
  ],
  [
    methodIds.exchangeDeclare,
    answeredWhenDurable(methodIds.exchangeDeclare, ({ engine, to, number }, from) => {
      const { exchange, noWait, ...options } = methods.readExchangeDeclare(from);
      engine.declareExchange(exchange, options);
      return noWait ? undefined : () => methods.writeExchangeDeclareOk(to, number);
    }),
  ],
  [
    methodIds.exchangeDelete,
    answeredWhenDurable(methodIds.exchangeDelete, ({ engine, to, number }, from) => {
      const { exchange, ifUnused, noWait } = methods.readExchangeDelete(from);
      engine.deleteExchange(exchange, { ifUnused });
      return noWait ? undefined : () => methods.writeExchangeDeleteOk(to, number);
    }),
  ],
  [
    methodIds.exchangeBind,
    answeredWhenDurable(methodIds.exchangeBind, ({ engine, to, number }, from) => {
      const { destination, source, routingKey, noWait, arguments: args } = methods.readExchangeBind(from);
      engine.bindExchange(destination, source, routingKey, args);
      return noWait ? undefined : () => methods.writeExchangeBindOk(to, number);
    }),
  ],
  [
    methodIds.exchangeUnbind,
    answeredWhenDurable(methodIds.exchangeUnbind, ({ engine, to, number }, from) => {
      const { destination, source, routingKey, noWait, arguments: args } = methods.readExchangeUnbind(from);
      engine.unbindExchange(destination, source, routingKey, args);
      return noWait ? undefined : () => methods.writeExchangeUnbindOk(to, number);
    }),
  ],
  [
    methodIds.queueDeclare,
    answeredWhenDurable(methodIds.queueDeclare, ({ engine, to, number }, from) => {
      const { queue: name, noWait, ...options } = methods.readQueueDeclare(from);
      const { queue, messageCount, consumerCount } = engine.declareQueue(name, options);
      return noWait ? undefined : () => methods.writeQueueDeclareOk(to, number, queue, messageCount, consumerCount);
    }),
  ],
  [
    methodIds.queueBind,
    answeredWhenDurable(methodIds.queueBind, ({ engine, to, number }, from) => {
      const { queue, exchange, routingKey, noWait, arguments: args } = methods.readQueueBind(from);
      engine.bindQueue(queue, exchange, routingKey, args);
      return noWait ? undefined : () => methods.writeQueueBindOk(to, number);
    }),
  ],
  [
    methodIds.queueUnbind,
    answeredWhenDurable(methodIds.queueUnbind, ({ engine, to, number }, from) => {
      const { queue, exchange, routingKey, arguments: args } = methods.readQueueUnbind(from);
      engine.unbindQueue(queue, exchange, routingKey, args);
      return () => methods.writeQueueUnbindOk(to, number);
    }),
  ],
  [
    methodIds.queuePurge,
    answered((channel, from) => {
      const { engine, to, number } = channel;
      const { queue, noWait } = methods.readQueuePurge(from);
      const { scheduler } = engine;
      const { sequence } = scheduler;
      const messageCount = engine.purgeQueue(queue);
      if (noWait) return;
      // After this answer no purged message comes back, even after a restart.
      const write = (): void => methods.writeQueuePurgeOk(to, number, messageCount);
      const answer = channel.answerWhenStored(write, (failure) => notStored(methodIds.queuePurge, failure));
      scheduler.whenCleared(() => scheduler.onStored(sequence, answer));
    }),
  ],
  [
    methodIds.queueDelete,
    answeredWhenDurable(methodIds.queueDelete, ({ engine, to, number }, from) => {
      const { queue, noWait, ...conditions } = methods.readQueueDelete(from);
      const messageCount = engine.deleteQueue(queue, conditions);
      return noWait ? undefined : () => methods.writeQueueDeleteOk(to, number, messageCount);
    }),
  ],
  [
    methodIds.basicQos,
    answered(({ engine, to, number }, from) => {
      const { prefetchCount, ...options } = methods.readBasicQos(from);
      engine.qos(prefetchCount, options);
      methods.writeBasicQosOk(to, number);
    }),
  ],
  [
    methodIds.basicConsume,
    answered((channel, from) => {
      const { queue, consumerTag, noAck, exclusive, noWait, arguments: args } = methods.readBasicConsume(from);
      channel.checkConsumers();
      const tag = channel.engine.consume(queue, { consumerTag, noAck, exclusive, arguments: args });
      // Deliveries leave after the command: consume-ok is in front of them.
      if (!noWait) methods.writeBasicConsumeOk(channel.to, channel.number, tag);
    }),
  ],
  [
    methodIds.basicCancel,
    {
      answers: true,
      waitsForOutputs: false, // rule Q15
      run: (channel, from) => {
        const { consumerTag, noWait } = methods.readBasicCancel(from);
        channel.engine.cancel(consumerTag);
        // No delivery follows it, not even one that another client caused meanwhile.
        if (!noWait) channel.afterOutputs(() => methods.writeBasicCancelOk(channel.to, channel.number, consumerTag));
      },
    },
  ],
  [methodIds.basicGet, answered((channel, from) => channel.get(methods.readBasicGet(from)))],
  [
    methodIds.basicAck,
    unanswered(({ engine }, from) => {
      const { deliveryTag: tag, multiple } = methods.readBasicAck(from);
      engine.ack(deliveryTag(tag), multiple);
    }),
  ],
  [
    methodIds.basicReject,
    unanswered(({ engine }, from) => {
      const { deliveryTag: tag, requeue } = methods.readBasicReject(from);
      engine.reject(deliveryTag(tag), requeue);
    }),
  ],
  [
    methodIds.basicNack,
    unanswered(({ engine }, from) => {
      const { deliveryTag: tag, multiple, requeue } = methods.readBasicNack(from);
      engine.nack(deliveryTag(tag), multiple, requeue);
    }),
  ],
  [
    methodIds.basicReplace,
    unanswered((channel, from) => channel.replaceNext(deliveryTag(methods.readBasicReplace(from).deliveryTag))),
  ],
  [
    methodIds.basicRecover,
    answered(({ engine, to, number }, from) => {
      engine.recover(methods.readBasicRecover(from).requeue);
      methods.writeBasicRecoverOk(to, number);
    }),
  ],
  [
    methodIds.basicRecoverAsync,
    unanswered(({ engine }, from) => engine.recover(methods.readBasicRecoverAsync(from).requeue)),
  ],
  [
    methodIds.confirmSelect,
    answered(({ engine, to, number }, from) => {
      const { noWait } = methods.readConfirmSelect(from);
      engine.confirmSelect();
      if (!noWait) methods.writeConfirmSelectOk(to, number);
    }),
  ],
  [
    methodIds.txSelect,
    answered(({ engine, to, number }, from) => {
      methods.readTxSelect(from);
      engine.txSelect();
      methods.writeTxSelectOk(to, number);
    }),
  ],
  [
    methodIds.txCommit,
    answered((channel, from) => {
      methods.readTxCommit(from);
      // The answer follows the returns of unroutable messages, and the transaction is durable by then.
      const write = (): void => methods.writeTxCommitOk(channel.to, channel.number);
      channel.engine.txCommit(channel.answerWhenStored(write, incomplete));
    }),
  ],
  [
    methodIds.txRollback,
    answered(({ engine, to, number }, from) => {
      methods.readTxRollback(from);
      engine.txRollback();
      methods.writeTxRollbackOk(to, number);
    }),
  ],
]);
