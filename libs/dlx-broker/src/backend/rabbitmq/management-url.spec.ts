import { describe, expect, it } from 'vitest';
import { checkManagementUrl, managementApi } from './management-url.js';

const login = { user: 'ada', password: 'l' };

describe('the URL of a management API', () => {
  it.each([
    ['http://h:15672', { base: 'http://h:15672', user: 'ada', password: 'l' }],
    ['https://a%40b:p%2Fw@[::1]/prefix/', { base: 'https://[::1]/prefix', user: 'a@b', password: 'p/w' }],
  ])('%s is read', (url, api) => expect(managementApi(url, login)).toEqual(api));

  it.each([
    [7, 'is of the type number'],
    ['amqp://h', 'is no URL of HTTP'],
    ['http://u:secret%zz@h', "has a '%' in its user or password"],
  ])('%s is refused, with the option and a remedy', (url, why) => {
    const check = (): void => checkManagementUrl(url, "option 'management' of rabbitmq()");
    expect(check).toThrow("option 'management' of rabbitmq()");
    expect(check).toThrow(why);
    expect(check).toThrow("write 'http://user:password@host:15672'");
    expect(check).not.toThrow('secret');
  });
});
