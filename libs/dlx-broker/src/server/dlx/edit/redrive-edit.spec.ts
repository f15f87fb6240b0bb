import { expect, it } from 'vitest';
import { apiHarness } from '../../../../../../test/harnesses/api-harness.js';
import { listen, publishText } from '../../../../../../test/harnesses/listener.js';
import { RedriveEdit } from './redrive-edit.js';

it('an edit keeps no body after its redrive, which is remembered, and works out once what lists show of it', () => {
  const { broker } = apiHarness();
  const { channel } = listen(broker);
  channel.declareQueue('dead');
  publishText(channel, '', 'dead', '{"a":1}');
  const vhost = broker.virtualHost('/');
  const [entry] = vhost.queues.get('dead')!.browse({ limit: 1 }).entries;
  const order = { body: Buffer.from('{"a":2}'), patch: undefined, keepsOriginal: false, allowsInvalid: false };
  const edit = new RedriveEdit({ ...order, headers: new Map() }, broker.access.user('guest')!, false);
  const { json } = edit;
  expect(edit.of(entry!, vhost, 0)).toMatchObject({ after: json['payload_sha256'] });
  edit.end();
  expect(edit.of(entry!, vhost, 0)).toBe('unchanged');
  expect(edit.json).toBe(json);
});
