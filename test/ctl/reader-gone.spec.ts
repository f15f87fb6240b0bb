import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve, type Served } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { command, isBuilt } from '../durability/served.js';

if (!isBuilt && process.env['CI'] === undefined) console.warn('SKIPPED: the command line: the library is not built');

/** Waits until nothing reads the output any more, and becomes the command. */
const withoutReader = `trap '' PIPE; while echo . 2>/dev/null; do :; done; exec "$@"`;

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('a command whose reader has ended, such as head', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reader-gone-'));
  let broker: Served;
  beforeAll(async () => {
    broker = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
    const data = await serve({ amqp: { host: '127.0.0.1', port: 0 }, data: { directory: join(folder, 'data') } });
    await data.close();
  });
  afterAll(async () => {
    await broker.close();
    rmSync(folder, { recursive: true });
  });

  const run = (words: readonly string[]) => {
    const child = spawn('sh', ['-c', withoutReader, 'sh', process.execPath, command, ...words], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, DLX_BROKER_URL: `http://127.0.0.1:${broker.http!.port}` },
    });
    child.stdout.destroy();
    let errors = '';
    child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
    return new Promise<{ code: number | null; errors: string }>((resolve) =>
      child.once('close', (code) => resolve({ code, errors })),
    );
  };

  it.each([
    ['ctl list_queues', ''],
    ['dead-letters list', ''],
    ['dead-letters list --watch 0.1', ''],
    ['dead-letters redrives', ''],
    ['definitions --for rabbitmq --without-users', 'dlx-broker: 1 user is left out, with its permissions\n'],
    ['data check data', ''],
  ])('%s ends without an error, as SIGPIPE ends other programs', async (words, notice) => {
    expect(await run(words.split(' '))).toEqual({ code: 141, errors: notice });
  });
});
