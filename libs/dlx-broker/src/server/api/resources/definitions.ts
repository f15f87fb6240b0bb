import { exportBroker, exportVhost } from '../../definitions/export.js';
import { addDefinitions } from '../../definitions/load.js';
import { checkMemory } from '../../management.js';
import { type Answer, badRequest, noContent, ok } from '../../http/reply.js';
import type { ApiRequest, Resource } from '../../http/resource.js';

const accepts = ['application/json', 'multipart/form-data'];

/** An answer that a browser saves as a file, if the request names the file. */
function download(request: ApiRequest, body: unknown): Answer {
  const name = request.query.get('download');
  if (name === null) return ok(body);
  const plain = name.replaceAll(/[^\w.@-]/g, '_');
  return { ...ok(body), headers: { 'content-disposition': `attachment; filename=${plain}` } };
}

/** The definitions of a request. A form of the console sends them as a file, other clients as the body. */
async function textOf(request: ApiRequest): Promise<string> {
  const type = request.headers.get('content-type') ?? '';
  if (!type.startsWith('multipart/form-data')) return request.text();
  const bytes = await request.bytes();
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => {
    throw badRequest('failed_to_parse_multipart');
  });
  const file = form.get('file');
  if (file === null) throw badRequest('[{key_missing,file}]');
  return typeof file === 'string' ? file : file.text();
}

export const definitions: readonly Resource[] = [
  {
    path: '/definitions',
    allows: 'administrator',
    accepts,
    GET: (request, { broker }) => download(request, exportBroker(broker)),
    POST: async (request, management) => {
      checkMemory(management.host);
      await addDefinitions(management, await textOf(request), { maker: request.user.name });
      return noContent;
    },
  },
  {
    path: '/definitions/:vhost',
    allows: 'administrator',
    anyVhost: true,
    accepts,
    GET: (request, { broker }) => {
      const vhost = broker.virtualHosts.get(request.name('vhost'));
      if (vhost === undefined) throw badRequest('vhost_not_found');
      return download(request, exportVhost(broker, vhost));
    },
    POST: async (request, management) => {
      checkMemory(management.host);
      await addDefinitions(management, await textOf(request), { vhost: request.name('vhost') });
      return noContent;
    },
  },
];
