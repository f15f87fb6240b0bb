import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConsoleLogger, Injectable, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Consume,
  DlxBroker,
  DlxBrokerModule,
  type DlxBrokerOptions,
  DlxClient,
  DlxConfigurationError,
  embedded,
  Retry,
} from 'dlx-broker';
import { describe, expect, it, vi } from 'vitest';
import { logEvents } from '../../libs/dlx-broker/src/nest/log/log-events.js';
import { root } from '../docs/pages.js';
import { endsAfterEach } from '../harnesses/ends.js';

const ends = endsAfterEach();

@Injectable()
class Orders {
  @Consume('orders')
  @Retry({ attempts: 2, backoff: 1 })
  handle(): void {
    throw new TypeError('no answer from http://shop:s3cret@stock/');
  }
}

/** One message that fails twice and is parked, with this logger. */
async function fail(
  logger: LoggerService,
  logging: NonNullable<DlxBrokerOptions['logging']>,
  options: DlxBrokerOptions = {},
) {
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot({ logging, ...options })], providers: [Orders] };
  const app = await NestFactory.createApplicationContext(module, { logger, abortOnError: false });
  ends.push(() => app.close());
  const broker = app.get(DlxBroker);
  const body = Buffer.from('{"card":"4111-2222-3333"}');
  broker.backend.publish({ exchange: '', routingKey: 'orders', properties: {}, body });
  await vi.waitFor(() => expect(broker.counts.parked).toBe(1), { timeout: 8_000 });
  return app;
}

const about = { handler: 'Orders.handle', queue: 'orders', attempts: 2, errorClass: 'TypeError' };
const errorMessage = 'no answer from http://***@stock/';
const retried = { event: 'retried', ...about, attempt: 1, delay: 1, errorMessage };
const failed = { event: 'failed', ...about, attempt: 2, fate: "parked in 'orders.parked'", errorMessage };

describe('lines about messages have fields', () => {
  it("in the JSON of Nest's logger", async () => {
    const written: string[] = [];
    const write = (text: unknown): boolean => written.push(String(text)) > 0;
    const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockImplementation(write));
    ends.push(() => spies.forEach((spy) => spy.mockRestore()));
    await fail(new ConsoleLogger({ json: true }), { fields: true });
    const lines = written.flatMap((text) =>
      text.startsWith('{"level') && text.includes('"message":{') ? [JSON.parse(text) as { message: object }] : [],
    );
    const events = lines.filter(({ message }) => 'attempt' in message);
    expect(events).toMatchObject([
      { level: 'warn', message: retried },
      { level: 'error', message: failed },
    ]);
    expect(written.join('')).not.toMatch(/4111-2222-3333|s3cret/);
  });

  it('in a logger that copies the properties of an object, as pino does', async () => {
    const lines: object[] = [];
    const copy = (line: unknown): void => void ('attempt' in (line as object) && lines.push({ ...(line as object) }));
    await fail({ log: () => undefined, warn: copy, error: copy }, { fields: true });
    const sentence = "Orders.handle: attempt 1 of 2 failed, queue 'orders', next in 1 ms: TypeError: " + errorMessage;
    expect(lines).toEqual([{ message: sentence, ...retried }, expect.objectContaining(failed)]);
  });

  it('and are their sentence as a text', async () => {
    const lines: string[] = [];
    await fail(
      { log: () => undefined, warn: (line) => 'attempt' in line && lines.push(`${line}`), error: () => undefined },
      { fields: true },
    );
    expect(lines).toEqual([expect.stringMatching(/^Orders\.handle: attempt 1 of 2 failed/)]);
  });
});

describe('every line of the library', () => {
  /** The lines of an application that starts, fails to handle a message, loses an event and ends; those of Nest are left out. */
  async function linesWith(logging: NonNullable<DlxBrokerOptions['logging']>) {
    const lines: { readonly level: string; readonly line: unknown }[] = [];
    const keep =
      (level: string) =>
      (line: unknown, ...more: unknown[]) =>
        void (String(more.at(-1)).startsWith('Dlx') && lines.push({ level, line }));
    const logger = { log: keep('log'), warn: keep('warn'), error: keep('error'), debug: keep('debug') };
    const broker = embedded({ listen: { amqp: { port: 0 } } });
    const app = await fail(logger, logging, { broker });
    app.get(DlxClient).emit('nowhere', {});
    await vi.waitFor(() => expect(lines.map(({ line }) => String(line)).join()).toContain('reached no queue'), {
      timeout: 8_000,
    });
    await app.close();
    return lines;
  }

  it('is an object with the event and the fields of the table', async () => {
    const lines = await linesWith({ fields: true, levels: { unroutable: 'debug', failed: 'off' } });
    const events = new Map<string, { readonly level: string; readonly line: object }>();
    // An application of another file may still write a line, which is a text.
    for (const { level, line } of lines.filter((one) => one.line instanceof Object)) {
      const { message, event, ...fields } = line as { message: string; event: keyof typeof logEvents };
      expect(message).toBe(String(line));
      expect(logEvents[event].fields).toEqual(expect.arrayContaining(Object.keys(fields)));
      events.set(event, { level, line: fields });
    }
    const wanted = ['brokerFound', 'handlerStarted', 'retried', 'unroutable'];
    expect([...events.keys()]).toEqual(expect.arrayContaining(wanted));
    expect(events.has('failed')).toBe(false);
    expect(events.get('handlerStarted')).toEqual({ level: 'log', line: { handler: 'Orders.handle', queue: 'orders' } });
    const place = { exchange: 'dlx.events', routingKey: 'nowhere' };
    expect(events.get('unroutable')).toEqual({ level: 'debug', line: place });
  });

  it('is a sentence at its default level without the option', async () => {
    const lines = await linesWith({});
    expect(lines.every(({ line }) => typeof line === 'string')).toBe(true);
    const reached = lines.find(({ line }) => String(line).includes('reached no queue'));
    expect(reached?.level).toBe('warn');
  });

  const sources = readdirSync(join(root, 'libs/dlx-broker/src'), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /^(nest|backends)\/.*\.ts$/.test(path) && !path.endsWith('.spec.ts'))
    .map((path) => ({ path, text: readFileSync(join(root, 'libs/dlx-broker/src', path), 'utf8') }));

  it('is written by one function: no other file calls a logger', () => {
    const calls = sources.filter(({ text }) => /\b(Safe)?Logger\b|logger\??\.\w/.test(text));
    expect(calls.map(({ path }) => path).sort()).toEqual(['nest/log/event-log.ts']);
  });

  it('has an event that the source names', () => {
    const others = sources.filter(({ path }) => !path.endsWith('log-events.ts'));
    const source = others.map(({ text }) => text).join('');
    expect(Object.keys(logEvents).filter((event) => !source.includes(`'${event}'`))).toEqual([]);
  });
});

it('events have levels', async () => {
  const lines: string[] = [];
  const keep = (level: string) => (line: unknown) => {
    if (String(line).includes('attempt')) lines.push(level);
  };
  const logger = { log: keep('log'), warn: keep('warn'), error: keep('error'), debug: keep('debug') };
  await fail(logger, { levels: { retried: 'debug', failed: 'warn' } });
  expect(lines.filter((level) => level !== 'log')).toEqual(['debug', 'warn']);
  lines.splice(0);
  await fail(logger, { levels: { retried: 'off' } });
  expect(lines.filter((level) => level !== 'log')).toEqual(['error']);
  lines.splice(0);
  await fail(logger, { levels: { retried: undefined } as object });
  expect(lines.filter((level) => level !== 'log')).toEqual(['warn', 'error']);
});

it('a logger that throws at any level loses no message', async () => {
  const fault = (line: unknown): void => {
    if (String(line).includes('attempt')) throw new Error('the disk is full');
  };
  const logger = { log: fault, warn: fault, error: fault, debug: fault, verbose: fault };
  await fail(logger, { fields: true, levels: { retried: 'debug', failed: 'verbose' } });
});

it.each<[object, string]>([
  [{ field: true }, "did you mean 'fields'"],
  [{ fields: 'yes' }, "option 'logging.fields'"],
  [{ levels: { retry: 'debug' } }, "'retry' is no option; there are retried, failed"],
  [{ levels: { retried: 'info' } }, "option 'logging.levels.retried'"],
])('bad options are refused: %j', (logging, text) => {
  const refused = () => DlxBrokerModule.forRoot({ logging } as DlxBrokerOptions);
  expect(refused).toThrow(DlxConfigurationError);
  expect(refused).toThrow(text);
});
