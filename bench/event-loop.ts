import { performance } from 'node:perf_hooks';
import {
  Broker,
  type Channel,
  type Field,
  int32,
  longstr,
  policyPatterns,
  randomNames,
  SystemClock,
} from 'dlx-broker/engine';
import { endWithHelp } from './usage.js';

endWithHelp(`node --expose-gc dist/bench/event-loop.js [MESSAGES] [BUDGET ...]

Measures how long the turns of the event loop are during one large command. The first turn is the command itself.

  MESSAGES  messages in the queue (default: 1000000)
  BUDGET    steps of the broker in a turn; several are measured one after the other (default: 500 1000 2000 4000)`);
const messages = Number(process.argv[2] ?? 1_000_000);
const budgets = process.argv.slice(3).map(Number);

interface Scene {
  readonly broker: Broker;
  readonly channel: Channel;
  readonly outbox: { count: number };
}

/** Prepares, and then returns the command to measure. */
const scenes: Readonly<Record<string, (scene: Scene) => () => void>> = {
  'attach a consumer to a backlog': ({ channel }) => {
    fill(channel, {}, messages);
    return () => channel.consume('q', { noAck: true });
  },
  'attach an acknowledging consumer': ({ channel }) => {
    fill(channel, {}, messages);
    return () => channel.consume('q');
  },
  'mass expiry into another queue': ({ channel }) => {
    channel.declareQueue('dead');
    fill(channel, { 'x-message-ttl': int32(1), ...toDead }, messages);
    return () => {};
  },
  'nack all unacked to another queue': ({ channel }) => {
    channel.declareQueue('dead');
    fill(channel, toDead, messages);
    channel.consume('q');
    return () => channel.nack(0, true, false);
  },
  'requeue all unacked': ({ channel }) => {
    fill(channel, {}, messages);
    channel.consume('q', { consumerTag: 'c' });
    return () => {
      channel.cancel('c');
      channel.nack(0, true, true);
    };
  },
  'ack all unacked': ({ channel }) => {
    fill(channel, {}, messages);
    channel.consume('q');
    return () => channel.ack(0, true);
  },
  'purge a full queue': ({ channel }) => {
    fill(channel, {}, messages);
    return () => channel.purgeQueue('q');
  },
  'delete a full queue': ({ channel }) => {
    fill(channel, {}, messages);
    return () => channel.deleteQueue('q');
  },
  'shorten a full queue by policy': ({ broker, channel }) => {
    channel.declareQueue('dead');
    fill(channel, toDead, messages);
    return () => void broker.virtualHost('/').setPolicy('short', { pattern: '^q$', definition: { 'max-length': 1 } });
  },
  'a ring of rejections, ten rounds of a tenth': ({ channel }) => {
    channel.declareQueue('dead', {
      arguments: table({
        'x-dead-letter-exchange': longstr(''),
        'x-dead-letter-routing-key': longstr('q'),
        'x-message-ttl': int32(0),
      }),
    });
    fill(channel, toDead, messages / 10);
    return () => {
      ring = true;
      channel.consume('q');
    };
  },
};

let ring = false;
const table = (entries: Readonly<Record<string, Field>>): Map<string, Field> => new Map(Object.entries(entries));
const toDead = { 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('dead') };

function fill(channel: Channel, args: Readonly<Record<string, Field>>, count: number): void {
  channel.declareQueue('q', { arguments: table(args) });
  const body = new Uint8Array(16);
  for (let index = 0; index < count; index++) channel.publish('', 'q', {}, body);
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function measure(name: string, budget: number): Promise<string> {
  let times: number[] = [];
  let resumes: (() => void)[] = [];
  const pace = { budget, later: (resume: () => void) => void resumes.push(resume) };
  const broker = new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns, pace });
  const outbox = { count: 0 };
  ring = false;
  const channel = broker.connect().openChannel({
    deliver(delivery) {
      outbox.count++;
      if (ring && outbox.count < messages) channel.reject(delivery.deliveryTag, false);
    },
    returned() {},
    confirmed() {},
    cancelled() {},
    closed() {},
  });
  const timed = (work: () => void): void => {
    const start = performance.now();
    work();
    times.push(performance.now() - start);
  };
  const drain = async (): Promise<void> => {
    while (resumes.length > 0) {
      const due = resumes;
      resumes = [];
      for (const resume of due) timed(resume);
      await turn();
    }
  };
  const thing = scenes[name]!({ broker, channel, outbox });
  const expires = name.startsWith('mass');
  while (!expires && resumes.length > 0) for (const resume of resumes.splice(0)) resume();
  await turn();
  timed(thing);
  const command = times[0] as number;
  times = [];
  await drain();
  for (let wait = 0; expires && wait < 50; wait++) {
    await new Promise((resolve) => void setTimeout(resolve, 1));
    await drain();
  }
  broker.close();
  times.sort((one, other) => one - other);
  const part = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(1).padStart(6);
  const ahead = `${name.padEnd(46)} ${String(budget).padStart(5)} steps: command ${command.toFixed(1).padStart(6)} ms`;
  // The longest turn usually has a garbage collection in it.
  return `${ahead}, ${times.length} turns, half ${part(0.5)}, 99 % ${part(0.99)}, longest ${part(1 - 1e-9)} ms`;
}

for (const name of Object.keys(scenes)) {
  for (const budget of budgets.length > 0 ? budgets : [500, 1_000, 2_000, 4_000]) {
    globalThis.gc?.();
    console.log(await measure(name, budget));
  }
}
