import { expect, it } from 'vitest';
import { differing, ServerError } from './errors.js';

it('what differs is shown with the ways to change it', () => {
  const difference = { kind: 'queue', name: 'orders', property: 'x-message-ttl', existing: '1', asked: '2' } as const;
  expect(differing([{ ...difference, origin: 'Shop.handle' }]).message).toBe(
    "The topology does not fit what exists:\n  queue 'orders' x-message-ttl: the existing one has 1, the declaration has 2 (Shop.handle)\n" +
      'Nothing was changed or deleted. Give the new one another name, or delete the old one when it is empty: by ' +
      "'dlx-broker ctl delete_queue NAME --if-empty' while the broker runs and has a port, by 'dlx-broker data remove DIR NAME' or " +
      "'dlx-broker data rename DIR NAME NEW' while nothing uses its data directory.",
  );
});

it.each(['wait.1000', 'wait.keep.5000'])(
  'the dead-letter exchange %s is shown as that of a retry policy',
  (exchange) => {
    const difference = { kind: 'queue', name: 'orders', asked: 'none', origin: 'Shop.handle' } as const;
    const shown = (property: string, existing: string): string =>
      differing([{ ...difference, property, existing }]).message.split('\n')[1]!;
    expect(shown('x-dead-letter-exchange', `'${exchange}'`)).toBe(
      `  queue 'orders' x-dead-letter-exchange: the existing one has '${exchange}' (set by the @Retry of an earlier version), the ` +
        'declaration has none (Shop.handle)',
    );
    expect(shown('x-dead-letter-exchange', "'orders.dlx'")).not.toContain('@Retry');
    expect(shown('x-dead-letter-routing-key', `'${exchange}'`)).not.toContain('@Retry');
  },
);

const about = { property: 'x', existing: '1', asked: '2', origin: undefined } as const;
const ofQueue = (queueType: string) => ({ ...about, kind: 'queue', name: queueType, queueType }) as const;
const ofExchange = { ...about, kind: 'exchange', name: 'shop' } as const;

it.each([
  ['classic', [ofQueue('classic')], ' --if-empty', 'leave it out'],
  ['quorum', [ofQueue('quorum')], "delete_queue NAME' while", 'NAME --if-empty'],
  ['stream', [ofQueue('stream')], "For a stream queue '--if-empty' does not work: leave it out", 'NAME --if-empty'],
  ['classic and quorum', [ofQueue('classic'), ofQueue('quorum')], "NAME --if-empty' while", undefined],
  [
    'classic and quorum',
    [ofQueue('classic'), ofQueue('quorum')],
    "For a quorum queue '--if-empty' does not work",
    undefined,
  ],
  ['no', [ofExchange], "'DELETE /api/exchanges/VHOST/NAME' of the management API", 'delete_queue'],
])('the command fits %s queues', (_, differences, part, absent) => {
  const { message } = differing(differences);
  expect(message).toContain(part);
  if (absent !== undefined) expect(message).not.toContain(absent);
});

it('an exchange of another type is declared as it is before it is deleted, for other applications may use it', () => {
  const differences = [
    { kind: 'exchange', name: 'shop', property: 'type', existing: "'direct'", asked: "'topic'", origin: 'Shop.handle' },
    { kind: 'exchange', name: 'shop', property: 'durable', existing: 'false', asked: 'true', origin: 'Shop.handle' },
    { kind: 'exchange', name: 'audit', property: 'type', existing: 'fanout', asked: 'topic', origin: 'Shop.handle' },
  ] as const;
  expect(differing(differences).message).toContain(
    "Nothing was changed or deleted. Other applications may use the exchange: declare it as it is, topology: { exchanges: [{ name: 'shop', " +
      "type: 'direct', durable: false }, { name: 'audit', type: 'fanout' }] }, or leave it to its owner with declare: false. If no " +
      "application uses it, delete it: 'DELETE /api/exchanges/VHOST/NAME' of the management API. Give the new one another name.",
  );
});

it('texts of a server are short and of one line', () => {
  const text = 'NOT_FOUND \u001b[2J\r\n\u202e';
  expect(new ServerError(text, 404).message).toBe('NOT_FOUND \\x1b[2J\\x0d\\x0a\\u{202e}');
  expect(new ServerError('x'.repeat(100_000), 404).message.length).toBeLessThan(2_010);
  const shown = differing([{ ...ofQueue('classic'), existing: text + 'x'.repeat(100_000) }]).message;
  expect(shown).toContain('NOT_FOUND \\x1b[2J');
  expect(shown.length).toBeLessThan(3_000);
});
