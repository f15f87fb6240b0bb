import { describe, expect, it } from 'vitest';
import { shownLines, shownText, withoutPasswords } from './text.js';

describe('a text that a client made', () => {
  it.each([
    ['plain', 'orders.eu', 'orders.eu'],
    ['letters of other scripts and signs', 'Grüße 订单 العربية 🎉', 'Grüße 订单 العربية 🎉'],
    ['a line end', 'two\r\nlines', 'two\\x0d\\x0alines'],
    ['an escape sequence', '\u001b[2J\u001b]0;x\u0007', '\\x1b[2J\\x1b]0;x\\x07'],
    ['a sequence of one byte', '\u009b31m', '\\x9b31m'],
    ['a turn of direction', 'a\u202egnp.exe\u2066b', 'a\\u{202e}gnp.exe\\u{2066}b'],
    ['what takes no room', 'a\u200bb\u200dc\ufeffd\u00ade', 'a\\u{200b}b\\u{200d}c\\u{feff}d\\xade'],
    ['a separator of lines', 'a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
    ['hidden tags', 'a\u{e0041}b', 'a\\u{e0041}b'],
    ['an invisible letter', 'a\u3164b', 'a\\u{3164}b'],
    ['half a character', 'a\ud800b', 'a\\u{d800}b'],
  ])('is shown safely: %s', (_, text, shown) => expect(shownText(text)).toBe(shown));

  it('is cut', () => {
    expect(shownText('a'.repeat(20_000), 10)).toBe(`${'a'.repeat(10)}…`);
    expect(shownText('a'.repeat(10), 10)).toBe('a'.repeat(10));
    expect(shownText(`${'a'.repeat(9)}🎉b`, 10)).toBe(`${'a'.repeat(9)}\\u{d83c}…`);
  });

  it('keeps its lines where there may be several', () => {
    expect(shownLines('one\n\ttwo\u001b[0m\r')).toBe('one\n\ttwo\\x1b[0m\\x0d');
  });
});

describe('an URL in a text', () => {
  it.each([
    ['amqp://shop:s3cret@rabbit:5672/a is no URL', 'amqp://***@rabbit:5672/a is no URL'],
    ['amqps://shop:s3@cret@rabbit and http://a:b@c', 'amqps://***@rabbit and http://***@c'],
    ['amqp://shop:s3c/r/et@rabbit:5672/a is no URL', 'amqp://***@rabbit:5672/a is no URL'],
    ['at http://localhost:3000/@fs/a', 'at http://localhost:3000/@fs/a'],
    ['amqp://h:5672,amqp://u:p@i', 'amqp://h:5672,amqp://***@i'],
    ['http://:token@vault:8200/v1', 'http://***@vault:8200/v1'],
    [
      'at file:///app/node_modules/@nestjs/core/index.js:12:4',
      'at file:///app/node_modules/@nestjs/core/index.js:12:4',
    ],
    ['amqp://127.0.0.1:5672, mail a:b@c', 'amqp://127.0.0.1:5672, mail a:b@c'],
  ])('%s', (text, shown) => {
    expect(withoutPasswords(text)).toBe(shown);
  });
});
