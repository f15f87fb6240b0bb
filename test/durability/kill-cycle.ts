import { setTimeout } from 'node:timers/promises';
import { Random } from '../fuzz/random.js';
import { KillAccount } from './kill-account.js';
import { KillClient } from './kill-client.js';
import { addressIn, kill, start } from './served.js';

export interface KillOptions {
  readonly seed: number;
  readonly cycles: number;
  readonly directory: string;
  /** The most outstanding confirms. */
  readonly outstanding?: number;
  /** Messages that stay in the queue until the next start. Default 200. */
  readonly kept?: number;
  /** Bytes of bodies that the server keeps in memory. Default: that of the server. */
  readonly memory?: number;
}

export interface KillResult {
  readonly cycles: number;
  readonly totals: KillAccount['totals'];
  /** What is wrong, and the cycle after which it was found. */
  readonly wrong: readonly string[];
}

/** What each cycle has at stake before its kill, however slow the machine is. */
const atStake = { confirmed: 100, settled: 50 };

/** Starts a server, checks its messages, loads it and kills it, many times. */
export async function killCycles(options: KillOptions): Promise<KillResult> {
  const { seed, cycles, directory, outstanding = 1_000, kept = 200, memory } = options;
  const settings = memory === undefined ? [] : ['--message-memory', String(memory)];
  const random = new Random(seed);
  const account = new KillAccount();
  const wrong: string[] = [];
  let cycle = 0;
  for (; cycle <= cycles && wrong.length === 0; cycle++) {
    const server = start('serve', '--amqp', '127.0.0.1:0', '--data', directory, '--log-level', 'error', ...settings);
    try {
      const client = await KillClient.connect(addressIn(await server.ready), account, random);
      if (cycle === 0) await client.declare();
      for (const each of await client.audit(kept)) wrong.push(`seed ${seed} cycle ${cycle}: ${each}`);
      if (cycle === cycles) break;
      const { confirmed, settled } = account.totals;
      await client.load(outstanding);
      while (account.totals.confirmed <= confirmed + atStake.confirmed) await setTimeout(5);
      while (account.totals.settled <= settled + atStake.settled) await setTimeout(5);
      await setTimeout(random.integer(20, 300));
    } finally {
      await kill(server);
    }
    // What the dead server still had in the socket is read, or never will be.
    await setTimeout(5);
  }
  return { cycles: cycle, totals: account.totals, wrong };
}
