import { describe, expect, it } from 'vitest';
import { policyPatterns } from '../../host/index.js';
import { loadLists, type RawRow } from './lists.js';
import { type Declared, type Mirror, mirrorOf, topologyKey } from './mirror.js';

const queue = (name: string, args: object): RawRow => ({ vhost: '/', name, type: 'classic', arguments: args });
const exchange = (name: string, type: string, args: object): RawRow => ({ vhost: '/', name, type, arguments: args });

function mirrored(rows: Partial<Declared>): Mirror {
  const none = { exchanges: [], queues: [], bindings: [], policies: [], operatorPolicies: [] };
  const lists: Declared = { version: '4.1.0', vhosts: [{ name: '/' }], ...none, ...rows };
  const work = mirrorOf(lists, topologyKey(lists), policyPatterns);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

describe('the mirror of a server', () => {
  it('has exchanges whose plugins the engine does not have, also behind a delayed exchange', () => {
    const { broker, foreignTypes, unknown } = mirrored({
      exchanges: [
        exchange('hash', 'x-consistent-hash', {}),
        exchange('later', 'x-delayed-message', { 'x-delayed-type': 'x-consistent-hash' }),
        exchange('bare', 'x-delayed-message', {}),
      ],
      queues: [queue('orders', {})],
    });
    const { exchanges, queues } = broker.virtualHosts.get('/')!;
    expect([...queues.keys()]).toEqual(['orders']);
    for (const name of ['hash', 'later', 'bare']) expect(exchanges.has(name)).toBe(true);
    expect([...foreignTypes.values()].map(({ type }) => type)).toEqual([
      'x-consistent-hash',
      'x-delayed-message',
      'x-delayed-message',
    ]);
    expect(unknown).toEqual([
      "type 'x-consistent-hash' of exchange 'hash'",
      "arguments of exchange 'later'",
      "arguments of exchange 'bare'",
    ]);
  });

  it('has queues with an argument that the engine does not know, and their other arguments', () => {
    const args = { 'x-dead-letter-exchange': 'dead', 'x-overflow': 'of-a-later-release' };
    const { broker, unknown } = mirrored({
      queues: [{ ...queue('new', args), type: 'quorum', durable: true }, queue('orders', {})],
    });
    const { queues } = broker.virtualHosts.get('/')!;
    expect([...queues.keys()].sort()).toEqual(['new', 'orders']);
    expect(queues.get('new')!.settings.deadLetterExchange).toBe('dead');
    expect(unknown).toEqual(["argument 'x-overflow' of queue 'new'"]);
  });

  it('is made of queues whose arguments a client has nested deeply', async () => {
    const levels = 20_000; // JSON.stringify cannot go so deep
    const rows = [
      `{"vhost":"/","name":"deep","arguments":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`,
      JSON.stringify(queue('orders', { 'x-max-length': 5 })),
    ];
    const answers: Readonly<Record<string, string>> = {
      overview: '{"rabbitmq_version":"3.13.7"}',
      vhosts: '[{"name":"/"}]',
      exchanges: '{"page_count":1,"items":[]}',
      queues: `{"page_count":1,"items":[${rows.join()}]}`,
    };
    const server = {
      base: 'http://rabbit',
      send: async ({ path }: { path: string }) => {
        const answer = answers[path.slice('/api/'.length).split('?')[0]!] ?? '[]';
        return { status: 200, headers: new Headers(), body: new Response(answer).body! };
      },
    };
    const caller = {
      user: { name: 'ada', tags: [], passwordHash: undefined },
      password: '',
      authorization: '',
      key: '',
      peer: '',
      isLocal: true,
    };
    const { broker, unknown } = mirrored(await loadLists(server, caller));
    const { queues } = broker.virtualHosts.get('/')!;
    expect([...queues.keys()]).toEqual(['deep', 'orders']);
    expect(queues.get('orders')!.settings.maxLength).toBe(5);
    expect(unknown).toEqual(["arguments of 'deep'"]);
  });
});
