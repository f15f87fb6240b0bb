import { describe, expect, it } from 'vitest';
import { profiles } from '../broker/index.js';
import { recordDeath } from './deaths.js';
import { Message, messageOf, NotedMessage, notesOf, StoredBody, type StoreSlot } from './message.js';
import { Notes } from './notes.js';
import { noProperties } from './properties.js';

const text = (message: Message): string => Buffer.from(message.body).toString();
const slot = (number: number) => number as unknown as StoreSlot;
/** Names the message in whose slot the store looks. */
class Stored extends StoredBody {
  readonly length = 5;
  read(message: Message): Buffer {
    const { sharesWith } = message;
    return Buffer.from(
      sharesWith === undefined ? `own ${message.slot as unknown}` : `of ${sharesWith.slot as unknown}`,
    );
  }
}
const first = () => new Message('x', 'key', noProperties, Buffer.from('hello'));
const death = { queue: 'q', reason: 'rejected', exchange: 'x', routingKeys: ['key'], count: 1, time: 0 } as const;
const letterOf = (message: Message, copies?: Notes['copies'], origin?: Notes['origin']) => {
  const deaths = recordDeath(message, death, undefined, profiles['3.10']);
  return new NotedMessage('dlx', 'key', noProperties, message, Notes.of(copies, origin, deaths, 0));
};

describe('a message', () => {
  it('shares its body with the dead letter that is made of it', () => {
    const message = first();
    const letter = letterOf(message);
    expect(letter.body).toBe(message.body);
    expect([letter.size, letter.slot, letter.sharesWith]).toEqual([5, undefined, undefined]);
  });

  it('still knows its size when its body is paged out, and reads it', () => {
    const message = first();
    message.slot = slot(7);
    message.pageOut(new Stored());
    expect([message.size, message.isLoaded, text(message), message.isLoaded]).toEqual([5, false, 'own 7', false]);
    message.load();
    message.slot = slot(8);
    expect([message.isLoaded, text(message)]).toEqual([true, 'own 7']);
  });

  it('whose body is paged out is read by the letters made of it, and by their letters', () => {
    const message = first();
    message.slot = slot(7);
    message.pageOut(new Stored());
    const letter = letterOf(message);
    const next = letterOf(letter);
    expect([letter, next].map(text)).toEqual(['of 7', 'of 7']);
    next.load();
    expect([next.slot, next.sharesWith, text(next)]).toEqual([undefined, undefined, 'of 7']);
    letter.slot = slot(9);
    expect([letter.sharesWith, text(letterOf(letter))]).toEqual([undefined, 'of 9']);
  });

  it('is pinned as it is, unless a store has its body', () => {
    const message = first();
    expect(message.pinned(Buffer.from('other'))).toBe(message);
    const letter = letterOf(message);
    letter.pageOut(new Stored());
    expect(text(letter.pinned(Buffer.from('other')))).toBe('other');
    message.slot = slot(7);
    const pinned = message.pinned(Buffer.from('other'));
    message.pageOut(new Stored());
    expect([pinned.slot, text(pinned), text(letterOf(message).pinned(pinned.body))]).toEqual([
      undefined,
      'other',
      'other',
    ]);
  });

  it.each([undefined, { cc: ['copy'], bcc: [] }])(
    'keeps its recorded origin when it is pinned (copies: %s)',
    (copies) => {
      const origin = { exchange: 'shop', routingKey: 'order.created', queue: 'orders' };
      const died = letterOf(first(), copies, origin);
      const retried = messageOf('', 'orders', noProperties, Buffer.from('hello'), notesOf(copies, origin));
      for (const message of [died, retried]) {
        message.slot = slot(1);
        const { origin: kept, carbonCopies, hasDied } = message.pinned(Buffer.from('hello'));
        expect([kept, carbonCopies, hasDied]).toEqual([origin, copies, message.hasDied]);
      }
      const published = first();
      published.slot = slot(1);
      expect(published.pinned(Buffer.from('hello')).origin).toBeUndefined();
    },
  );
});
