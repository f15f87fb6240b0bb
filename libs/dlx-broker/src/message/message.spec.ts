import { describe, expect, it } from 'vitest';
import { recordDeath } from './deaths.js';
import { classicDialect } from './death.js';
import { Message, NotedMessage, notesOf, messageOf, PagedOut } from './message.js';
import { Notes } from './notes.js';
import { noProperties } from './properties.js';

const text = (message: Message): string => Buffer.from(message.body).toString();
const shelf = { bodyOf: ({ mark }: Message) => Buffer.from(`shelf ${mark}`) };
const first = () => new Message('x', 'key', noProperties, Buffer.from('hello'));
const death = { queue: 'q', reason: 'rejected', exchange: 'x', routingKeys: ['key'], count: 1, time: 0 } as const;
const letterOf = (message: Message, copies?: Notes['copies'], origin?: Notes['origin']) => {
  const deaths = recordDeath(message, death, undefined, classicDialect);
  return new NotedMessage('dlx', 'key', noProperties, message, Notes.of(copies, origin, deaths, 0));
};

describe('a message', () => {
  it('shares its body with the dead letter that is made of it', () => {
    const message = first();
    const letter = letterOf(message);
    expect(letter.body).toBe(message.body);
    expect([letter.size, letter.mark]).toEqual([5, 0]);
  });

  it('that was pagedOut still knows its size, and is read back when somebody asks', () => {
    const message = first();
    message.mark = 7;
    message.pageOut(new PagedOut(shelf, 5));
    expect([message.size, message.isAtHand, text(message), message.isAtHand]).toEqual([5, false, 'shelf 7', false]);
    message.fetch();
    message.mark = 8;
    expect([message.isAtHand, text(message)]).toEqual([true, 'shelf 7']);
  });

  it('that was pagedOut is read by the letters made of it, and their letters', () => {
    const message = first();
    message.mark = 7;
    message.pageOut(new PagedOut(shelf, 5));
    const letter = letterOf(message);
    const next = letterOf(letter);
    expect([letter, next].map(text)).toEqual(['shelf -7', 'shelf -7']);
    next.fetch();
    expect([next.mark, text(next)]).toEqual([0, 'shelf -7']);
    letter.mark = 9;
    expect(text(letterOf(letter))).toBe('shelf -9');
  });

  it.each([undefined, { cc: ['copy'], bcc: [] }])(
    'keeps its recorded origin when it is pinned (copies: %s)',
    (copies) => {
      const origin = { exchange: 'shop', routingKey: 'order.created', queue: 'orders' };
      const died = letterOf(first(), copies, origin);
      const retried = messageOf('', 'orders', noProperties, Buffer.from('hello'), notesOf(copies, origin));
      for (const message of [died, retried]) {
        const { origin: kept, carbonCopies, hasDied } = message.pinned(Buffer.from('hello'));
        expect([kept, carbonCopies, hasDied]).toEqual([origin, copies, message.hasDied]);
      }
      expect(first().pinned(Buffer.from('hello')).origin).toBeUndefined();
    },
  );
});
