import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const source = fileURLToPath(new URL('./replica.ts', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const program = `${root}dist/cluster/replica.js`;

/** Joins the replica and the sources of the library into one program. */
export async function buildReplica(): Promise<void> {
  const bundle = await rolldown({
    input: source,
    platform: 'node',
    tsconfig: `${root}tsconfig.json`,
    // Helpers of the compiler are part of the program.
    external: (id) => !/^[./]|^dlx-broker|^@oxc-project/.test(id),
  });
  await bundle.write({ file: program, format: 'esm', codeSplitting: false });
  await bundle.close();
}

/** Replicas as processes, which start and end at random. */
export class Replicas {
  readonly #running = new Set<ChildProcess>();
  /** Replicas that got SIGTERM before they were ready: their start fails, and says so. */
  readonly #called = new Set<ChildProcess>();
  readonly #ready = new Set<ChildProcess>();
  started = 0;
  stopped = 0;
  killed = 0;
  /** What replicas wrote to their error output, and ends that nothing here asked for. */
  readonly faults: string[] = [];

  constructor(private readonly urls: readonly string[]) {
    process.once('exit', this.#abandon);
  }

  get count(): number {
    return this.#running.size;
  }

  /** @returns when the replica handles messages, or was ended before @throws Error when it ended by itself */
  async start(): Promise<void> {
    const env = { ...process.env, BROKER_URL: this.urls.join(','), NODE_ENV: 'production' };
    const replica = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running.add(replica);
    this.started++;
    replica.stdout.once('data', () => this.#ready.add(replica));
    replica.stderr.on('data', (text) => {
      if (!this.#called.has(replica)) this.faults.push(String(text));
    });
    replica.once('exit', (code, signal) => {
      if (this.#running.delete(replica)) this.faults.push(`a replica ended by itself: ${code ?? signal}`);
    });
    await Promise.race([once(replica.stdout, 'data'), once(replica, 'exit')]);
    const [fault] = this.faults;
    if (fault !== undefined) throw new Error(fault);
  }

  /** Ends the replica that has run longest. @param signal SIGTERM: it finishes what it has in hand; SIGKILL: it ends at once */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const [oldest] = this.#running;
    if (oldest === undefined) return;
    this.#running.delete(oldest);
    if (signal === 'SIGTERM') this.stopped++;
    else this.killed++;
    if (!this.#ready.delete(oldest)) this.#called.add(oldest);
    const ended = once(oldest, 'exit');
    oldest.kill(signal);
    const [code] = (await ended) as [number | null];
    const isClean = code === 0 || code === null || this.#called.delete(oldest);
    if (signal === 'SIGTERM' && !isClean) this.faults.push(`a replica ended with ${code}`);
  }

  async close(): Promise<void> {
    while (this.count > 0) await this.end('SIGTERM');
    process.off('exit', this.#abandon);
  }

  readonly #abandon = (): void => {
    for (const replica of this.#running) replica.kill('SIGKILL');
  };
}
