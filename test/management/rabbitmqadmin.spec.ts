import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { connect } from 'amqplib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { present } from '../amqp/present.js';
import { type Call, script } from './admin-script.js';
import { type Harness, openHouse } from './harness.js';

/** RabbitMQ's own program, of Debian's package. */
const program = '/usr/bin/rabbitmqadmin';
const isHere = await present('rabbitmqadmin', () => existsSync(program));
const theirs = process.env['RABBITMQ_MANAGEMENT_URL'];
/** Calls that change nothing, and may be made again. */
const looks = /(^| )(list|show) /;

interface Outcome {
  readonly code: number;
  readonly printed: string;
  readonly complained: string;
}

describe.skipIf(!isHere)("RabbitMQ's own rabbitmqadmin works with it:", () => {
  const names = { '{v}': `dlx-test-admin-${process.pid}`, '{u}': `dlx-test-admin-${process.pid}-u`, '{f}': '' };
  let harness: Harness;
  let folder: string;
  let admin: Admin;
  beforeAll(async () => {
    harness = await openHouse();
    admin = new Admin();
    folder = await mkdtemp(join(tmpdir(), 'rabbitmqadmin-'));
  });
  afterAll(async () => {
    admin.close();
    await harness.close();
    await rm(folder, { recursive: true });
  });

  /** @param whose its definitions go to a file of its own */
  const run = async (port: string, whose: string, args: string): Promise<Outcome> => {
    const hash = args.includes('{hash}') ? await hashOfBinding(port, names['{v}']) : '';
    const own = { ...names, '{f}': join(folder, whose), '{hash}': hash };
    const words = args.split(' ').map((word) => replaced(word, own));
    return admin.run(['-H', '127.0.0.1', '-P', port, ...words], own);
  };

  describe.each(script)('%s', (_, calls) => {
    it.each(calls.map((call) => [call.args, call] as const))(
      '%s',
      { retry: 0, timeout: 20_000 },
      async (args, call) => {
        const isCompared = theirs !== undefined && call.oursOnly !== true;
        const [ours, real] = await Promise.all([
          run(String(harness.httpPort), 'ours', args),
          isCompared ? run(new URL(theirs).port, 'theirs', args) : undefined,
        ]);
        check(call, ours);
        if (theirs === undefined || real === undefined) return;
        // What only has to fit is not the same from broker to broker.
        if (call.fits !== undefined) return check(call, real);
        if (!looks.test(args)) return expect(sameShown(ours)).toEqual(sameShown(real));
        // What RabbitMQ shows of its queues may be five seconds old; ours is of the moment.
        let shown: Outcome | undefined = real;
        await vi.waitFor(
          async () => {
            shown ??= await run(new URL(theirs).port, 'theirs', args);
            const asked = sameShown(shown);
            shown = undefined;
            expect(sameShown(ours)).toEqual(asked);
          },
          { timeout: 12_000, interval: 500 },
        );
      },
    );
  });

  it('close connection: the client hears 320 and why', async () => {
    const client = await connect(`${harness.amqp}/%2F`);
    const gone = new Promise<Error>((resolve) => client.on('close', resolve));
    const listed = await run(String(harness.httpPort), 'ours', '-f bash list connections');
    const name = listed.printed.trim();
    const closed = await admin.run(['-P', String(harness.httpPort), 'close', 'connection', `name=${name}`], names);
    expect(closed).toEqual({ code: 0, printed: 'connection closed\n', complained: '' });
    expect((await gone).message).toBe(
      'Connection closed: 320 (CONNECTION-FORCED) with message "CONNECTION_FORCED - Closed via management plugin"',
    );
  });
});

function check({ prints, fits, fails }: Call, { code, printed, complained }: Outcome): void {
  if (fails === undefined) expect({ code, complained }).toEqual({ code: 0, complained: '' });
  else expect({ code, complained }).toEqual({ code: 1, complained: expect.stringMatching(fails) as string });
  if (prints !== undefined) expect(printed).toBe(prints);
  if (fits !== undefined) expect(printed).toMatch(fits);
}

/** Whatever order keys came in. */
function sameShown({ code, printed, complained }: Outcome): unknown {
  const isJson = /^[[{]/.test(printed);
  return { code, complained, printed: isJson ? (JSON.parse(printed) as unknown) : printed };
}

/** The program, in one process for all commands: to load it takes longer than to run them. */
class Admin {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting: ((line: string) => void)[] = [];

  constructor() {
    const runner = fileURLToPath(new URL('admin.py', import.meta.url));
    const env = { ...process.env, HOME: '/nonexistent' };
    this.#process = spawn('python3', [runner, program], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface(this.#process.stdout).on('line', (line) => this.#waiting.shift()?.(line));
  }

  async run(args: readonly string[], names: Readonly<Record<string, string>>): Promise<Outcome> {
    const line = await new Promise<string>((resolve) => {
      this.#waiting.push(resolve);
      this.#process.stdin.write(`${JSON.stringify(args)}\n`);
    });
    const [code, printed, complained] = JSON.parse(line) as [number, string, string];
    return { code, printed: named(printed, names), complained: named(complained, names) };
  }

  close(): void {
    this.#process.stdin.end();
  }
}

/** The end of the key of a binding with arguments. Each broker computes it in its own way. */
async function hashOfBinding(port: string, vhost: string): Promise<string> {
  const path = `http://127.0.0.1:${port}/api/bindings/${vhost}?columns=properties_key`;
  const answer = await fetch(path, { headers: { authorization: `Basic ${btoa('guest:guest')}` } });
  return /"k~([\w-]{6})"/.exec(await answer.text())?.[1] ?? '';
}

const replaced = (text: string, names: Readonly<Record<string, string>>): string =>
  Object.entries(names).reduce((all, [short, long]) => all.replaceAll(short, long), text);

/** The user's name begins with the virtual host's, so it comes first. */
const named = (text: string, names: Readonly<Record<string, string>>): string =>
  Object.entries(names)
    .sort(([, one], [, other]) => other.length - one.length)
    .reduce((all, [short, long]) => (long === '' ? all : all.replaceAll(long, short)), text)
    .replaceAll(/\bk~[\w-]{6}\b/g, 'k~hash');
