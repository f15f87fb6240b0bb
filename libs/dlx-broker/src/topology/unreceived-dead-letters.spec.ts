import { describe, expect, it } from 'vitest';
import { binding, readTopology, type TopologyOption } from './declare-words.js';
import { collectTopology } from './collect.js';
import { unheardDeadLetters } from './unheard-dead-letters.js';

/** What is unheard of a topology in the words of option `topology`. */
const unheard = (option: TopologyOption) =>
  unheardDeadLetters(collectTopology(readTopology(option, 'a test'))).map(
    ({ queue, exchange, routingKey, hasBindings }) => [queue, exchange, routingKey, hasBindings],
  );

const work = (deadLetter: string | readonly [string, string]) => ({ name: 'work', deadLetter });

describe('dead letters that no queue gets (rule A7)', () => {
  it('no queue is bound to their exchange', () => {
    expect(unheard({ queues: [work('dlx')] })).toEqual([['work', 'dlx', undefined, false]]);
    expect(unheard({ queues: [work('dlx'), 'dead'], bindings: [binding('dlx', 'dead', '#')] })).toEqual([]);
  });

  it.each([
    ['topic', 'other', true],
    ['topic', 'fail.*', true],
    ['topic', 'failed', false],
    ['topic', '#', false],
    ['direct', '#', true],
    ['direct', 'failed', false],
    ['fanout', 'other', false],
    ['headers', 'other', false],
  ] as const)("their key 'failed' and a binding of a %s exchange by '%s'", (type, key, isLost) => {
    const exchanges = [{ name: 'dlx', type }];
    const bindings = [binding('dlx', 'dead', key)];
    const lost = unheard({ queues: [work(['dlx', 'failed']), 'dead'], exchanges, bindings });
    expect(lost).toEqual(isLost ? [['work', 'dlx', 'failed', true]] : []);
  });

  it('an alternate exchange takes what no binding fits', () => {
    const exchanges = [{ name: 'dlx', alternateExchange: 'rest' }];
    const bindings = [binding('dlx', 'dead', 'other')];
    expect(unheard({ queues: [work(['dlx', 'failed']), 'dead'], exchanges, bindings })).toEqual([]);
  });

  it('the default exchange leads to a queue by its name, if there is one', () => {
    expect(unheard({ queues: [work(['', 'gone'])] })).toEqual([['work', '', 'gone', false]]);
    expect(unheard({ queues: [work(['', 'there']), 'there'] })).toEqual([]);
    expect(unheard({ queues: [work('')] })).toEqual([]);
  });

  it('an exchange declared elsewhere is not judged', () => {
    const exchanges = [{ name: 'theirs', declare: false }];
    expect(unheard({ queues: [work('theirs')], exchanges })).toEqual([]);
  });
});
