import { createHash } from 'node:crypto';
import { setImmediate as soon } from 'node:timers/promises';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { deadQueue, lettersHarness } from '../../../../../test/harnesses/letters-harness.js';
import { UndecodablePayloadError } from '../../platform/history/index.js';
import { type Properties, toFieldTable } from '../../engine/message/index.js';
import { type Edit, EditRefusedError } from './edit.js';
import { Redrives } from './redrives.js';

const json = { contentType: 'application/json' };
const sum = (text: string): string => createHash('sha256').update(text).digest('hex');

async function arrange() {
  const parts = await lettersHarness();
  const { backend, letters, clock } = parts;
  const failures: unknown[] = [];
  letters.failures.subscribe(({ failure }) => failures.push(failure));
  const shop = { exchange: 'shop', routingKey: 'order.created' };
  return {
    ...parts,
    failures,
    redrives: new Redrives(backend, letters),
    die(body: string | Uint8Array, properties: Properties = json): void {
      backend.publish({ ...shop, properties, body: Buffer.from(body), mandatory: true });
      parts.reject('orders');
    },
    first: () => firstValueFrom(letters.from(deadQueue, { prefetch: 1 })),
    async settle(): Promise<void> {
      for (let turn = 0; turn < 40; turn++) {
        for (let each = 0; each < 20; each++) await soon();
        clock.advance(1_000);
      }
    },
    /** The messages in the queue of the shop. */
    arrived() {
      const all: { body: string; headers: ReadonlyMap<string, { readonly value: unknown }>; properties: Properties }[] =
        [];
      const consumption = backend.consume('orders', { prefetch: 0 }, (delivery) => {
        const { body, properties } = delivery.message;
        all.push({ body: Buffer.from(body).toString(), headers: properties.headers ?? new Map(), properties });
      });
      consumption.close();
      return all;
    },
  };
}

/** Redrives the first letter with an edit while its stream is open. */
async function edited(parts: Awaited<ReturnType<typeof arrange>>, edit: Edit): Promise<unknown> {
  return new Promise((resolve) => {
    const stream = parts.letters.from(deadQueue, { prefetch: 1 }).subscribe((letter) => {
      letter.redrive(undefined, edit).then(
        () => (stream.unsubscribe(), resolve('redriven')),
        (failure: unknown) => {
          const { open } = letter;
          stream.unsubscribe();
          resolve(open ? failure : 'settled');
        },
      );
    });
  });
}

describe('a letter that is redriven with an edit', () => {
  it('gets another payload and other headers, keeps the rest, and tells of it', async () => {
    const parts = await arrange();
    const headers = toFieldTable({ tenant: 'acme', old: 1, 'x-trace': 't', 'dlx-edited': 2 });
    parts.die('{"total":"12"}', { ...json, headers, messageId: 'm', correlationId: 'c' });
    expect(
      await edited(parts, { payload: { total: 12 }, headers: { tenant: 'globex', old: null, more: [1, 'a'] } }),
    ).toBe('redriven');
    const [one] = parts.arrived();
    expect([one?.body, one?.properties.messageId, one?.properties.correlationId]).toEqual(['{"total":12}', 'm', 'c']);
    const values = Object.fromEntries([...one!.headers].map(([name, { value }]) => [name, value]));
    expect(values).toMatchObject({
      tenant: 'globex',
      'x-trace': 't',
      'dlx-redrives': 1,
      'dlx-edited': 3,
      'dlx-edited-by': 'application',
      'dlx-edited-at': Math.floor(parts.clock.now() / 1000),
      'dlx-original-sha256': sum('{"total":"12"}'),
    });
    expect([one!.headers.has('old'), one!.headers.has('x-death'), one!.headers.get('more')]).toEqual([
      false,
      false,
      toFieldTable({ more: [1, 'a'] }).get('more'),
    ]);
  });

  it.each<[string, Properties, unknown, string]>([
    ['JSON', json, { a: [1] }, '{"a":[1]}'],
    ['JSON of a string', json, 'text', '"text"'],
    ['no content type', {}, null, 'null'],
    ['a string', { contentType: 'text/plain' }, 'ü', 'ü'],
    ['bytes', { contentType: 'application/octet-stream' }, Buffer.from('abc'), 'abc'],
    ['bytes of a coded body', { ...json, contentEncoding: 'gzip' }, Buffer.from('coded'), 'coded'],
  ])('writes the payload as its content type says: %s', async (_, properties, payload, body) => {
    const parts = await arrange();
    parts.die('{}', properties);
    expect(await edited(parts, { payload })).toBe('redriven');
    expect(parts.arrived().map((one) => one.body)).toEqual([body]);
  });

  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  it.each<[string, Properties, Edit, string]>([
    ['an edit that changes nothing', json, { payload: {} }, 'the edit changes nothing'],
    ['no change at all', json, {}, 'the edit changes nothing'],
    ['the same headers', json, { headers: { missing: null } }, 'the edit changes nothing'],
    ['dlx-', json, { headers: { 'dlx-redrives': 0 } }, "header 'dlx-redrives' is locked"],
    ['x-', json, { headers: { 'x-death': null } }, "header 'x-death' is locked"],
    ['CC', json, { headers: { CC: ['a'] } }, "header 'CC' is locked"],
    ['BCC', json, { headers: { BCC: null } }, "header 'BCC' is locked"],
    [
      'a coded body',
      { ...json, contentEncoding: 'gzip' },
      { payload: { a: 1 } },
      "content encoding of the message is 'gzip'",
    ],
    [
      'a value for bytes',
      { contentType: 'image/png' },
      { payload: { a: 1 } },
      "content type of the message is 'image/png'",
    ],
    ['a value for a string', { contentType: 'text/plain' }, { payload: { a: 1 } }, 'the payload is no text'],
    ['another character set', { contentType: 'text/plain; charset=latin1' }, { payload: 'a' }, 'encoded in latin1'],
    ['a circle', json, { payload: loop }, 'cannot be written as JSON'],
    ['a function', json, { payload: () => 1 }, 'a function cannot be written as JSON'],
    ['a header that no table has', json, { headers: { a: (() => 1) as never } }, "header 'a'"],
  ])('stays unsettled: %s', async (_, properties, edit, reason) => {
    const parts = await arrange();
    parts.die('{}', properties);
    const failure = await edited(parts, edit);
    expect(failure).toBeInstanceOf(EditRefusedError);
    expect((failure as Error).message).toContain(reason);
    expect([parts.queue(deadQueue).ready, parts.arrived()]).toEqual([1, []]);
  });

  it('refuses an option that it does not know', async () => {
    const parts = await arrange();
    parts.die('{}');
    expect(await edited(parts, { body: 'x' } as Edit)).toMatchObject({ message: expect.stringContaining("'body'") });
    expect(await edited(parts, { headers: [] as never })).toMatchObject({
      message: expect.stringContaining('is no object'),
    });
  });
});

describe('a redrive with an edit', () => {
  it('changes what its function returns, and leaves and counts the others', async () => {
    const parts = await arrange();
    for (const body of ['{"n":1}', '{"n":2}', 'no JSON', '{"n":4}', '{"n":5}', '{"n":6}']) parts.die(body);
    const edit = ({ payload }: { readonly payload: { n: number } | UndecodablePayloadError }): Edit | undefined => {
      if (payload instanceof UndecodablePayloadError) return { payload: { ...payload } };
      const { n } = payload;
      if (n === 2) return undefined;
      if (n === 4) throw new TypeError('of the application');
      return { payload: { n: n === 5 ? 5 : n * 10 } };
    };
    const request = { from: deadQueue, edit, perSecond: 1_000 } as const;
    expect(await parts.redrives.dryRun(request)).toMatchObject({
      left: 4,
      unedited: 4,
      destinations: { 'shop/order.created': 2 },
    });
    expect(parts.failures).toEqual([]);
    const task = parts.redrives.start(request);
    await parts.settle();
    expect(task.current).toMatchObject({ state: 'done', redriven: 2, left: 4, unedited: 4 });
    expect(parts.arrived().map(({ body }) => body)).toEqual(['{"n":10}', '{"n":60}']);
    const undecodable = expect.any(UndecodablePayloadError) as unknown;
    expect(parts.queue(deadQueue).payloads()).toEqual([{ n: 2 }, undecodable, { n: 4 }, { n: 5 }]);
    expect(parts.failures).toEqual([
      expect.objectContaining({ name: 'EditRefusedError' }),
      expect.objectContaining({ message: 'of the application' }),
    ]);
  });

  it('fails with the first error if no letter was redriven, and stalls in no case', async () => {
    const parts = await arrange();
    parts.die('1');
    parts.die('2');
    const throwing = parts.redrives.start({ from: deadQueue, edit: () => ({ headers: { 'dlx-a': 1 } }) });
    await parts.settle();
    expect(throwing.current).toMatchObject({
      state: 'failed',
      left: 2,
      unedited: 2,
      error: expect.any(EditRefusedError),
    });
    const promising = parts.redrives.start({ from: deadQueue, edit: (async () => ({ payload: 1 })) as never });
    await parts.settle();
    expect(promising.current).toMatchObject({
      state: 'failed',
      left: 2,
      error: expect.objectContaining({ message: expect.stringContaining('redrive: edit') }),
    });
    expect(parts.queue(deadQueue).ready).toBe(2);
    expect(() => parts.redrives.start({ from: deadQueue, edit: {} as never })).toThrow('redrive: edit is');
  });
});
