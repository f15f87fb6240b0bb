import { setTimeout as wait } from 'node:timers/promises';
import { ids, method, octet, short, shortstr, table } from './amqp/frames.js';
import { LeanClient } from './amqp/lean-client.js';
import { openRabbit, startOurs } from './amqp/servers.js';
import { cpuOf, memoryOf, residentOf, type Target } from './amqp/target.js';
import { endWithHelp } from './usage.js';

const defaultCount = 100_000;
/** Queues of RabbitMQ: fewer, because each is a process of Erlang. */
const ofRabbit = 5_000;

endWithHelp(`node dist/bench/many-queues.js [QUEUES]

Declares empty queues, lists them over HTTP and deletes them. Prints the time and the memory of a queue, and the same for ${ofRabbit} queues of the
RabbitMQ of this machine, if one runs.

  QUEUES  the number of queues (default: ${defaultCount})`);

/** The most unanswered requests. */
const ahead = 500;

const declare = (name: string): Buffer => method(1, ids.queueDeclare, short(0), shortstr(name), octet(0), table({}));
const remove = (name: string): Buffer => method(1, ids.queueDelete, short(0), shortstr(name), octet(0));

/** Sends requests, some ahead of their answers. */
async function forEach(client: LeanClient, count: number, request: (index: number) => Buffer, answer: number) {
  const answers: Promise<unknown>[] = [];
  for (let index = 0; index < count; index++) {
    if (index >= ahead) await answers[index - ahead];
    answers.push(client.call(request(index), answer));
  }
  await Promise.all(answers);
}

/** A list of all queues, as the console and `ctl` ask for it. @returns how many there were */
async function list(http: string, { vhost, user, password }: Target): Promise<number> {
  const headers = { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
  const columns = 'columns=name,messages';
  const response = await fetch(`${http}/api/queues/${encodeURIComponent(vhost)}?${columns}`, { headers });
  return ((await response.json()) as unknown[]).length;
}

async function measure(target: Target, http: string, count: number): Promise<void> {
  const client = await LeanClient.connect(target);
  const name = (index: number): string => `many-queues-${index}`;
  /** The duration of `act` in seconds, and the server's processor time for each queue in microseconds, as text. */
  const timed = async (what: string, act: () => Promise<unknown>): Promise<string> => {
    const [start, cpu] = [performance.now(), cpuOf(target.pid)];
    await act();
    const seconds = (performance.now() - start) / 1000;
    return `${what} in ${seconds.toFixed(1)} s (${((cpuOf(target.pid) - cpu) / count).toFixed(0)} us of CPU each)`;
  };
  const memory = async () => ({ used: (await memoryOf(target)) ?? NaN, resident: residentOf(target.pid) });
  // Warms up, so that the memory of compiled code is not counted.
  await forEach(client, count / 50, (index) => declare(name(index)), ids.queueDeclareOk);
  await forEach(client, count / 50, (index) => remove(name(index)), ids.queueDeleteOk);
  await wait(500);
  const before = await memory();
  const declared = await timed('declared', () =>
    forEach(client, count, (index) => declare(name(index)), ids.queueDeclareOk),
  );
  await wait(500);
  const after = await memory();
  let listed = 0;
  const asked = await timed('listed', async () => (listed = await list(http, target)));
  if (listed !== count) throw new Error(`${listed} of ${count} queues were listed`);
  const deleted = await timed('deleted', () =>
    forEach(client, count, (index) => remove(name(index)), ids.queueDeleteOk),
  );
  const each = { used: (after.used - before.used) / count, resident: (after.resident - before.resident) / count };
  const bytes = Object.entries(each)
    .filter(([, one]) => !Number.isNaN(one))
    .map(([kind, one]) => `${kind} ${(one / 1000).toFixed(2)} KB`);
  console.log(`${target.name}: ${count} queues ${declared}, ${asked}, ${deleted}; ${bytes.join(', ')} each`);
  await client.close();
}

const count = Number(process.argv[2] ?? defaultCount);
const ours = await startOurs([], true, ['--http', '127.0.0.1:0']);
await measure(ours.target, ours.http as string, count);
await ours.close();
const rabbit = await openRabbit();
if (rabbit !== undefined) {
  try {
    await measure(rabbit.target, 'http://127.0.0.1:15672', ofRabbit);
  } finally {
    await rabbit.close();
  }
}
