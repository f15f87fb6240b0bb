import { sharedBroker, type DlxBrokerOptions, rabbitmq } from 'dlx-broker';
import { createBroker, EmbeddedBackend, silentOutbox } from 'dlx-broker/engine';
import { afterAll, afterEach, inject, vi } from 'vitest';
import type { Backend } from '../../libs/dlx-broker/src/backends/index.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { realServerIsMissing, realVhost } from '../backends/real-vhost.js';

/** Where the applications of a run have their broker. The projects `on serve` and `on RabbitMQ` set it. */
export type Place = 'embedded' | 'serve' | 'RabbitMQ';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly place: Place;
  }
}

export const place: Place = (inject('place') as Place | undefined) ?? 'embedded';
export const isEmbedded = place === 'embedded';
export const isRabbitMq = place === 'RabbitMQ';
/** Why this place cannot be had: its cases are skipped. */
export const missing = isRabbitMq ? await realServerIsMissing() : undefined;

/** A broker without messages and queues that is reached by a URL. */
interface Reached {
  readonly url: string;
  /** As an operator does it. */
  deleteQueue(name: string): Promise<unknown>;
  close(): Promise<unknown>;
}

async function openServe(http = true): Promise<Reached> {
  const server = await serve({ amqp: { host: '127.0.0.1', port: 0 }, ...(http && { http: { port: 0 } }) });
  return {
    url: `amqp://127.0.0.1:${server.amqp.port}`,
    deleteQueue: async (name) => server.broker.connect().openChannel(silentOutbox).deleteQueue(name),
    close: () => server.close(),
  };
}

async function openVhost(): Promise<Reached> {
  const { url, vhost, management, remove } = await realVhost();
  const deleteQueue = (name: string): Promise<unknown> =>
    management.call('DELETE', `/queues/${vhost}/${encodeURIComponent(name)}`);
  return { url, deleteQueue, close: remove };
}

const opened: Promise<Reached>[] = [];
const ending: Promise<unknown>[] = [];
// Registered before those of apps.ts, so it runs after them: the applications are closed by then.
afterEach(() => {
  for (const one of opened.splice(0)) ending.push(one.then((reached) => reached.close()));
});
const kept: Promise<Reached>[] = [];
afterAll(async () => {
  for (const one of kept.splice(0)) ending.push(one.then((reached) => reached.close()));
  await Promise.all(ending.splice(0));
});

/** Keeps the brokers of the application that `beforeAll` started until the end of the file. */
export const keepBrokers = (): void => void kept.push(...opened.splice(0));

/** Failures come sooner than by default. */
const quick = { publishTimeout: '5s', declareTimeout: '5s', closeTimeout: '1s', startAttempts: 3 } as const;

/** The URL of a fresh broker on a server. */
export async function freshUrl(): Promise<string> {
  const reached = isRabbitMq ? openVhost() : openServe();
  opened.push(reached);
  return (await reached).url;
}

/**
 * The option `broker` for a fresh broker of this place. Several applications of one test may share it.
 * @param more `http: false` for a `serve` without the HTTP API; `management` for the option of `rabbitmq()`
 */
export function freshBroker(
  more: { readonly http?: boolean; readonly management?: string } = {},
): NonNullable<DlxBrokerOptions['broker']> {
  if (isEmbedded) return sharedBroker(createBroker());
  const reached = isRabbitMq ? openVhost() : openServe(more.http);
  const { management } = more;
  opened.push(reached);
  return rabbitmq({ urls: async () => (await reached).url, ...(management && { management }), ...quick });
}

type NamedOptions = DlxBrokerOptions & { readonly name?: string };

/** Options of `forRoot()` with a fresh broker of this place, unless they name a broker. */
export const here = (options: NamedOptions = {}): NamedOptions =>
  isEmbedded || options.broker !== undefined ? options : { ...options, broker: freshBroker() };

/** Deletes a queue of the one broker of this test, as an operator does it. */
export async function deleteQueue(backend: Backend, name: string): Promise<void> {
  if (backend instanceof EmbeddedBackend) backend.broker.connect().openChannel(silentOutbox).deleteQueue(name);
  else await (await opened[0]!).deleteQueue(name);
}

/** The state of a queue in which nothing is left. A server tells a client nothing of unacknowledged messages. */
export const idle = isEmbedded ? { messages: 0, unacknowledged: 0 } : { messages: 0 };

/** Waits until a check succeeds: a server answers later. */
export const until = (check: () => unknown): Promise<void> =>
  vi.waitFor(async () => void (await check()), { interval: isEmbedded ? 1 : 5, timeout: 5_000 });

/** True for the line about SIGTERM, which is written one second after a start: a slow test gets it after the lines of the start. */
export const isOfStart = (line: unknown): boolean => String(line).startsWith('SIGTERM ');
