import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryOf, residentOf } from '../amqp/target.js';

const command = fileURLToPath(new URL('../bin/dlx-broker.js', import.meta.resolve('dlx-broker')));
const probeModule = new URL('../amqp/memory-probe.js', import.meta.url).href;

/** What the server takes from the machine, in bytes and numbers; NaN where the system does not say it. */
export interface Taken {
  readonly resident: number;
  /** Heap and buffers after a collection of garbage. */
  readonly used: number;
  readonly descriptors: number;
  readonly disk: number;
}

/** A `dlx-broker serve` with a data directory, over many lives of its process. */
export class SoakServer {
  /** The number of starts. */
  life = 0;
  #child: ChildProcess | undefined;
  #amqp = '';
  #http = '';
  #probe = '';

  /** @param folder has the data directory, and a socket for the memory */
  constructor(private readonly folder: string) {}

  /** The URL for clients of this life; undefined while no server runs. */
  get amqp(): string | undefined {
    return this.#amqp === '' ? undefined : `amqp://guest:guest@${this.#amqp}/?heartbeat=0`;
  }

  /** Starts the process. @returns milliseconds until it was ready @throws when it ends before it is ready */
  async start(): Promise<number> {
    const begin = performance.now();
    this.life++;
    this.#probe = join(this.folder, `probe-${this.life}.sock`);
    const data = join(this.folder, 'data');
    const serve = ['serve', '--amqp', '127.0.0.1:0', '--http', '127.0.0.1:0', '--data', data, '--log-level', 'error'];
    const child = spawn(process.execPath, ['--expose-gc', '--import', probeModule, command, ...serve], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, BENCH_MEMORY_PROBE: this.#probe },
    });
    this.#child = child;
    let output = '';
    for await (const chunk of child.stdout) {
      output += String(chunk);
      const [, amqp, http] = / amqp=(\S+).* http=(\S+)/.exec(output) ?? [];
      if (amqp === undefined || http === undefined) continue;
      [this.#amqp, this.#http] = [amqp, http];
      return performance.now() - begin;
    }
    throw new Error(`dlx-broker serve ended before it was ready: ${output}`);
  }

  /** Ends the process: `SIGKILL` at once, `SIGTERM` in order. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#amqp = '';
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** A request to the HTTP API. @throws for a status from 400 on */
  async ask(verb: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`http://${this.#http}/api/${path}`, {
      method: verb,
      headers: {
        authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}`,
        'content-type': 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${verb} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }

  async taken(): Promise<Taken> {
    const pid = this.#child?.pid as number;
    const used = (await memoryOf({ probe: this.#probe } as Parameters<typeof memoryOf>[0])) ?? NaN;
    const isLinux = process.platform === 'linux';
    return {
      used,
      resident: isLinux ? residentOf(pid) : NaN,
      descriptors: isLinux ? readdirSync(`/proc/${pid}/fd`).length : NaN,
      disk: sizeOf(join(this.folder, 'data')),
    };
  }
}

/** Bytes that the files of a folder occupy. Files may vanish meanwhile. */
function sizeOf(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const stat = statSync(join(folder, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true) bytes += stat.blocks * 512;
  }
  return bytes;
}
