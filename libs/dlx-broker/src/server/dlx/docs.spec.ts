import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Channel, silentOutbox } from '../../engine/broker/index.js';
import { toFieldTable } from '../../engine/message/index.js';
import { type ApiHarness, apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { declareDying } from '../../../../../test/harnesses/dying.js';
import { filterNames } from './input.js';

const page = readFileSync(join(import.meta.dirname, '../../../../../docs/reference/dlx-api.md'), 'utf8');
/** What follows a heading up to the next of any level. */
const section = (heading: string): string => page.split(`# ${heading}\n`)[1]!.split(/\n#+ /)[0]!;
/** The JSON block of a section. */
const sample = (heading: string): unknown => JSON.parse(/```json\n([^]*?)```/.exec(section(heading))![1]!);

describe('docs/reference/dlx-api.md', () => {
  let rooms: ApiHarness;
  let channel: Channel;

  beforeEach(() => {
    rooms = apiHarness({ edits: true });
    channel = rooms.broker.connect().openChannel(silentOutbox);
    channel.declareExchange('orders', { type: 'topic' });
    declareDying(channel, ['orders.work'], 'orders.dead');
    channel.bindQueue('orders.work', 'orders', 'order.#');
  });

  const letDie = (): void => {
    const plain = { tenant: 7, 'dlx-error-class': 'TimeoutError' };
    for (const milliseconds of [250, 1000]) {
      const headers = toFieldTable({ ...plain, 'dlx-error-message': `no answer after ${milliseconds} ms` });
      const properties = { headers, contentType: 'application/json' };
      channel.publish('orders', 'order.created', properties, Buffer.from('{"order":1}'));
      channel.reject(channel.get('orders.work')!.deliveryTag, false);
    }
  };
  const path = '/dlx/queues/%2F/orders.dead';

  it('shows pages, groups and deletions as they are', async () => {
    letDie();
    const { body } = await rooms.call('GET', `${path}/messages?reason=rejected&page_size=1`);
    const [item] = (body as { items: { headers: Record<string, unknown> }[] }).items;
    for (const name of Object.keys(item!.headers)) if (name.startsWith('x-')) delete item!.headers[name];
    expect(body).toEqual(sample('Look into a queue'));
    expect((await rooms.call('GET', `${path}/groups?by=error`)).body).toEqual(sample('Groups'));
    const ofAll = await rooms.call('GET', '/dlx/groups?reason=rejected');
    expect(ofAll.body).toEqual(sample('Groups of all queues'));
    const removed = await rooms.call('DELETE', `${path}/messages?error=TypeError&dry_run=true`);
    expect(removed.body).toEqual(sample('Delete'));
  });

  it('shows a list of queues, and the setting of a policy', async () => {
    const definition = { 'max-length': 1_000 };
    rooms.broker.virtualHost('/').setPolicy('bounded', { pattern: 'dead$', definition });
    letDie();
    const url = /http:\/\/127.0.0.1:15672\/api(\S+)'/.exec(section('Queues'))![1]!;
    expect((await rooms.call('GET', url)).body).toEqual(sample('Queues'));
    const { body } = await rooms.call('GET', '/dlx/queues/%2F/orders.work');
    for (const key of Object.keys(body as object).slice(-6)) expect(section('One queue')).toContain(`\`${key}\``);
  });

  it('shows an overview, with an alarm', async () => {
    const definition = { 'dead-letter-exchange': 'gone' };
    rooms.broker.virtualHost('/').setPolicy('gone', { pattern: 'dead$', definition });
    letDie();
    const { body } = await rooms.call('GET', '/dlx/overview');
    const { rates_series: series, ...rest } = body as Record<string, unknown>;
    expect(rest).toEqual(sample('Overview'));
    expect(Object.keys(series as object)).toContain('redriven');
  });

  it('exports a line for each message that the example selects', async () => {
    letDie();
    const url = /http:\/\/127.0.0.1:15672(\S+)'/.exec(section('Export'))![1]!;
    const headers = { authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}` };
    const incoming = { url, socket: { remoteAddress: '127.0.0.1' } };
    const response = await rooms.api.fetch(new Request(`http://localhost${url}`, { headers }), { incoming } as never);
    expect((await response.text()).split('\n').slice(0, -1)).toHaveLength(2);
    expect(section('Export')).toContain(response.headers.get('content-type'));
  });

  it('shows redrives and the audit log as they are', async () => {
    letDie();
    await rooms.call('DELETE', `${path}/messages?error=TypeError&dry_run=true`);
    const begun = /-d '(.*)'/.exec(section('Redrive'))![1]!;
    const { status, body } = await rooms.call('POST', '/dlx/redrives', { body: begun });
    expect(status).toBe(201);
    rooms.clock.advance(10);
    const { id } = body as { id: string };
    expect((await rooms.call('GET', `/dlx/redrives/${id}`)).body).toEqual(sample('Redrive'));
    expect((await rooms.call('GET', '/dlx/audit?user=guest&page_size=1')).body).toEqual(sample('Audit log'));
  });

  it('shows an edit as it is, and names every key', async () => {
    letDie();
    const request = /-d '(.*)'/.exec(section('Edit and redrive'))![1]!;
    const { status, body } = await rooms.call('POST', `${path}/messages/1/edit`, { body: request });
    expect([status, body]).toEqual([200, sample('Edit and redrive')]);
    const refused = await rooms.call('POST', `${path}/messages/2/edit`, { body: { x: 1 } });
    const { reason } = refused.body as { reason: string };
    for (const key of reason.split('known are ')[1]!.split(', '))
      expect(section('Edit and redrive')).toContain(`\`${key}\``);
  });

  it('shows an event as it is', async () => {
    const url = /http:\/\/127.0.0.1:15672(\S+)'/.exec(section('Live counters'))![1]!;
    const headers = { host: 'localhost', authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}` };
    const incoming = { url, socket: { remoteAddress: '127.0.0.1' } };
    const response = await rooms.api.fetch(new Request(`http://localhost${url}`, { headers }), { incoming } as never);
    const reader = response.body!.getReader();
    await reader.read();
    letDie();
    rooms.clock.advance(1_000);
    const { value } = await reader.read();
    expect(section('Live counters')).toContain(Buffer.from(value!).toString().trimEnd());
  });

  it('names every filter and every key of a redrive', async () => {
    for (const name of [...Object.keys(filterNames), 'header']) expect(section('Filters')).toContain(`\`${name}`);
    const refused = await rooms.call('POST', '/dlx/redrives', { body: { vhost: '/', queue: 'orders.dead', x: 1 } });
    const { reason } = refused.body as { reason: string };
    for (const key of reason.split('known are ')[1]!.split(', ')) expect(section('Redrive')).toContain(`\`${key}\``);
  });
});
