import { expect, it } from 'vitest';
import { differing, ServerError } from './errors.js';

it('what differs is shown with the ways to change it', () => {
  const difference = { kind: 'queue', name: 'orders', property: 'x-message-ttl', existing: '1', asked: '2' } as const;
  expect(differing([{ ...difference, origin: 'Shop.handle' }]).message).toBe(
    "The topology does not fit what exists:\n  queue 'orders' x-message-ttl: the existing one has 1, the declaration has 2 (Shop.handle)\n" +
      'Nothing was changed or deleted. Give the new one another name, or delete the old one when it is empty: by ' +
      "'dlx-broker ctl delete_queue NAME' while the broker runs and has a port, by 'dlx-broker data remove DIR NAME' or " +
      "'dlx-broker data rename DIR NAME NEW' while nothing uses its data directory.",
  );
});

const about = { property: 'x', existing: '1', asked: '2', origin: undefined } as const;
const ofQueue = { ...about, kind: 'queue', name: 'shop' } as const;
const ofExchange = { ...about, kind: 'exchange', name: 'shop' } as const;

it('an exchange is declared as it is, for other applications may use it', () => {
  const { message } = differing([ofExchange]);
  expect(message).toContain(
    "Nothing was changed or deleted. Other applications may use the exchange: declare it as it is (option 'topology'), or leave it to " +
      'its owner with declare: false. Give the new one another name.',
  );
  expect(message).not.toContain('delete_queue');
});

it('texts of a server are short and of one line', () => {
  const text = 'NOT_FOUND \u001b[2J\r\n\u202e';
  expect(new ServerError(text, 404).message).toBe('NOT_FOUND \\x1b[2J\\x0d\\x0a\\u{202e}');
  expect(new ServerError('x'.repeat(100_000), 404).message.length).toBeLessThan(2_010);
  const shown = differing([{ ...ofQueue, existing: text + 'x'.repeat(100_000) }]).message;
  expect(shown).toContain('NOT_FOUND \\x1b[2J');
  expect(shown.length).toBeLessThan(3_000);
});
