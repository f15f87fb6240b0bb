import { describe, expect, it } from 'vitest';
import { collectTopology } from './collect.js';
import { unreceivedDeadLetters } from './dead-letter-paths.js';
import { binding, readTopology, type TopologyOption } from './topology-option.js';

/** The dead letters of a topology that no queue receives, written as in option `topology`. */
const unreceived = (option: TopologyOption) =>
  unreceivedDeadLetters(collectTopology(readTopology(option, 'a test'))).map(
    ({ queue, exchange, routingKey, hasBindings }) => [queue, exchange, routingKey, hasBindings],
  );

const work = (deadLetter: string | readonly [string, string]) => ({ name: 'work', deadLetter });

describe('dead letters that no queue gets (rule A7)', () => {
  it('no queue is bound to their exchange', () => {
    expect(unreceived({ queues: [work('dlx')] })).toEqual([['work', 'dlx', undefined, false]]);
    expect(unreceived({ queues: [work('dlx'), 'dead'], bindings: [binding('dlx', 'dead', '#')] })).toEqual([]);
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
    const lost = unreceived({ queues: [work(['dlx', 'failed']), 'dead'], exchanges, bindings });
    expect(lost).toEqual(isLost ? [['work', 'dlx', 'failed', true]] : []);
  });

  it('an alternate exchange takes what no binding fits', () => {
    const exchanges = [{ name: 'dlx', alternateExchange: 'rest' }];
    const bindings = [binding('dlx', 'dead', 'other')];
    expect(unreceived({ queues: [work(['dlx', 'failed']), 'dead'], exchanges, bindings })).toEqual([]);
  });

  it('the default exchange leads to a queue by its name, if there is one', () => {
    expect(unreceived({ queues: [work(['', 'gone'])] })).toEqual([['work', '', 'gone', false]]);
    expect(unreceived({ queues: [work(['', 'there']), 'there'] })).toEqual([]);
    expect(unreceived({ queues: [work('')] })).toEqual([]);
  });

  it.each([
    ['topic', 'order.created', true],
    ['topic', 'order.*', true],
    ['topic', 'dead', false],
    ['topic', 'de*d', true],
    ['topic', '*', false],
    ['topic', '#', false],
    ['topic', 'work', false],
    ['direct', 'order.created', true],
    ['direct', '#', true],
    ['fanout', 'order.created', false],
    ['headers', 'order.created', false],
  ] as const)('the default exchange without a key, and a binding to a %s exchange by %j', (type, key, isLost) => {
    const exchanges = [{ name: 'shop', type }];
    const option = { queues: [work(''), 'dead'], exchanges, bindings: [binding('shop', 'work', key)] };
    const [lost] = unreceivedDeadLetters(collectTopology(readTopology(option, 'a test')));
    expect(lost?.boundBy).toEqual(isLost ? [key] : undefined);
  });

  it('the default exchange without a key, and bindings of which some lead to a queue', () => {
    const keys = ['order.created', 'dead', 'order.paid', 'order.created'];
    const bindings = [...keys.map((key) => binding('amq.topic', 'work', key)), binding('amq.fanout', 'work', 'x')];
    const option = { queues: [work(''), 'dead'], bindings };
    const lost = unreceivedDeadLetters(collectTopology(readTopology(option, 'a test')));
    expect(lost.map(({ boundBy }) => boundBy)).toEqual([['order.created', 'order.paid']]);
  });

  it('an exchange declared elsewhere is not judged', () => {
    const exchanges = [{ name: 'theirs', declare: false }];
    expect(unreceived({ queues: [work('theirs')], exchanges })).toEqual([]);
  });
});
