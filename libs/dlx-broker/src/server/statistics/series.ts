import {
  type Broker,
  type Channel,
  type Connection,
  deathsIn,
  type Exchange,
  type Queue,
  type VirtualHost,
} from '../../engine/broker/index.js';
import { deathReasons } from '../../engine/message/index.js';

/** The counts of a kind of object that have a rate, by their names in answers. */
export interface Series<T> {
  readonly names: readonly string[];
  /** The present counts, in the order of the names. */
  read(item: T): readonly number[];
  /** The present count of one name, without the others: some counts of a virtual host are sums over all queues. */
  readOne?(item: T, index: number): number;
}

/** Makes a series of a table of readers. */
function series<T>(readers: Readonly<Record<string, (item: T) => number>>): Series<T> {
  const names = Object.keys(readers);
  const reads = Object.values(readers);
  return {
    names,
    read: (item) => reads.map((read) => read(item)),
    readOne: (item, index) => reads[index]?.(item) ?? 0,
  };
}

/** The counts of deliveries that channels, queues and virtual hosts have. */
interface Delivered {
  readonly counters: {
    readonly get: number;
    readonly getNoAck: number;
    readonly getEmpty: number;
    readonly deliver: number;
    readonly deliverNoAck: number;
    readonly redeliver: number;
    readonly ack: number;
  };
}

/** The counts of publishes that channels and virtual hosts have. */
interface Published {
  readonly counters: {
    readonly publish: number;
    readonly confirm: number;
    readonly returnUnroutable: number;
    readonly dropUnroutable: number;
  };
}

const delivered = {
  get: ({ counters }: Delivered) => counters.get,
  get_no_ack: ({ counters }: Delivered) => counters.getNoAck,
  deliver: ({ counters }: Delivered) => counters.deliver,
  deliver_no_ack: ({ counters }: Delivered) => counters.deliverNoAck,
  redeliver: ({ counters }: Delivered) => counters.redeliver,
  ack: ({ counters }: Delivered) => counters.ack,
  deliver_get: ({ counters: { get, getNoAck, deliver, deliverNoAck } }: Delivered) =>
    get + getNoAck + deliver + deliverNoAck,
  get_empty: ({ counters }: Delivered) => counters.getEmpty,
};

const published = {
  publish: ({ counters }: Published) => counters.publish,
  confirm: ({ counters }: Published) => counters.confirm,
  return_unroutable: ({ counters }: Published) => counters.returnUnroutable,
  drop_unroutable: ({ counters }: Published) => counters.dropUnroutable,
};

/** Groups of `message_stats`: a group is shown if one of its counts is not 0. */
export const deliveredNames: readonly string[] = Object.keys(delivered);
export const publishedNames: readonly string[] = Object.keys(published);

export const queueSeries = series<Queue>({
  messages_ready: (queue) => queue.length,
  messages_unacknowledged: (queue) => queue.unacked,
  messages: (queue) => queue.length + queue.unacked + queue.retained + queue.delayed,
  publish: ({ counters }) => counters.publish,
  ...delivered,
  dead_letters_in: ({ counters }) => counters.deadLettersIn,
  dead_letters_out: ({ counters }) => deathsIn(counters),
});

export const exchangeSeries = series<Exchange>({
  publish_in: ({ counters }) => counters.publishIn,
  publish_out: ({ counters }) => counters.publishOut,
});

export const channelSeries = series<Channel>({ ...published, ...delivered });

export const connectionSeries = series<Connection>({
  recv_oct: ({ client }) => client?.traffic().recvOct ?? 0,
  send_oct: ({ client }) => client?.traffic().sendOct ?? 0,
});

const sumOver = <T>(items: Iterable<T>, read: (item: T) => number): number => {
  let sum = 0;
  for (const item of items) sum += read(item);
  return sum;
};

export const vhostSeries = series<VirtualHost>({
  messages_ready: ({ queues }) => sumOver(queues.values(), (queue) => queue.length),
  messages_unacknowledged: ({ queues }) => sumOver(queues.values(), (queue) => queue.unacked),
  messages: ({ queues }) =>
    sumOver(queues.values(), (queue) => queue.length + queue.unacked + queue.retained + queue.delayed),
  recv_oct: ({ connections }) => sumOver(connections, ({ client }) => client?.traffic().recvOct ?? 0),
  send_oct: ({ connections }) => sumOver(connections, ({ client }) => client?.traffic().sendOct ?? 0),
  ...published,
  ...delivered,
  ...Object.fromEntries(deathReasons.map((reason) => [reason, ({ counters }: VirtualHost) => counters[reason]])),
  redriven: ({ counters }) => counters.redriven,
});

/** Counts of the whole broker, which include deleted virtual hosts. */
export const churnSeries = series<Broker>({
  connection_created: ({ counters }) => counters.connectionCreated,
  connection_closed: ({ counters }) => counters.connectionClosed,
  channel_created: ({ counters }) => counters.channelCreated,
  channel_closed: ({ counters }) => counters.channelClosed,
  queue_declared: ({ counters }) => counters.queueDeclared,
  queue_created: ({ counters }) => counters.queueCreated,
  queue_deleted: ({ counters }) => counters.queueDeleted,
});
