import { ConsoleLogger, Injectable, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Consume, DlxBroker, DlxBrokerModule, type DlxBrokerOptions, DlxConfigurationError, Retry } from 'dlx-broker';
import { describe, expect, it, vi } from 'vitest';
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
async function fail(logger: LoggerService, logging: NonNullable<DlxBrokerOptions['logging']>): Promise<void> {
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot({ logging })], providers: [Orders] };
  const app = await NestFactory.createApplicationContext(module, { logger, abortOnError: false });
  ends.push(() => app.close());
  const broker = app.get(DlxBroker);
  const body = Buffer.from('{"card":"4111"}');
  broker.backend.publish({ exchange: '', routingKey: 'orders', properties: {}, body });
  await vi.waitFor(() => expect(broker.counts.parked).toBe(1), { timeout: 8_000 });
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
    const lines = written.flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as { message: unknown }] : []));
    const events = lines.filter(({ message }) => typeof message === 'object');
    expect(events).toMatchObject([
      { level: 'warn', message: retried },
      { level: 'error', message: failed, stack: expect.stringContaining('logging.spec') as string },
    ]);
    expect(written.join('')).not.toMatch(/4111|s3cret/);
  });

  it('in a logger that copies the properties of an object, as pino does', async () => {
    const lines: object[] = [];
    const copy = (line: unknown): void => void (typeof line === 'object' && lines.push({ ...line }));
    await fail({ log: () => undefined, warn: copy, error: copy }, { fields: true });
    const sentence = "Orders.handle: attempt 1 of 2 failed, queue 'orders', next in 1 ms: TypeError: " + errorMessage;
    expect(lines).toEqual([{ message: sentence, ...retried }, expect.objectContaining(failed)]);
  });

  it('and are their sentence as a text', async () => {
    const lines: string[] = [];
    await fail(
      { log: () => undefined, warn: (line) => lines.push(`${line}`), error: () => undefined },
      { fields: true },
    );
    expect(lines).toEqual([expect.stringMatching(/^Orders\.handle: attempt 1 of 2 failed/)]);
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
  [{ fields: 'yes' }, "fields of option 'logging'"],
  [{ levels: { retry: 'debug' } }, "'retry' is no option; there are retried, failed"],
  [{ levels: { retried: 'info' } }, "level 'retried' of option 'logging'"],
])('bad options are refused: %j', (logging, text) => {
  const refused = () => DlxBrokerModule.forRoot({ logging } as DlxBrokerOptions);
  expect(refused).toThrow(DlxConfigurationError);
  expect(refused).toThrow(text);
});
