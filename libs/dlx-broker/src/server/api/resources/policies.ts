import { type Policy, PolicyError, type VirtualHost } from '../../../engine/broker/index.js';
import type { JsonObject } from '../../http/body.js';
import { badRequest, escapedRequest, noContent, notFound, type Problem, put } from '../../http/reply.js';
import type { Resource } from '../../http/resource.js';
import { one, type Row, wholeList } from '../lists.js';

/** The two kinds of policies, and how they differ in the HTTP API of RabbitMQ. */
export const policyKinds = {
  policies: {
    of: (vhost: VirtualHost) => vhost.policies.user,
    set: 'setPolicy',
    delete: 'deletePolicy',
    refusal: escapedRequest,
    allows: 'policymaker',
    allowsChange: 'policymaker',
    accepts: undefined,
  },
  'operator-policies': {
    of: (vhost: VirtualHost) => vhost.policies.operator,
    set: 'setOperatorPolicy',
    delete: 'deleteOperatorPolicy',
    refusal: badRequest,
    allows: 'administrator',
    allowsChange: 'administrator',
    accepts: ['application/json'],
  },
} as const;

type PolicyKind = keyof typeof policyKinds;

const policyToJson = (vhost: string, { name, pattern, applyTo, definition, priority }: Policy): Row => ({
  vhost,
  name,
  pattern,
  'apply-to': applyTo,
  definition: Object.fromEntries(definition),
  priority,
});

export const policyRows = (kind: PolicyKind, vhosts: readonly VirtualHost[]): readonly Row[] =>
  vhosts.flatMap((vhost) =>
    policyKinds[kind]
      .of(vhost)
      .list()
      .map((policy) => policyToJson(vhost.name, policy)),
  );

/**
 * Sets a policy, for requests and for definitions.
 * @param refusal makes an error of RabbitMQ's text
 * @throws Problem
 */
export function setPolicy(
  kind: PolicyKind,
  vhost: VirtualHost,
  name: string,
  json: JsonObject,
  refusal: (reason: string) => Problem = policyKinds[kind].refusal,
): 'created' | 'changed' {
  const { pattern, definition, priority } = json;
  const applyTo = json['apply-to'];
  try {
    return vhost[policyKinds[kind].set](name, { pattern, definition, applyTo, priority });
  } catch (error) {
    throw error instanceof PolicyError ? refusal(error.message) : error;
  }
}

function resourcesOf(kind: PolicyKind): readonly Resource[] {
  const { of, allowsChange, accepts, delete: remove } = policyKinds[kind];
  return [
    {
      path: `/${kind}`,
      allows: 'management',
      GET: (request, management) => wholeList(request, management, policyRows(kind, management.vhostsOf(request.user))),
    },
    {
      path: `/${kind}/:vhost`,
      allows: 'management',
      GET: (request, management) =>
        wholeList(request, management, policyRows(kind, [management.vhost(request.name('vhost'))])),
    },
    {
      path: `/${kind}/:vhost/:name`,
      allows: policyKinds[kind].allows,
      allowsChange,
      ...(accepts !== undefined && { accepts }),
      GET: (request, management) => {
        const vhost = management.vhost(request.name('vhost'));
        const policy = of(vhost).get(request.name('name'));
        if (policy === undefined) throw notFound();
        return one(request, policyToJson(vhost.name, policy));
      },
      PUT: async ({ name, body }, management) => {
        const json = await body('pattern', 'definition');
        return put(setPolicy(kind, management.vhost(name('vhost')), name('name'), json));
      },
      DELETE: ({ name }, management) => {
        if (!management.vhost(name('vhost'))[remove](name('name'))) throw notFound();
        return noContent;
      },
    },
  ];
}

export const policies: readonly Resource[] = [...resourcesOf('policies'), ...resourcesOf('operator-policies')];
