import { setTimeout as wait } from 'node:timers/promises';
import type { Api } from '../api.js';
import type { Answer, Command, Input } from '../command.js';
import { CtlFailure, exit, refused } from '../exit.js';
import { statusText } from '../status.js';

/** Milliseconds between two calls that ask whether the broker is up. */
const pause = 250;

/** True if the broker answers, whatever the status. */
async function answers(api: Api): Promise<boolean> {
  try {
    return (await api.send('GET', ['overview'])).status < 500;
  } catch (error) {
    if (error instanceof CtlFailure) return false;
    throw error;
  }
}

async function ping({ timeout }: Input, api: Api): Promise<Answer> {
  if (await answers(api)) return { message: 'Ping succeeded' };
  throw refused(exit.unavailable, `Failed to connect and authenticate to ${api.address.base} in ${timeout} ms`);
}

async function awaitStartup({ timeout = 0 }: Input, api: Api): Promise<undefined> {
  const end = performance.now() + timeout;
  while (!(await answers(api))) {
    if (performance.now() + pause > end)
      throw new CtlFailure(
        exit.temporary,
        `Error: operation await_startup on '${api.address.base}' timed out. Timeout value used: ${timeout}`,
      );
    await wait(pause);
  }
}

async function status(_input: Input, api: Api): Promise<Answer> {
  const overview = await api.get('overview');
  const node = String(overview['node']);
  // A user who may not see the nodes still gets the rest.
  const found = await api.send('GET', ['nodes', node]);
  const vhosts = (await api.list('vhosts')) ?? [];
  const facts = found.status === 200 ? (found.body as Readonly<Record<string, unknown>>) : {};
  return { text: statusText(overview, facts, vhosts.length), document: { ...facts, ...overview } };
}

export const nodeCommands: readonly Command[] = [
  {
    name: 'await_startup',
    group: 'Nodes',
    usage: '[--timeout <timeout>]',
    description: 'Waits until the broker answers',
    takes: [0, 0],
    timeout: 300_000,
    run: awaitStartup,
  },
  {
    name: 'ping',
    group: 'Monitoring, observability and health checks',
    usage: '[--timeout <timeout>]',
    description: 'Checks that the broker answers',
    takes: [0, 0],
    timeout: 60_000,
    banner: ({ timeout }) => `Will ping the management API. Timeout: ${timeout} ms.`,
    run: ping,
  },
  {
    name: 'status',
    group: 'Monitoring, observability and health checks',
    usage: '[--timeout <timeout>]',
    description: 'Shows versions, alarms, memory, totals and ports of the broker',
    takes: [0, 0],
    banner: () => 'Status of the broker ...',
    run: status,
  },
];
