import { describe, expect, it } from 'vitest';
import { isSamePlace, placeOf, shownPlace } from './places.js';

const of = (text: string | undefined, vhost?: string) => placeOf(text, 'from', 'q', vhost);

describe('a place of a move', () => {
  it.each<[string, object]>([
    ['amqp://host', { host: 'host', port: 5672, user: 'guest', password: 'guest', vhost: '/', isSecure: false }],
    ['amqps://a:b%40c@host:1/%2Forders', { port: 1, user: 'a', password: 'b@c', vhost: '/orders', isSecure: true }],
    ['amqp://[::1]/orders', { host: '::1', port: 5672, vhost: 'orders' }],
    ['./data', { kind: 'directory', directory: './data', vhost: '/' }],
  ])('reads %s', (text, expected) => {
    expect(of(text)).toMatchObject(expected);
  });

  it('is shown without a password', () => {
    expect(shownPlace(of('amqp://ada:secret@[::1]:7/v'))).toBe("queue 'q' in vhost 'v' of [::1]:7");
    expect(shownPlace(of('data', 'v'))).toBe("queue 'q' in vhost 'v' of data");
  });

  it('is compared without user and password', () => {
    expect(isSamePlace(of('amqp://ada:x@host'), of('amqp://host:5672/%2F'))).toBe(true);
    expect(isSamePlace(of('amqp://host/a'), of('amqp://host/b'))).toBe(false);
  });

  it.each([
    undefined,
    '',
    'http://ada:secret@host',
    'amqp://',
    'amqp://ada:secr%ZZet@host',
    'amqp://host/?heartbeat=5',
    'amqp://host/a/b',
  ])('is not %j', (text) => {
    expect(() => of(text)).toThrow(/^--from /);
    expect(() => of(text)).not.toThrow(/secr/);
  });
});
