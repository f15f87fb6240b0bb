import { describe, expect, it } from 'vitest';
import { addressOf } from './api.js';

const of = (options: Record<string, string>, env: Record<string, string> = {}) => addressOf(options, env);

describe('the address of a management API', () => {
  it('is that of a new broker on this machine', () => {
    expect(of({})).toMatchObject({ base: 'http://127.0.0.1:15672', user: 'guest', password: 'guest' });
  });

  it('is taken from the environment, before which the command line goes', () => {
    const env = {
      DLX_BROKER_URL: 'https://broker.example/prefix/',
      DLX_BROKER_USER: 'ada',
      DLX_BROKER_PASSWORD: 'geheim',
    };
    expect(of({}, env)).toMatchObject({ base: 'https://broker.example/prefix', user: 'ada', password: 'geheim' });
    expect(of({ user: 'eve', url: 'http://[::1]:1' }, env)).toMatchObject({ base: 'http://[::1]:1', user: 'eve' });
  });

  it('may hold user and password, which are not shown', () => {
    const { base, user, password } = of({ url: 'http://a%40b:p%2Fw@broker:15672' });
    expect({ base, user, password }).toEqual({ base: 'http://broker:15672', user: 'a@b', password: 'p/w' });
  });

  it.each<[string, Record<string, string>, string]>([
    ['no address', { url: 'ada:geheim@broker' }, 'not the address of a management API'],
    ['no user on another machine', { url: 'http://broker:15672' }, 'who asks http://broker:15672?'],
    ['a user without a password', { user: 'ada' }, "user 'ada' needs a password"],
  ])('refuses %s', (_, options, text) => {
    expect(() => of(options)).toThrow(text);
    expect(() => of(options)).not.toThrow('geheim');
  });
});
