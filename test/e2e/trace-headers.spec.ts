import { Controller, Injectable } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  Park,
  Queue,
  Redrives,
  Retry,
  type DlxBrokerOptions,
} from 'dlx-broker';
import { toFieldTable } from 'dlx-broker/engine';
import { DlxTesting } from 'dlx-broker/testing';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const first = `00-${trace}-00f067aa0ba902b7-01`;
const second = `00-${trace}-1111111111111111-01`;
const metadata = { traceparent: first, tracestate: 'vendor=1', baggage: 'tenant=acme', other: 'x' };

interface Seen {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

const seen: Seen[] = [];
const note = (context: DlxContext): void =>
  void seen.push({ headers: context.headers, metadata: context.getMetadata() });

@Controller()
class Events {
  @EventPattern<string>('event')
  @Queue('events')
  event(@Ctx() context: DlxContext): void {
    note(context);
  }

  @MessagePattern('question')
  question(@Ctx() context: DlxContext): string {
    note(context);
    return 'answer';
  }

  @EventPattern<string>('fails')
  @Queue('fails')
  @Retry({ attempts: 2, backoff: '1s' })
  fails(@Ctx() context: DlxContext): void {
    note(context);
    throw new Error('no');
  }

  @EventPattern<string>('dies')
  @Queue('dies')
  @DeadLetter({ exchange: 'dlx' })
  dies(@Ctx() context: DlxContext): void {
    note(context);
    throw new Error('no');
  }

  @EventPattern<string>('parks')
  @Queue('parks')
  parks(@Ctx() context: DlxContext): void {
    note(context);
    throw new Park('later');
  }
}

@Injectable()
class Morgue {
  @Consume({ queue: 'dead', exchange: 'dlx', routingKey: '#' })
  take(@Ctx() context: DlxContext): void {
    note(context);
  }
}

let dlx: DlxTesting | undefined;
afterEach(async () => {
  seen.splice(0);
  await dlx?.close();
  dlx = undefined;
});

async function start(transport: DlxBrokerOptions = {}): Promise<DlxTesting> {
  dlx = await DlxTesting.create({ controllers: [Events], providers: [Morgue] }, { transport, logger: false });
  return dlx;
}

/** A client with a dispatch hook, as tracing tools for Nest have one. */
async function hooked(transport?: DlxBrokerOptions): Promise<DlxClient> {
  const client = (await start(transport)).app.get(DlxClient);
  client.setOnDispatchHook((packet) => (packet.metadata = { ...metadata }));
  return client;
}

const traceOf = ({ headers: { traceparent, tracestate, baggage } }: Seen): unknown => ({
  traceparent,
  tracestate,
  baggage,
});

const whole = { traceparent: first, tracestate: 'vendor=1', baggage: 'tenant=acme' };

describe('the trace context of a dispatch hook', () => {
  it.each(['event', 'question'])('is in headers that tools of other languages read: %s', async (pattern) => {
    const client = await hooked();
    if (pattern === 'event') client.emit('event', 1);
    else await firstValueFrom(client.send('question', 1));
    await dlx!.settled();
    expect(seen).toEqual([{ headers: expect.objectContaining(whole) as object, metadata }]);
    expect(seen[0]!.headers).toMatchObject({ 'dlx-metadata': metadata });
    expect(seen[0]!.headers).not.toHaveProperty('other');
  });

  it('is in headers of packets of Nest as well', async () => {
    (await hooked({ envelope: 'nest' })).emit('event', 1);
    await dlx!.settled();
    expect(seen).toEqual([{ headers: expect.objectContaining(whole) as object, metadata }]);
    expect(seen[0]!.headers).not.toHaveProperty('dlx-metadata');
  });

  it('leaves the traceparent that the publisher set', async () => {
    const client = await hooked();
    client.emit('event', new DlxRecordBuilder(1).setHeaders({ traceparent: second }).build());
    await dlx!.settled();
    expect(traceOf(seen[0]!)).toEqual({ traceparent: second, tracestate: undefined, baggage: 'tenant=acme' });
    expect(seen[0]!.metadata).toEqual({ traceparent: second, baggage: 'tenant=acme', other: 'x' });
  });

  it('is no header if it is none', async () => {
    const client = await hooked();
    client.setOnDispatchHook((packet) => (packet.metadata = { traceparent: 'none', baggage: 'x'.repeat(9_000) }));
    client.emit('event', 1);
    await dlx!.settled();
    expect(traceOf(seen[0]!)).toEqual({ traceparent: undefined, tracestate: undefined, baggage: undefined });
    expect(seen[0]!.metadata).toMatchObject({ traceparent: 'none' });
  });
});

describe('the first trace context stays', () => {
  it('on each attempt, in the parking lot and after a redrive', async () => {
    (await hooked()).emit('fails', 1);
    await dlx!.advance('1m');
    expect(seen.map(traceOf)).toEqual([whole, whole]);
    const [parked] = dlx!.queue('fails.parked').messages();
    expect(parked!.headers).toMatchObject(whole);
    const task = dlx!.app.get(Redrives).start({ from: 'fails.parked' });
    await task.ended;
    await dlx!.settled();
    expect(seen.map(traceOf)).toEqual([whole, whole, whole]);
  });

  it('when a message is dead-lettered, and when a handler parks it', async () => {
    const client = await hooked();
    client.emit('dies', 1);
    client.emit('parks', 1);
    await dlx!.settled();
    expect(seen.map(traceOf)).toEqual([whole, whole, whole]);
    expect(dlx!.queue('parks.parked').messages()[0]!.headers).toMatchObject(whole);
  });

  it('after a delay', async () => {
    (await hooked()).emit('event', 1, { delay: '1m' });
    await dlx!.advance('1m');
    expect(seen.map(traceOf)).toEqual([whole]);
  });
});

describe('a handler gets the trace context of another client', () => {
  const publish = async (headers: Readonly<Record<string, unknown>>): Promise<Seen> => {
    await (await start()).publish('events', 1, { headers: toFieldTable(headers) });
    await dlx!.settled();
    return seen[0]!;
  };

  it('from the headers of the message', async () => {
    expect((await publish(whole)).metadata).toEqual(whole);
  });

  it('from the headers of the message before those of a hook, and the state with its parent', async () => {
    const headers = { traceparent: second, 'dlx-metadata': metadata };
    expect((await publish(headers)).metadata).toEqual({ traceparent: second, baggage: 'tenant=acme', other: 'x' });
  });

  it.each<[string, Readonly<Record<string, unknown>>, object | undefined]>([
    ['a forged table', { 'dlx-metadata': { traceparent: { a: [first] }, n: 1, ok: 'x' } }, { ok: 'x' }],
    ['a table in place of a text', { traceparent: { traceparent: first } }, undefined],
    ['a text in place of the table', { 'dlx-metadata': first }, undefined],
    ['a long text', { traceparent: 'x'.repeat(50_000), tracestate: 'a=1' }, undefined],
    ['names of an object', { 'dlx-metadata': { constructor: 'x', hasOwnProperty: 'y' } }, { constructor: 'x' }],
  ])('without an error if it is %s', async (_, headers, expected) => {
    const { metadata } = await publish(headers);
    if (expected === undefined) expect(metadata).toBeUndefined();
    else expect(metadata).toMatchObject(expected);
    expect(Object.values(metadata ?? {}).every((value) => typeof value === 'string')).toBe(true);
  });
});
