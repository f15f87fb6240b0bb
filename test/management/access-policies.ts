import { get, policy, put, remove, type Turn, turn } from './access-turns.js';

const form = { 'content-type': 'application/x-www-form-urlencoded' };

export const policiesOf = (kind: string): readonly Turn[] => [
  put(`/${kind}/{v}/p`, policy),
  put(`/${kind}/{v}/p`, { ...policy, priority: 3, 'apply-to': 'queues' }),
  put(`/${kind}/{v}/p`, { ...policy, priority: 1.5, name: 'other', vhost: '/', more: 1 }),
  get(`/${kind}/{v}/p`),
  get(`/${kind}/{v}`),
  get(`/${kind}`),
  get(`/${kind}/{v}/nothing`),
  put(`/${kind}/nowhere/p`, policy),
  remove(`/${kind}/nowhere/p`),
  get(`/${kind}/nowhere`),
  put(`/${kind}/{v}/p`),
  put(`/${kind}/{v}/p`, {}),
  put(`/${kind}/{v}/p`, '{'),
  put(`/${kind}/{v}/p`, '[]'),
  put(`/${kind}/{v}/p`, { pattern: 'x' }),
  put(`/${kind}/{v}/p`, { pattern: '(', definition: {} }),
  put(`/${kind}/{v}/p`, { pattern: 'x', definition: { 'nonsense<&>': 1 } }),
  put(`/${kind}/{v}/p`, { pattern: 'x', definition: { 'dead-letter-exchange': 5 } }),
  put(`/${kind}/{v}/p`, { pattern: 'x', definition: { 'max-length': '5' } }),
  put(`/${kind}/{v}/p`, { pattern: 'x', definition: { 'message-ttl': -1 } }),
  put(`/${kind}/{v}/p`, { ...policy, priority: '3' }),
  put(`/${kind}/{v}/p`, { ...policy, priority: null }),
  put(`/${kind}/{v}/p`, { ...policy, 'apply-to': 'foo' }),
  put(`/${kind}/{v}/p`, { ...policy, pattern: 7 }),
  put(`/${kind}/{v}/p`, { ...policy, pattern: null }),
  put(`/${kind}/{v}/a%2Fb%20%C3%BC`, policy),
  get(`/${kind}/{v}/a%2Fb%20%C3%BC`),
  get(`/${kind}/{v}?columns=name,definition&sort=name&sort_reverse=true`),
  remove(`/${kind}/{v}/a%2Fb%20%C3%BC`),
  remove(`/${kind}/{v}/p`),
  remove(`/${kind}/{v}/p`),
];

export const types: readonly Turn[] = [
  '/policies/{v}/p',
  '/operator-policies/{v}/p',
  '/users/{u}bob',
  '/permissions/{v}/{u}eve',
  '/parameters/x/{v}/n',
  '/global-parameters/{u}one',
  '/vhost-limits/{v}/max-queues',
  '/topic-permissions/{v}/{u}eve',
  '/cluster-name',
].map((path) => turn('PUT', path, '[]', { headers: form }));
export const moreTypes: readonly Turn[] = ['/definitions', '/definitions/{v}', '/users/bulk-delete'].map((path) =>
  turn('POST', path, '[]', { headers: form }),
);
