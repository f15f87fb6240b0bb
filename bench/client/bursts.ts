import { openRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { connectOwn } from './clients.js';
import { TurnMeter } from '../turns/meter.js';
import type { Publication } from '../../libs/dlx-broker/src/backends/index.js';
import { int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';

/*
 * Many publishes issued in one turn, through the publisher of `rabbitmq()` and against the server of AMQP_URL.
 * `node dist/client/bench/client/bursts.js taken|returned|dropped|refused [messages]`. Turns are in processor time.
 */
const [kind = 'taken', amount = '10000'] = process.argv.slice(2);
const messages = Number(amount);
const url = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const failed = (error: unknown): never => {
  throw error;
};
const backend = openRabbitMq({ urls: url, refusedFor: 0 }, { warn: () => undefined, fault: failed });
await backend.connect();
const queue = `bench.burst.${process.pid}`;
const full = new Map(
  kind === 'refused' ? [['x-max-length', int32(1)] as const, ['x-overflow', longstr('reject-publish')] as const] : [],
);
await backend.declare({
  exchanges: [],
  queues: [{ name: queue, durable: true, exclusive: false, autoDelete: false, arguments: full }],
  bindings: [],
});

const outcomes: Record<string, number> = {};
const publication = (index: number): Publication => ({
  exchange: '',
  routingKey: kind === 'taken' || kind === 'refused' ? queue : 'bench.none',
  properties: { deliveryMode: 2, messageId: `b.${index}` },
  body: Buffer.alloc(256, 'x'),
  mandatory: kind !== 'dropped',
  dropped: () => undefined,
});

const burst = (count: number): Promise<void> =>
  new Promise((resolve) => {
    let open = count;
    for (let index = 0; index < count; index++) {
      backend.publish(publication(index), (failure) => {
        const name = failure?.name ?? 'taken';
        outcomes[name] = (outcomes[name] ?? 0) + 1;
        if (--open === 0) resolve();
      });
    }
  });

await burst(2_000); // compiles
const [cpu, begun] = [process.cpuUsage(), performance.now()];
await burst(messages);
const { user, system } = process.cpuUsage(cpu);
const time = performance.now() - begun;
// Measured apart, because the meter costs processor time itself.
for (const name of Object.keys(outcomes)) delete outcomes[name];
const meter = new TurnMeter();
const ended = burst(messages);
meter.begin(); // without the turn that publishes
await ended;
const turns = await meter.end();
const longest = Math.max(0, ...turns.map((turn) => turn.cpu));
const figures = `${((user + system) / messages).toFixed(1)} µs a message, all in ${Math.round(time)} ms, longest turn ${longest.toFixed(1)} ms`;
console.log(`${kind.padEnd(8)} ${JSON.stringify(outcomes)} ${figures}`);
await backend.close();
const { connection, channel } = await connectOwn(new URL(url));
await new Promise<void>((resolve) => channel.deleteQueue(queue, {}, () => resolve()));
connection.close();
process.exit(0);
