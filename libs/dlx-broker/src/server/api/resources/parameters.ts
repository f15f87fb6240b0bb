import type { VirtualHost } from '../../../engine/broker/index.js';
import { type Audience, checkAudience } from '../../http/auth.js';
import { type JsonObject, textIn } from '../../http/body.js';
import { badRequest, escapedRequest, noContent, notFound, ok, type Problem, put } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import { one, type Row, wholeList, without } from '../lists.js';
import { policyKinds, policyRows, setPolicy } from './policies.js';
import { clearLimits, limitsOf, setLimits } from './vhosts.js';

/** A kind of parameters of virtual hosts. RabbitMQ keeps them as parameters; here the virtual host has them. */
interface Component {
  /** The tag for changes, the same as on the path of the component itself (rule V7). */
  readonly allowsChange: Audience;
  /** The parameters of a virtual host, by name. */
  list(vhost: VirtualHost): ReadonlyMap<string, unknown>;
  /** @throws Problem */
  set(vhost: VirtualHost, name: string, value: JsonObject, refusal: (reason: string) => Problem): 'created' | 'changed';
  delete(vhost: VirtualHost, name: string): boolean;
}

const limitsName = 'limits';

/** The components of RabbitMQ without plugins. */
const components: ReadonlyMap<string, Component> = new Map<string, Component>([
  [
    'vhost-limits',
    {
      allowsChange: 'administrator',
      list: (vhost) => (vhost.limits.list().size === 0 ? new Map() : new Map([[limitsName, limitsOf(vhost)]])),
      set: (vhost, name, value, refusal) => {
        if (name !== limitsName) throw refusal(`Validation failed\n\nthe limits of a virtual host are called limits\n`);
        const existed = vhost.limits.list().size > 0;
        const before = vhost.limits.list();
        setLimits(vhost, value, refusal);
        for (const limit of before.keys()) if (value[limit] === undefined) vhost.limits.delete(limit);
        return existed ? 'changed' : 'created';
      },
      delete: (vhost, name) => name === limitsName && clearLimits(vhost),
    },
  ],
  [
    'operator_policy',
    {
      allowsChange: policyKinds['operator-policies'].allowsChange,
      list: (vhost) =>
        new Map(
          policyRows('operator-policies', [vhost]).map((row) => [
            String(row['name']),
            without(without(row, 'vhost'), 'name'),
          ]),
        ),
      set: (vhost, name, value, refusal) => {
        const missing = ['pattern', 'definition', 'priority'].find((key) => value[key] === undefined);
        if (missing !== undefined) throw refusal(`Validation failed\n\nKey "${missing}" not found in ${name}\n`);
        return setPolicy('operator-policies', vhost, name, value, refusal);
      },
      delete: (vhost, name) => vhost.deleteOperatorPolicy(name),
    },
  ],
]);

/** @param only the component to show; default: all */
export function parameterRows(vhosts: readonly VirtualHost[], only?: string): readonly Row[] {
  const asked = [...components].filter(([component]) => only === undefined || component === only);
  return vhosts.flatMap((vhost) =>
    asked.flatMap(([component, { list }]) =>
      [...list(vhost)].map(([name, value]) => ({ value, vhost: vhost.name, component, name })),
    ),
  );
}

/**
 * Sets a parameter, for requests and for definitions.
 * @throws Problem
 */
export function setParameter(
  vhost: VirtualHost,
  component: string,
  name: string,
  value: unknown,
  refusal: (reason: string) => Problem,
): 'created' | 'changed' {
  const known = components.get(component);
  if (component === 'policy') throw badRequest('policies may not be set using this method');
  if (known === undefined) throw refusal(`Validation failed\n\ncomponent ${component} not found\n`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal('Validation failed\n\nthe value should be an object\n');
  }
  return known.set(vhost, name, value as JsonObject, refusal);
}

const sortedBy = ['vhost', 'component', 'name'];

const getAll: Handler = (request, management) =>
  wholeList(request, management, parameterRows(management.vhostsOf(request.user)), sortedBy);

const getOfComponent: Handler = (request, management) => {
  const vhosts = management.vhostsOf(request.user);
  return wholeList(request, management, parameterRows(vhosts, request.name('component')), sortedBy);
};

const getOfVhost: Handler = (request, management) => {
  const vhost = management.vhost(request.name('vhost'));
  return wholeList(request, management, parameterRows([vhost], request.name('component')), sortedBy);
};

function find(name: (of: string) => string, management: Management): Row {
  const rows = parameterRows([management.vhost(name('vhost'))], name('component'));
  const row = rows.find((each) => each['name'] === name('name'));
  if (row === undefined) throw notFound();
  return row;
}

const getOne: Handler = (request, management) => one(request, find(request.name, management));

/**
 * Checks the tag for changes of a component, before the rest of the request.
 * @throws Problem 401
 */
function checkChange({ name, user }: ApiRequest): void {
  checkAudience(user, components.get(name('component'))?.allowsChange ?? 'policymaker');
}

const putOne: Handler = async (request, management) => {
  const { name, body } = request;
  checkChange(request);
  const { value } = await body('value');
  const vhost = management.vhost(name('vhost'));
  return put(setParameter(vhost, name('component'), name('name'), value, escapedRequest));
};

const deleteOne: Handler = (request, management) => {
  const { name } = request;
  checkChange(request);
  const vhost = management.vhost(name('vhost'));
  if (components.get(name('component'))?.delete(vhost, name('name')) !== true) throw notFound();
  return noContent;
};

export const parameters: readonly Resource[] = [
  { path: '/parameters', allows: 'policymaker', GET: getAll },
  { path: '/parameters/:component', allows: 'policymaker', GET: getOfComponent },
  { path: '/parameters/:component/:vhost', allows: 'policymaker', GET: getOfVhost },
  {
    path: '/parameters/:component/:vhost/:name',
    allows: 'policymaker',
    GET: getOne,
    PUT: putOne,
    DELETE: deleteOne,
  },
];

/** Parameters that have a path of their own as well, and who may change them on both paths (rule V7). */
const changedBy: ReadonlyMap<string, Audience> = new Map([
  ['cluster_name', 'administrator'],
  ['internal_cluster_id', 'administrator'],
]);

/** @throws Problem 401 */
const checkGlobalChange = ({ name, user }: ApiRequest): void =>
  checkAudience(user, changedBy.get(name('name')) ?? 'policymaker');

export const globalParameters: readonly Resource[] = [
  {
    path: '/global-parameters',
    allows: 'policymaker',
    GET: (request, management) => wholeList(request, management, [...management.broker.parameters.list()], ['name']),
  },
  {
    path: '/global-parameters/:name',
    allows: 'policymaker',
    GET: (request, { broker }) => {
      const name = request.name('name');
      if (!broker.parameters.has(name)) throw notFound();
      return one(request, { value: broker.parameters.get(name), name });
    },
    PUT: async (request, { broker }) => {
      const { name, body } = request;
      checkGlobalChange(request);
      const { value } = await body('value');
      return put(broker.parameters.set(name('name'), value));
    },
    DELETE: (request, { broker }) => {
      const { name } = request;
      checkGlobalChange(request);
      if (!broker.parameters.delete(name('name'))) throw notFound();
      return noContent;
    },
  },
  {
    path: '/cluster-name',
    allows: 'management',
    allowsChange: 'administrator',
    GET: (_, management) => ok({ name: management.clusterName }),
    PUT: async ({ body }, { broker }) => {
      const name = textIn(await body('name'), 'name');
      if (name === undefined || name === '') throw badRequest('name should be a string');
      broker.parameters.set('cluster_name', name);
      return noContent;
    },
  },
];
