import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { serve } from '../../libs/dlx-broker/src/serve.js';
import { present } from '../amqp/present.js';
import type { Names } from './normal-form.js';
import { play } from './play.js';
import { type Script, scripts } from './scripts/index.js';
import { type Outcome, ours, rabbitmqctl, type Target } from './target.js';

const amqpUrl = process.env['AMQP_URL'];
const managementUrl = process.env['RABBITMQ_MANAGEMENT_URL'];
const run = promisify(execFile);
const isHere =
  amqpUrl !== undefined &&
  managementUrl !== undefined &&
  (await present('rabbitmqctl', () => run('rabbitmqctl', ['ping'])));

/** What the real one said is kept beside the scripts; RECORD_RABBITMQCTL=1 asks it anew. */
const isRecording = process.env['RECORD_RABBITMQCTL'] !== undefined;
const recordOf = ({ name }: Script): string =>
  join(import.meta.dirname, 'recorded', `${name.replace(/[^a-z]+/g, '-')}.json`);

const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
afterAll(() => served.close());

const ourBroker = ours(
  'our ctl on our broker',
  `http://127.0.0.1:${served.http?.port}`,
  `amqp://127.0.0.1:${served.amqp.port}`,
);
/** These need a RabbitMQ, which knows some of its own numbers only after seconds. */
const onRabbitMq: readonly Target[] = [
  // It takes a second to start, three hundred times: asked on demand, RABBITMQCTL=1, for the record is what it said.
  ...(process.env['RABBITMQCTL'] === '1' ? [{ ...rabbitmqctl(amqpUrl ?? ''), timeout: 40_000 }] : []),
  { ...ours('our ctl on RabbitMQ', managementUrl ?? '', amqpUrl ?? ''), timeout: 40_000 },
];

const made = Date.now().toString(36);
const named = (script: Script, letter: string): Names => ({
  vhost: `ctl-${made}-${scripts.indexOf(script)}-${letter}-vhost`,
  user: `ctl-${made}-${scripts.indexOf(script)}-${letter}-user`,
});

/** Each outcome under its line, for a difference that says where it is. */
const told = ({ lines }: Script, outcomes: readonly Outcome[]) =>
  outcomes.map((each, at) => ({ line: lines[at]?.words.join(' '), ...each }));
const recorded = (script: Script): Outcome[] => JSON.parse(readFileSync(recordOf(script), 'utf8')) as Outcome[];

async function check(script: Script, target: Target, letter: string): Promise<void> {
  const expected = recorded(script);
  const found = await play(target, script, named(script, letter), expected);
  expect(told(script, found)).toEqual(told(script, expected));
}

const cases = scripts.map((script) => [script.name, script] as const);

describe.skipIf(isRecording)('our ctl on our broker says what rabbitmqctl says on RabbitMQ about', () => {
  it.each(cases)('%s', { timeout: 60_000 }, (_, script) => check(script, ourBroker, 'o'));
});

describe.skipIf(!isHere || isRecording).each(onRabbitMq)('on a real RabbitMQ $name says the same about', (target) => {
  it.each(cases)('%s', { timeout: 240_000 }, (_, script) => check(script, target, target.name.slice(0, 1)));
});

describe.runIf(isHere && isRecording)('rabbitmqctl is asked about', () => {
  it.each(cases)('%s', { timeout: 240_000 }, async (_, script) => {
    const outcomes = await play(rabbitmqctl(amqpUrl ?? ''), script, named(script, 'r'));
    writeFileSync(recordOf(script), `${JSON.stringify(told(script, outcomes), null, 2)}\n`);
    expect(existsSync(recordOf(script))).toBe(true);
  });
});
