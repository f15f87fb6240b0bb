import { describe, expect, it } from 'vitest';
import { parseCommandLine } from './command-line.js';
import { commands } from './commands.js';

const called = (name: string) => commands.find((command) => command.name === name);
const parse = (text: string) => {
  const words = text.split(' ');
  const name = words.find((word) => called(word) !== undefined) ?? '';
  return parseCommandLine(words, called(name));
};

describe('a command line', () => {
  it('has options anywhere, with a blank or an equals sign before their values', () => {
    for (const text of ['-p /v list_queues name', 'list_queues name --vhost /v', 'list_queues --vhost=/v name']) {
      const { args, options, invalid } = parse(text);
      expect([args, options.get('vhost'), invalid]).toEqual([['list_queues', 'name'], '/v', []]);
    }
  });

  it('takes everything after -- as it is, and numbers below zero everywhere', () => {
    expect(parse('list_queues -- -p').args).toEqual(['list_queues', '-p']);
    expect(parse('set_policy a b {} --priority -3').options.get('priority')).toBe(-3);
  });

  it('has short options together, of which only the last may have a value', () => {
    expect([...parse('list_queues -qsp /').options]).toEqual([
      ['quiet', true],
      ['silent', true],
      ['vhost', '/'],
    ]);
    expect(parse('list_queues -pq /').invalid).toEqual([['-p', '']]);
  });

  it.each([
    ['list_queues --bogus 3', [['--bogus', '']]],
    ['list_queues --timeout soon', [['--timeout', 'soon']]],
    ['list_queues --vhost', [['--vhost', '']]],
    ['list_queues --vhost --quiet', [['--vhost', '']]],
    ['list_queues --online=perhaps', [['--online', 'perhaps']]],
    [
      'list_queues --__proto__ x --constructor',
      [
        ['--__proto__', ''],
        ['--constructor', ''],
      ],
    ],
  ])('complains about %s', (text, invalid) => {
    expect(parse(text).invalid).toEqual(invalid);
  });

  it.each([
    'add_user ada geheim extra',
    'add_user --quiet ada geheim',
    '--vhost / change_password ada geheim',
    'authenticate_user ada geheim --bogus',
    'list_queues --password geheim',
    'list_queues --password=geheim',
    'list_queues --password -geheim',
    'list_queues --password -p/geheim',
    'list_queues --password --geheim extra --bogus',
    'list_queues --pasword geheim',
    'list_queues --passwd=geheim',
    'list_queues --Password -geheim',
    'list_queues -password geheim',
    'list_queues --ulr http://ada:geheim@host',
    'list_queues --bogus http://ada:geheim@host',
    'add_user ada ge geheim',
    'add_user ada -- -geheim',
    '--url http://ada:geheim@host list_queues',
  ])('is shown without its password: %s', (text) => {
    const { shown } = parse(text);
    expect(shown).not.toContain('geheim');
    expect(shown).toContain('***');
  });

  it('takes a password that begins with a dash, but no known option for one', () => {
    expect(parse('list_queues --password -x').options.get('password')).toBe('-x');
    expect(parse('list_queues --password -q').invalid).toEqual([['--password', '']]);
    expect(parse('list_queues --password --quiet').invalid).toEqual([['--password', '']]);
    expect(parse('--pasword geheim list_queues')).toMatchObject({
      args: ['list_queues'],
      invalid: [['--pasword', '']],
    });
  });
});
