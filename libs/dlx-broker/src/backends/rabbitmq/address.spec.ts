import { describe, expect, it } from 'vitest';
import { parseAddress, parseAddresses, placeOf } from './address.js';

const parse = (url: unknown) => parseAddress(url, "option 'urls' of rabbitmq()");

describe('the URL of a server', () => {
  it.each([
    ['amqp://localhost', { host: 'localhost', port: 5672, isSecure: false, virtualHost: '/', user: undefined }],
    ['amqps://rabbit-1', { host: 'rabbit-1', port: 5671, isSecure: true }],
    ['amqp://u:p@h:1/shop', { host: 'h', port: 1, virtualHost: 'shop', user: 'u', password: 'p' }],
    ['amqp://a%40b:p%3Aq@h/%2Fx', { virtualHost: '/x', user: 'a@b', password: 'p:q' }],
    ['amqp://h/', { virtualHost: '/' }],
    ['amqp://u:p%23w@h/v@w', { host: 'h', virtualHost: 'v@w', password: 'p#w' }],
    ['amqp://[::1]:5673', { host: '::1', port: 5673 }],
  ])('%s is read', (url, address) => expect(parse(url)).toMatchObject(address));

  it.each([
    [7, 'is of the type number'],
    ['localhost', 'is no URL'],
    ['', "is empty; write 'amqp://host:5672/vhost'"],
    [' ', 'is empty; write'],
    ['amqp://u:sec#ret@h', "is no URL (in a password '#' is written %23"],
    ['amqp://u:12#secret@h', "in a password '#' is written %23"],
    ['amqp://u:sec@ret#1@h', "in a password '#' is written %23"],
    ['amqp://u:sec/ret@h', "'/' %2F"],
    ['amqp://u:sec?ret@h', "'?' %3F"],
    ['amqp://h:port/v', 'is no URL'],
    ['amqp://h/v#x@y', 'has parameters behind the virtual host'],
    ['http://h', "begins with 'http://'"],
    ['amqp:///shop', 'names no host'],
    ['amqp://h/a/b', "has a '/' in its virtual host"],
    ['amqp://h?heartbeat=5', 'are options of rabbitmq()'],
    ['amqp://h/%zz', "with a '%' that encodes nothing"],
    ['amqp://u:secret%zz@h', 'has a password'],
  ])('%s is refused, with the option and a remedy', (url, why) => {
    expect(() => parse(url)).toThrow("option 'urls' of rabbitmq()");
    expect(() => parse(url)).toThrow(why);
    expect(() => parse(url)).not.toThrow(/secret|sec|ret/);
  });

  it('several are one cluster: they share the virtual host', () => {
    expect(parseAddresses(['amqp://a/x', 'amqp://b/x'], 'urls').map(placeOf)).toEqual(['a:5672', 'b:5672']);
    expect(() => parseAddresses(['amqp://a/x', 'amqp://b'], 'urls')).toThrow("several virtual hosts ('x', '/')");
    expect(() => parseAddresses([], 'urls')).toThrow('urls is an empty list');
    expect(() => parseAddresses(['amqp://a', 'b'], 'urls')).toThrow('urls[1] is no URL');
  });
});
