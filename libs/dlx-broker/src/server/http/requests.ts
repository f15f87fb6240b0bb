import { getRequestListener } from '@hono/node-server';
import type { Api } from './app.js';
import type { Answering } from './http-port.js';

export { createApi } from './app.js';

/** Answers the requests of a port by an API. With the API it is the larger part of this wing, so a port loads both with its first request. */
export function answeredBy(api: Pick<Api, 'fetch'>): Answering {
  const visits = new WeakMap<object, unknown>();
  const answer = getRequestListener((request, env) => api.fetch(request, { ...env, visit: visits.get(env.outgoing) }), {
    overrideGlobalObjects: false,
    hostname: 'localhost', // of a request of HTTP/1.0 without a Host header, as load balancers send it
  });
  return (request, response, visit) => {
    visits.set(response, visit);
    void answer(request, response);
  };
}
