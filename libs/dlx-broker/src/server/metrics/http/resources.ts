import {
  badRequest,
  type Management,
  onlyKnown,
  type ApiRequest,
  type Handler,
  type Resource,
  seenVhosts,
  TextStream,
} from '../../index.js';
import type { Meter } from '../meter.js';
import { groupNames, type PageRequest, pageOf } from '../pages.js';
import type { Endpoint } from '../scrape.js';
import { contentType } from '../text.js';

/** The parameters of a page. */
const parameters: Readonly<Record<Endpoint, readonly string[]>> = {
  aggregated: [],
  'per-object': [],
  detailed: ['family', 'vhost'],
};

/** The pages of metrics on the port of the management API, for users with the tag monitoring. */
export function metricsResources(meter: Meter): readonly Resource[] {
  const page =
    (endpoint: Endpoint): Handler =>
    async (request, management) => {
      onlyKnown(request.query.keys(), parameters[endpoint], 'parameter');
      const asked: PageRequest = {
        endpoint,
        vhosts: seenVhosts(request, management),
        families: familiesIn(request.query),
      };
      return request.method === 'HEAD' ? new Response(null, { headers }) : streamed(meter, asked, request, management);
    };
  return [
    { path: '/metrics', isOutsideApi: true, allows: 'monitor', GET: page('aggregated') },
    { path: '/metrics/per-object', isOutsideApi: true, allows: 'monitor', GET: page('per-object') },
    { path: '/metrics/detailed', isOutsideApi: true, allows: 'monitor', GET: page('detailed') },
  ];
}

/** The groups that a request for details names. @throws Problem 400 for an unknown one */
export function familiesIn(query: URLSearchParams): readonly string[] {
  const asked = query.getAll('family');
  const unknown = asked.find((name) => !groupNames.includes(name));
  if (unknown !== undefined)
    throw badRequest(`'family' is one of ${groupNames.join(', ')}, not '${unknown.slice(0, 100)}'`);
  return asked;
}

const headers = { 'content-type': contentType, 'cache-control': 'no-store' };

async function streamed(
  meter: Meter,
  asked: PageRequest,
  { signal }: ApiRequest,
  { dlx }: Management,
): Promise<Response> {
  const stream = new TextStream({ work: await pageOf(meter, asked, dlx.graphs), turns: dlx.turns });
  signal.addEventListener('abort', () => stream.close());
  if (signal.aborted) stream.close();
  return new Response(stream.body, { headers });
}
