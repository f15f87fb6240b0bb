import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';

const library = resolve(import.meta.dirname, '../../libs/dlx-broker');
const command = join(library, 'bin/dlx-broker.js');
const isBuilt = existsSync(join(library, 'dist/server.js'));
const isSkipped = !isBuilt && process.env['CI'] === undefined;
const hasNoConsole = !existsSync(join(library, 'dist/console.cjs')) && process.env['CI'] === undefined;
if (isSkipped) console.warn('SKIPPED: dlx-broker serve --http: the library is not built');

const folder = mkdtempSync(join(tmpdir(), 'serve-http-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const children: ChildProcess[] = [];
afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

function start(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [command, ...words], { env: { ...process.env, ...env } });
  children.push(child);
  let out = '';
  let errors = '';
  const said = new Promise<string>((resolve) => {
    child.stdout.on('data', (bytes: Buffer) => {
      out += bytes.toString();
      resolve(out);
    });
    child.once('close', () => resolve(out));
  });
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const ended = new Promise<{ code: number | null; out: string; errors: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, out, errors })),
  );
  return { child, said, ended };
}

/** @returns where its management API is */
async function serve(...words: readonly string[]) {
  const run = start(['serve', '--amqp', '127.0.0.1:0', '--http', '127.0.0.1:0', ...words]);
  const ready = /^dlx-broker ready amqp=127\.0\.0\.1:\d+ http=(127\.0\.0\.1:\d+)\n$/.exec(await run.said);
  return { ...run, url: `http://${ready?.[1] ?? 'nowhere'}` };
}

const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;
const definitions = {
  vhosts: [{ name: 'shop' }],
  queues: [{ name: 'orders', vhost: 'shop', durable: true, auto_delete: false, arguments: {} }],
};

describe.skipIf(isSkipped)('dlx-broker serve --http', () => {
  it('begins with definitions, and answers ctl of another process', async () => {
    const file = join(folder, 'definitions.json');
    writeFileSync(file, JSON.stringify(definitions));
    const { url } = await serve('--definitions', file);
    const asked = start(['ctl', 'list_queues', 'name', 'messages', '-p', 'shop', '--json'], { DLX_BROKER_URL: url });
    expect(await asked.ended).toEqual({ code: 0, out: '[{"name":"orders","messages":0}]\n', errors: '' });
    const refused = start(['ctl', 'delete_user', 'nobody', '--url', url], { DLX_BROKER_PASSWORD: 'guest' });
    expect(await refused.ended).toEqual({
      code: 65,
      out: '',
      errors: "Error: there is no user 'nobody'; 'dlx-broker ctl list_users' shows what there is\n",
    });
  });

  it('names at its start what is likely to be a mistake in definitions', async () => {
    const file = join(folder, 'doubtful.json');
    const users = [{ name: 'ada', tags: 'admin', password_hash: '' }];
    writeFileSync(file, JSON.stringify({ ...definitions, users, quees: [] }));
    const { child, ended } = await serve('--definitions', file);
    child.kill('SIGTERM');
    const { errors } = await ended;
    expect(errors).toContain("info definitions: 'quees' is not known and was left out\n");
    expect(errors).toContain("info user 'ada' has the tag 'admin', which grants nothing; tags that do: administrator");
  });

  it('records what operators do in the audit file, and ends although a stream is open', async () => {
    const audit = join(folder, 'audit.ndjson');
    const { child, ended, url } = await serve('--audit', audit);
    await fetch(`${url}/api/vhosts/made`, { method: 'PUT', headers: { authorization } });
    const stream = await fetch(`${url}/api/dlx/events`, { headers: { authorization } });
    expect(stream.status).toBe(200);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    await stream.text().catch(() => undefined);
    const [entry] = readFileSync(audit, 'utf8').trim().split('\n');
    expect(JSON.parse(entry ?? '')).toMatchObject({ user: 'guest', action: 'PUT /api/vhosts/:vhost' });
  });

  it.skipIf(hasNoConsole)('has the console at / and names its URL on standard error', async () => {
    const { child, ended, url } = await serve();
    const answer = await fetch(`${url}/`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const page = await answer.text();
    const scripts = [...page.matchAll(/(?:src|href)="\.(\/console\/[^"]+)"/g)].map(([, path]) => path as string);
    expect(scripts.length).toBeGreaterThan(0);
    for (const path of scripts) expect((await fetch(`${url}${path}`)).status).toBe(200);
    child.kill('SIGTERM');
    expect((await ended).errors).toContain(`info the console is at ${url}/\n`);
  });

  it('has no console with --no-console, or by the configuration file', async () => {
    const file = join(folder, 'no-console.yaml');
    writeFileSync(file, 'console: false\n');
    for (const words of [['--no-console'], ['--config', file]]) {
      const { child, ended, url } = await serve(...words);
      expect(await (await fetch(`${url}/`)).json()).toEqual({ error: 'Object Not Found', reason: 'Not Found' });
      child.kill('SIGTERM');
      expect((await ended).errors).not.toContain('console');
    }
  });

  it('is called by names of this machine only, and by those of its options', async () => {
    const { url } = await serve('--http-hosts', 'broker.example, other.example');
    const { port } = new URL(url);
    const { request } = await import('node:http');
    const status = (host: string) =>
      new Promise((resolve) =>
        request({ host: '127.0.0.1', port, path: '/api/whoami', headers: { host, authorization } }, (response) =>
          resolve(response.resume().statusCode),
        ).end(),
      );
    expect(await status(`localhost:${port}`)).toBe(200);
    expect(await status('other.example')).toBe(200);
    expect(await status('evil.example')).toBe(421);
  });

  it.each<[string, string, string]>([
    [
      'no JSON',
      '{',
      `the definitions ${join(folder, 'broken.json')} cannot be used: failed_to_parse_json at line 1, column 2`,
    ],
    ['a user without tags', '{"users":[{"name":"ada"}]}', 'tags_not_present: user \'ada\' has no tags; write "tags":'],
    ['no virtual host', JSON.stringify({ queues: definitions.queues }), 'no_such_vhost'],
  ])('refuses definitions with %s in one line and exit code 2', async (_, text, part) => {
    const file = join(folder, 'broken.json');
    writeFileSync(file, text);
    const { code, out, errors } = await start(['serve', '--amqp', '127.0.0.1:0', '--definitions', file]).ended;
    expect([code, out, errors.trim().split('\n').length]).toEqual([2, '', 1]);
    expect(errors).toContain(part);
  });

  it('refuses a port that is taken, and leaves none open', async () => {
    const { url } = await serve();
    const { host } = new URL(url);
    const { code, errors } = await start(['serve', '--amqp', '127.0.0.1:0', '--http', host]).ended;
    expect({ code, errors }).toEqual({
      code: 2,
      errors: `dlx-broker: the port ${host} of --http is taken: name another one, or 0 for any that is free\n`,
    });
  });

  it('is not read from disk by a start without it', () => {
    const { files, packages } = reachedFrom(
      'dist/server.js',
      /^(?:const|var) \S+ = (?:__importStar\()?require\("([^"]+)"\)+;$/gm,
    );
    expect(files.size).toBeGreaterThan(2);
    expect([...packages]).toEqual([]);
  });

  it('needs no Nest and no RxJS, and neither does any other command', () => {
    const { files, packages } = reachedFrom('dist/cli/main.js', /\brequire\("([^"\n]+)"\)/gm);
    expect(files.size).toBeGreaterThan(15);
    expect(packages).toContain('hono');
    expect([...packages].filter((name) => /^(@nestjs\/|rxjs|reflect-metadata)/.test(name))).toEqual([]);
  });
});

/** The files of the package that one file leads to, and the packages that they import. */
function reachedFrom(entry: string, imports: RegExp) {
  const files = new Set<string>();
  const packages = new Set<string>();
  const walk = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(imports)) {
      if (name.startsWith('.')) walk(join(dirname(file), name));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  };
  walk(join(library, entry));
  return { files, packages };
}
