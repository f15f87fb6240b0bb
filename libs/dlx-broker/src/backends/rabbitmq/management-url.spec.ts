import { describe, expect, it } from 'vitest';
import type { OpenLink } from './link.js';
import { apiFor, checkManagementUrl, managementApi } from './management-url.js';

const login = { user: 'ada', password: 'l' };

describe('the URL of a management API', () => {
  it.each([
    ['http://h:15672', { base: 'http://h:15672', user: 'ada', password: 'l' }],
    ['https://a%40b:p%2Fw@[::1]/prefix/', { base: 'https://[::1]/prefix', user: 'a@b', password: 'p/w' }],
  ])('%s is read', (url, api) => expect(managementApi(url, login)).toEqual(api));

  it.each([
    [7, 'is of the type number'],
    ['amqp://h', 'is no URL of HTTP'],
    ['', 'is empty'],
    ['http://u:secret#x@h:15672', "is no URL of HTTP (in a password '#' is written %23"],
    ['http://u:12#secret@h:15672', "is no URL of HTTP (in a password '#' is written %23"],
    ['http://u:secret%zz@h', "has a '%' in its user or password"],
  ])('%s is refused, with the option and a remedy', (url, why) => {
    const check = (): void => checkManagementUrl(url, "option 'management' of rabbitmq()");
    expect(check).toThrow("option 'management' of rabbitmq()");
    expect(check).toThrow(why);
    expect(check).toThrow("write 'http://user:password@host:15672'");
    expect(check).not.toThrow('secret');
  });
});

describe('the HTTP port that a dlx-broker announces', () => {
  const link = (isSecure: boolean, http: OpenLink['server']['http']): OpenLink =>
    ({ server: { http }, address: { host: '::1', isSecure }, credentials: login }) as unknown as OpenLink;

  it('is used where the connection has no TLS either', () => {
    expect(apiFor(link(false, { port: 15672, isSecure: false }))).toEqual({ base: 'http://[::1]:15672', ...login });
  });

  it.each([
    ['a connection with TLS, whose login would be sent without TLS', link(true, { port: 15672, isSecure: false })],
    ['a port with TLS, which may have another certificate', link(false, { port: 15672, isSecure: true })],
    ['a server without the port', link(false, undefined)],
  ])('is not used for %s', (_, of) => expect(apiFor(of)).toBeUndefined());

  it('is not asked where option management names another', () => {
    const to = 'https://h:1';
    expect(apiFor(link(true, { port: 15672, isSecure: false }), to)).toEqual({ base: to, ...login });
  });
});
