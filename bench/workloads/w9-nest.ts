import { setImmediate as soon } from 'node:timers/promises';
import { firstValueFrom } from 'rxjs';
import { dlx, floor, type Pair, rabbitMq, redis, tcp } from '../peers/nest.js';
import { type Measurement, median, type Workload } from '../workload.js';

const payload = { id: 7, item: 'tea', quantity: 2 };

type Open = () => Promise<Pair>;

/** All transports, each with the same Nest handlers. */
const peers = (measure: (pair: Pair) => Promise<Measurement>): Workload['peers'] => {
  const one = (open: Open) => async (): Promise<Measurement> => measure(await open());
  return {
    'dlx-broker': one(dlx),
    "Nest's RabbitMQ": one(rabbitMq),
    "Nest's Redis": one(redis),
    "Nest's TCP": one(tcp),
    'no transport': one(floor),
  };
};

const needs = { "Nest's RabbitMQ": 'rabbitMq', "Nest's Redis": 'redis' } as const;
const limits = ['no transport'];

/** The duration of a measurement in milliseconds, after a warm-up of the same duration. */
const span = 2_000;

/** Operations a second, and the processor time of each, which varies less on a busy machine. */
async function rate(run: () => Promise<number>): Promise<Measurement> {
  await run();
  const [start, before] = [performance.now(), process.cpuUsage()];
  const count = await run();
  const { user, system } = process.cpuUsage(before);
  const value = (count / (performance.now() - start)) * 1_000;
  const cpu = (user + system) / count;
  return { value, cpu, extra: { 'CPU microseconds each': cpu.toFixed(1) } };
}

function emitted({ client, handled }: Pair): Promise<Measurement> {
  return rate(async () => {
    const [start, before] = [performance.now(), handled()];
    let sent = 0;
    while (performance.now() - start < span) {
      for (let burst = 0; burst < 100; burst++) client.emit('e', payload);
      sent += 100;
      // At most two thousand are on their way, so that memory has no influence.
      while (sent - (handled() - before) > 2_000) await soon();
      await soon();
    }
    while (handled() - before < sent) await soon();
    return sent;
  });
}

function asked({ client }: Pair, inFlight: number): Promise<Measurement> {
  return rate(async () => {
    const start = performance.now();
    let answers = 0;
    const ask = async (): Promise<void> => {
      while (performance.now() - start < span) {
        await firstValueFrom(client.send('r', payload));
        answers++;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, ask));
    return answers;
  });
}

async function latency({ client }: Pair): Promise<Measurement> {
  const times: number[] = [];
  const start = performance.now();
  let before: NodeJS.CpuUsage | undefined;
  while (performance.now() - start < 2 * span) {
    const sent = performance.now();
    if (sent - start > span) before ??= process.cpuUsage();
    await firstValueFrom(client.send('r', payload));
    if (before !== undefined) times.push(performance.now() - sent);
  }
  const { user, system } = process.cpuUsage(before);
  return { value: median(times), cpu: (user + system) / times.length };
}

export const w9: readonly Workload[] = [
  {
    id: 'W9 emit',
    title: 'Nest: emit to an @EventPattern',
    unit: 'events/s',
    more: 'better',
    peers: peers(emitted),
    needs,
    limits,
  },
  {
    id: 'W9 send',
    title: 'Nest: send to a @MessagePattern, 64 in flight',
    unit: 'requests/s',
    more: 'better',
    peers: peers((pair) => asked(pair, 64)),
    needs,
    limits,
  },
  {
    id: 'W9 one',
    title: 'Nest: one request in flight, p50',
    unit: 'ms',
    more: 'worse',
    peers: peers(latency),
    needs,
    limits,
  },
];
