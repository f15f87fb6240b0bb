import { get, put, remove, tags, type Turn, turn } from './access-turns.js';

const message = { properties: {}, routing_key: 'q', payload: 'x', payload_encoding: 'string' };
const fetching = { count: 1, ackmode: 'ack_requeue_false', encoding: 'auto' };

/** Every tag at exchanges, queues, bindings and clients: in a virtual host of one's own and in one that is closed. */
export const objects: readonly Turn[] = [
  ...['{v}', '{v}-other'].flatMap((v) => [
    put(`/queues/${v}/q`, { durable: true }),
    put(`/exchanges/${v}/x`, { type: 'direct', durable: true }),
  ]),
  ...tags.flatMap((as) => [
    ...['queues/nowhere', 'queues/nowhere/q', 'exchanges/nowhere/x', 'bindings/nowhere', 'vhosts/nowhere/channels'].map(
      (path) => get(`/${path}`, as),
    ),
    put('/queues/nowhere/mine', {}, as),
    ...['{v}', '{v}-other'].flatMap((v) => [
      get(`/queues/${v}?columns=name,vhost`, as),
      get(`/queues/${v}/q?columns=name,vhost`, as),
      get(`/queues/${v}/none`, as),
      get(`/exchanges/${v}/x?columns=name,vhost,type`, as),
      get(`/bindings/${v}?columns=source,destination`, as),
      get(`/queues/${v}/q/bindings?columns=source,destination`, as),
      get(`/vhosts/${v}/connections?columns=name`, as),
      get(`/vhosts/${v}/channels?columns=name`, as),
      get(`/consumers/${v}?columns=queue`, as),
      put(`/queues/${v}/mine`, {}, as),
      put(`/exchanges/${v}/mine`, { type: 'fanout' }, as),
      turn('POST', `/bindings/${v}/e/mine/q/mine`, { routing_key: 'k' }, { as }),
      turn('POST', `/exchanges/${v}/amq.default/publish`, message, { as }),
      turn('POST', `/queues/${v}/q/get`, fetching, { as }),
      remove(`/queues/${v}/q/contents`, as),
      turn('POST', `/queues/${v}/q/actions`, { action: 'sync' }, { as }),
      remove(`/bindings/${v}/e/mine/q/mine/k`, as),
      remove(`/queues/${v}/mine`, as),
      remove(`/exchanges/${v}/mine`, as),
    ]),
    get('/queues?columns=name,vhost', as),
    get('/exchanges?columns=name,vhost', as),
    get('/bindings?columns=source,destination,vhost', as),
    turn('POST', '/rebalance/queues', {}, { as }),
  ]),
];
