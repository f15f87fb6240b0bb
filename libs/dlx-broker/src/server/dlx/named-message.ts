import type { Entry, Queue } from '../../engine/broker/index.js';
import { badRequest, notFound } from '../http/reply.js';
import type { ApiRequest } from '../http/resource.js';

/**
 * The position of the message that the path names.
 * @throws Problem 400
 */
export function positionNamed({ names }: ApiRequest): number {
  const id = names['id'] ?? '';
  if (!/^\d{1,16}$/.test(id)) throw badRequest(`'${id}' is no id of a message`);
  return Number(id);
}

/**
 * The message that the path names.
 * @throws Problem 404 if it is not ready any more
 */
export function entryNamed(request: ApiRequest, queue: Queue): Entry {
  const entry = queue.find(positionNamed(request));
  if (entry === undefined) throw notFound();
  return entry;
}
