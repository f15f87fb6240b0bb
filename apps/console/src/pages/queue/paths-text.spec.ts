import { expect, it } from 'vitest';
import { noSendersText } from './paths-text';

it('says of a parking lot that messages are parked there', () => {
  expect(noSendersText({ dead_letter_queue: true, dead_letters_in: 0 })).toMatch(/^Messages are parked here/);
  expect(noSendersText({ dead_letter_queue: true, dead_letters_in: null })).toMatch(/^Messages are parked here/);
  expect(noSendersText({ dead_letter_queue: true, dead_letters_in: 3 })).toMatch(/^No queue sends/);
  expect(noSendersText({ dead_letter_queue: false, dead_letters_in: 0 })).toMatch(/^No queue sends/);
});
