import { describe, expect, it } from 'vitest';
import { DeadLetteredMessage, Message, messageOf, noProperties, Shelved } from './message.js';

const text = (message: Message): string => Buffer.from(message.body).toString();
const shelf = { bodyOf: ({ mark }: Message) => Buffer.from(`shelf ${mark}`) };
const first = () => new Message('x', 'key', noProperties, Buffer.from('hello'));

describe('a message', () => {
  it('shares its body with the dead letter that is made of it', () => {
    const message = first();
    const letter = new DeadLetteredMessage('dlx', 'key', noProperties, message);
    expect(letter.body).toBe(message.body);
    expect([letter.size, letter.mark]).toEqual([5, 0]);
  });

  it('that was shelved still knows its size, and is read back when somebody asks', () => {
    const message = first();
    message.mark = 7;
    message.shelve(new Shelved(shelf, 5));
    expect([message.size, message.isAtHand, text(message), message.isAtHand]).toEqual([5, false, 'shelf 7', false]);
    message.fetch();
    message.mark = 8;
    expect([message.isAtHand, text(message)]).toEqual([true, 'shelf 7']);
  });

  it('that was shelved is read by the letters made of it, and their letters', () => {
    const message = first();
    message.mark = 7;
    message.shelve(new Shelved(shelf, 5));
    const letter = new DeadLetteredMessage('dlx', 'key', noProperties, message);
    const next = new DeadLetteredMessage('dlx', 'key', noProperties, letter);
    expect([letter, next].map(text)).toEqual(['shelf -7', 'shelf -7']);
    next.fetch();
    expect([next.mark, text(next)]).toEqual([0, 'shelf -7']);
    letter.mark = 9;
    expect(text(new DeadLetteredMessage('dlx', 'key', noProperties, letter))).toBe('shelf -9');
  });

  it.each([undefined, { cc: ['copy'], bcc: [] }])(
    'keeps its recorded origin when it is pinned (copies: %s)',
    (copies) => {
      const origin = { exchange: 'shop', routingKey: 'order.created', queue: 'orders' };
      const died = new DeadLetteredMessage('dlx', 'key', noProperties, first(), copies, origin);
      const retried = messageOf('', 'orders', noProperties, Buffer.from('hello'), copies, origin);
      for (const message of [died, retried]) {
        const { origin: kept, carbonCopies, hasDied } = message.pinned(Buffer.from('hello'));
        expect([kept, carbonCopies, hasDied]).toEqual([origin, copies, message.hasDied]);
      }
      expect(first().pinned(Buffer.from('hello')).origin).toBeUndefined();
    },
  );
});
