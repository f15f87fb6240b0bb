import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { follow, type LiveEvent } from './events';

const encoder = new TextEncoder();
const event = (time: number): string => `event: state\ndata: {"time":${time}}\n\n`;

/** A server whose streams send the given text and stay open. */
class Server {
  opened = 0;
  cancelled = 0;

  constructor(readonly text: string) {}

  readonly answer = async (): Promise<Response> => {
    this.opened++;
    return new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(encoder.encode(this.text)),
        cancel: () => void this.cancelled++,
      }),
    );
  };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { baseURI: 'http://broker.example/' });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const turns = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

it('closes the stream of an event that cannot be read before it opens another', async () => {
  const server = new Server('data: {not JSON\n\n');
  vi.stubGlobal('fetch', server.answer);
  const controller = new AbortController();
  const over = follow({}, () => undefined, controller.signal);
  await turns();
  expect([server.opened, server.cancelled]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([server.opened, server.cancelled]).toEqual([2, 2]);
  controller.abort();
  await over;
});

it('takes no event of one piece after its view is gone, and leaves no timer', async () => {
  const server = new Server(event(1) + event(2));
  vi.stubGlobal('fetch', server.answer);
  const controller = new AbortController();
  const taken: number[] = [];
  const take = ({ time }: LiveEvent): void => {
    taken.push(time);
    controller.abort();
  };
  await follow({}, take, controller.signal);
  expect([taken, server.cancelled, vi.getTimerCount()]).toEqual([[1], 1, 0]);
});

it('reports the fault of a view, and goes on with the same stream', async () => {
  const server = new Server(event(1) + event(2) + event(3));
  const reported: unknown[] = [];
  vi.stubGlobal('fetch', server.answer);
  vi.stubGlobal('reportError', (error: unknown) => void reported.push(error));
  const controller = new AbortController();
  const fault = new Error('a bug of the view');
  const take = ({ time }: LiveEvent): void => {
    if (time === 1) throw fault;
    controller.abort();
  };
  await follow({}, take, controller.signal);
  expect([reported, server.opened]).toEqual([[fault], 1]);
});

it('ends at once while it waits to connect again', async () => {
  vi.stubGlobal('fetch', async () => new Response('{}', { status: 503 }));
  const controller = new AbortController();
  const over = follow({}, () => undefined, controller.signal);
  await turns();
  expect(vi.getTimerCount()).toBe(1);
  controller.abort();
  await over;
  expect(vi.getTimerCount()).toBe(0);
});
