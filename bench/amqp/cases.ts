import type { Pace, Result } from './measure.js';
import { withAmqplib } from './programs/amqplib.js';
import { withDlxBroker } from './programs/dlx-broker.js';
import { withRabbitmqClient } from './programs/rabbitmq-client.js';
import { bullMq, disk, openFolder, rabbit, type Rival } from './rivals.js';
import { type Server, startDurable, startOurs, startSecured } from './servers.js';
import type { Target } from './target.js';
import { w10 } from './workloads/w10-retries.js';
import { w12 } from './workloads/w12-many-clients.js';
import { w11 } from './workloads/w11-start.js';
import { w13 } from './workloads/w13-wire.js';
import { w1OneInFlight } from './workloads/w1-one-in-flight.js';
import { type Publishing, w1 } from './workloads/w1-publish-deliver-ack.js';
import { w2, w2Size } from './workloads/w2-durable-confirms.js';
import { w3 } from './workloads/w3-reject-dead-letter.js';
import { w5 } from './workloads/w5-length-limit.js';
import { w6 } from './workloads/w6-topic.js';
import { w7 } from './workloads/w7-fan-out.js';
import { w8 } from './workloads/w8-backlog.js';

/** Two rows of the table: one program, run against both servers. */
export interface Case {
  readonly id: string;
  readonly title: string;
  /** The settings of the load program. */
  readonly client: string;
  readonly unit: string;
  readonly more: 'better' | 'worse';
  /** Default: RabbitMQ alone; none if the case starts a server of this broker itself. */
  readonly rivals?: readonly Rival[];
  /** Other options for the start of dlx-broker. */
  readonly start?: () => Promise<Server | undefined>;
  run(target: Target, pace: Pace): Promise<Result>;
}

type Program = (target: Target, pace: Pace, how: Publishing) => Promise<Result>;

const programs: Readonly<Record<string, Readonly<Record<string, Program>>>> = {
  W1: {
    lean: w1,
    amqplib: (target, pace, how) => withAmqplib(target, pace, how, false),
    'rabbitmq-client': (target, pace, how) => withRabbitmqClient(target, pace, how, false),
  },
  W3: {
    lean: w3,
    amqplib: (target, pace, how) => withAmqplib(target, pace, how, true),
    'rabbitmq-client': (target, pace, how) => withRabbitmqClient(target, pace, how, true),
  },
  W5: { lean: w5 },
};

const rate = { unit: 'msg/s', more: 'better' } as const;
const lean = { client: 'lean' } as const;

/** A workload by every client, size and way of publishing. */
function publishing(id: string, what: string, sizes: readonly number[]): Case[] {
  return Object.entries(programs[id] as Readonly<Record<string, Program>>).flatMap(([client, program]) =>
    sizes.flatMap((size) =>
      [false, true].map((confirm): Case => {
        const title = `${what}, ${size} B, ${confirm ? 'confirmed' : 'transient'}`;
        return { id, title, client, ...rate, run: (target, pace) => program(target, pace, { size, confirm }) };
      }),
    ),
  );
}

/** Other programs that store messages on the disk of this machine, and the disk alone. */
const durableRivals = (outstanding: number): readonly Rival[] => [
  { ...rabbit, ...lean, name: 'RabbitMQ, classic queue', run: (target, pace) => w2(target, pace, outstanding) },
  {
    ...rabbit,
    ...lean,
    name: 'RabbitMQ, quorum queue',
    run: (target, pace) => w2(target, pace, outstanding, { 'x-queue-type': 'quorum' }),
  },
  bullMq(outstanding, w2Size),
  disk(outstanding, w2Size),
];

const durable = (outstanding: number): Case => ({
  id: 'W2',
  title: `durable confirms, ${w2Size} B, ${outstanding} outstanding`,
  ...lean,
  ...rate,
  start: startDurable,
  rivals: durableRivals(outstanding),
  run: (target, pace) => w2(target, pace, outstanding),
});

/** The same without a connection: dlx-broker is part of the program, and the other servers have the fastest client. */
const durableInProcess = (outstanding: number): Case => ({
  id: 'W2 in process',
  title: `durable confirms, ${w2Size} B, ${outstanding} outstanding`,
  client: 'in process',
  ...rate,
  start: () => openFolder('in-process'),
  rivals: durableRivals(outstanding),
  run: ({ folder }, pace) => withDlxBroker(folder as string, pace, outstanding, w2Size),
});

const manyClients = (count: number, rival: Rival): Case => ({
  id: 'W12',
  title: `${count.toLocaleString('en')} connections, each with a producer and a consumer, 16 B`,
  ...lean,
  ...rate,
  rivals: [rival],
  run: (target, pace) => w12(target, pace, count),
});

/** All cases, in the order of the table. */
export const cases: readonly Case[] = [
  ...publishing('W1', 'publish, deliver, ack', [1024, 16]),
  {
    id: 'W1, one in flight',
    title: 'publish to delivery, 1024 B, p50',
    ...lean,
    unit: 'ms',
    more: 'worse',
    run: w1OneInFlight,
  },
  ...[1, 100, 1_000].map(durable),
  ...[1, 100, 1_000].map(durableInProcess),
  ...publishing('W3', 'reject, dead-letter, consume and ack', [1024]),
  ...publishing('W5', 'length limit 1,000, drop-head into a DLX', [1024]),
  { id: 'W6', title: 'topic with 10,000 bindings, 1024 B', ...lean, ...rate, run: (target, pace) => w6(target, pace) },
  { id: 'W7', title: 'fan-out to 100 queues, 1024 B', ...lean, unit: 'deliveries/s', more: 'better', run: w7 },
  { id: 'W8', title: '1,000,000 of 16 B in and out', ...lean, ...rate, run: (target) => w8(target) },
  {
    id: 'W10',
    title: '5,000 messages failing twice, waits of 200 and 400 ms: time over the ideal',
    ...lean,
    unit: 'ms',
    more: 'worse',
    run: (target) => w10(target),
  },
  {
    id: 'W11',
    title: 'start of `serve` to the first message',
    ...lean,
    unit: 'ms',
    more: 'worse',
    rivals: [],
    run: () => w11(),
  },
  manyClients(100, rabbit),
  // RabbitMQ with the usual limit of 1,024 open files takes 829 connections, and would refuse those of others.
  manyClients(1_000, { ...rabbit, name: 'RabbitMQ, 500 connections', run: (target, pace) => w12(target, pace, 500) }),
  {
    id: 'W13',
    title: 'the wire: publish and deliver, 16 B, no acks, no confirms',
    ...lean,
    ...rate,
    run: w13,
  },
  {
    id: 'W13',
    title: 'the same over TLS, beside plain TCP',
    ...lean,
    ...rate,
    start: startSecured,
    rivals: [{ name: 'dlx-broker without TLS', open: () => startOurs() }],
    run: w13,
  },
];

export const keyOf = ({ id, title, client }: Case): string => `${id} | ${title} | ${client}`;
