import { expect, it } from 'vitest';
import { differing } from './errors.js';

it('what differs is shown with the ways to change it', () => {
  const difference = { kind: 'queue', name: 'orders', property: 'x-message-ttl', existing: '1', asked: '2' } as const;
  expect(differing([{ ...difference, origin: 'Shop.handle' }]).message).toBe(
    "The topology does not fit what exists:\n  queue 'orders' x-message-ttl: there is 1, asked for 2 (Shop.handle)\n" +
      'Nothing was changed or deleted. Give the new one another name, or delete the old one when it is empty: by ' +
      "'dlx-broker ctl delete_queue NAME --if-empty' while the broker runs and has a port, by 'dlx-broker data remove DIR NAME' or " +
      "'dlx-broker data rename DIR NAME NEW' while nothing uses its data directory.",
  );
});
