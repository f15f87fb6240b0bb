import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../crowd.js';
import { type Pace, rateOf, type Result, until } from '../measure.js';
import { RatedLoad } from '../rated-load.js';
import type { Target } from '../target.js';

/** The most messages of a connection that have not arrived yet, while all connections publish as fast as they can. */
const window = 250;

/** The same for a lone connection, as in W1. */
const loneWindow = 2_000;

/** The first total rate, in messages a second. Each further rate is 1.5 times the one before. */
const firstRate = 4_000;

/** The server keeps up with a rate if the messages that have not arrived at the end were published within this time, in seconds. */
const lag = 0.1;

/**
 * Many connections, each with a producer, a consumer and a queue. First they publish as fast as they can with a window each, and so does
 * a lone connection. Then they publish at fixed rates: measured are the highest rate that the server keeps up with, and the latencies
 * at half of it.
 */
export async function w12(target: Target, pace: Pace, count: number): Promise<Result> {
  const lone = await alone(target, pace);
  const crowd = new Crowd(count);
  await crowd.open(target);
  const all = await fastest(crowd, target, pace, window);
  const most = await highestRate(crowd, pace);
  const half = await latencies(crowd, target, pace, most / 2);
  await crowd.close();
  return {
    ...all,
    extra: {
      'of a lone connection': all.value / lone.value,
      'its CPU': lone.serverCpu ?? NaN,
      'slowest / mean': all.slowest,
      'kept up/s': most,
      'CPU at half of it': half.serverCpu ?? NaN,
      'p50 ms': half.at(0.5),
      'p99 ms': half.at(0.99),
      'p99.9 ms': half.at(0.999),
    },
  };
}

async function alone(target: Target, pace: Pace): Promise<Result> {
  const crowd = new Crowd(1);
  await crowd.open(target);
  const result = await fastest(crowd, target, pace, loneWindow);
  await crowd.close();
  return result;
}

/** Each connection has a window of messages on their way. @returns also the rate of the slowest connection, as a share of the mean */
async function fastest(
  crowd: Crowd,
  target: Target,
  pace: Pace,
  size: number,
): Promise<Result & { readonly slowest: number }> {
  let isOver = false;
  for (const member of crowd.members) {
    const fill = (): void => {
      const room = size - (member.sent - member.arrived);
      if (!isOver && room * 4 >= size) member.publish(room, 0);
    };
    member.onArrived = fill;
    fill();
  }
  await sleep(pace.warm * 1000);
  const before = crowd.members.map(({ arrived }) => arrived);
  const result = await rateOf(target, { ...pace, warm: 0 }, () => crowd.arrived);
  const each = crowd.members.map(({ arrived }, index) => arrived - (before[index] as number));
  isOver = true;
  await until(() => crowd.arrived >= crowd.sent);
  const mean = each.reduce((sum, one) => sum + one, 0) / each.length;
  return { ...result, slowest: Math.min(...each) / mean };
}

/** The highest rate of those tried that the server keeps up with, in messages a second. */
async function highestRate(crowd: Crowd, { measured }: Pace): Promise<number> {
  let kept = firstRate;
  for (let rate = firstRate; ; rate *= 1.5) {
    const load = new RatedLoad(crowd, rate);
    await sleep(measured * 1000);
    const waiting = crowd.sent - crowd.arrived;
    load.stop();
    await until(() => crowd.arrived >= crowd.sent);
    if (waiting > rate * lag) return kept;
    kept = rate;
  }
}

/** From publish to delivery, in milliseconds. @param rate messages a second of all connections together */
async function latencies(
  crowd: Crowd,
  target: Target,
  pace: Pace,
  rate: number,
): Promise<Pick<Result, 'serverCpu'> & { readonly at: (share: number) => number }> {
  const load = new RatedLoad(crowd, rate);
  await sleep(pace.warm * 1000);
  const all: number[] = [];
  crowd.onArrival = (stamp) => void all.push(performance.now() - stamp);
  const { serverCpu } = await rateOf(target, { ...pace, warm: 0 }, () => crowd.arrived);
  crowd.onArrival = () => undefined;
  load.stop();
  await until(() => crowd.arrived >= crowd.sent);
  const sorted = Float64Array.from(all).sort();
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] as number;
  return { at, ...(serverCpu !== undefined && { serverCpu }) };
}
