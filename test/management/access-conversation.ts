import { definitions } from './access-definitions.js';
import { objects } from './access-objects.js';
import { parameters, vhosts } from './access-parameters.js';
import { moreTypes, policiesOf, types } from './access-policies.js';
import { door, rights } from './access-rights.js';
import { everything, put, remove, tags, type Turn } from './access-turns.js';
import { login, permissions, permissionsOfUsers, users } from './access-users.js';

const setUp: readonly Turn[] = [
  put('/vhosts/{v}', { description: 'of a test', tags: 'a, b' }),
  put('/vhosts/{v}-other'),
  ...tags.map((tag) => put(`/users/{u}${tag}`, { password: 'secret', tags: tag === 'none' ? '' : tag })),
  put('/permissions/{v}/{u}management', everything),
  put('/permissions/{v}/{u}policymaker', everything),
  put('/permissions/{v}/guest', everything),
];

const tearDown: readonly Turn[] = [
  remove('/vhosts/{v}'),
  remove('/vhosts/{v}-other'),
  ...[...tags, 'bob', 'eve'].map((tag) => remove(`/users/{u}${tag}`)),
  remove('/global-parameters/{u}one'),
];

/** Asked of both brokers, in this order. */
export const conversation: readonly (readonly [title: string, turns: readonly Turn[]])[] = [
  ['the scene is set', setUp],
  ['the door', door],
  ['every tag at every place', rights],
  ['every tag at every object', objects],
  ['users', users],
  ['permissions of new users', permissionsOfUsers],
  ['the login form', login],
  ['permissions', permissions],
  ['policies', policiesOf('policies')],
  ['operator policies', policiesOf('operator-policies')],
  ['types of bodies', [...types, ...moreTypes]],
  ['parameters and limits', parameters],
  ['virtual hosts', vhosts],
  ['definitions', definitions],
  ['the scene is struck', tearDown],
];
