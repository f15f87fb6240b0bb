import { badRequest } from '../../http/reply.js';
import type { ApiRequest } from '../../http/resource.js';
import { inTurns } from '../../http/turns.js';
import { checkMemory, type Management } from '../../management.js';
import { filterToJson } from '../input.js';
import { groupsOf, type RedriveGroup, type RedriveOrder } from '../redrives/redrive-order.js';
import { checkBodies } from './bodies.js';
import { type EditOrder, editOrderIn } from './edit-order.js';
import { declareOriginalsQueue, entryAt } from './edit-resource.js';
import { checkEdits } from './edit-rights.js';
import { RedriveEdit } from './redrive-edit.js';

/**
 * A redrive with an edit of its messages.
 * @param json the key `edit` of the request
 * @throws Problem 400 naming what is wrong, 401 or 403 if the user may not edit, 404 or 409 if the one message is not there
 */
export async function editedOrder(
  order: RedriveOrder,
  json: unknown,
  request: ApiRequest,
  management: Management,
): Promise<RedriveOrder> {
  checkEdits(request, management);
  const given = editOrderIn(json);
  checkSelection(order, given);
  if (order.keepsHistory === true) throw badRequest("'keep_history' and 'edit' exclude each other");
  if (!order.dryRun) checkMemory(management.host);
  if (given.keepsOriginal) {
    for (const queue of new Set(groupsOf(order).map((group) => group.queue)))
      declareOriginalsQueue(queue, order.dryRun, request, management);
  }
  const edit = new RedriveEdit(given, request.user, order.dryRun, await checkedOne(order, given, request, management));
  return { ...order, edit, keepsOriginal: given.keepsOriginal };
}

/** True for an edit of one message, which was named by its id. */
export const isOfOne = ({ edit, ids, groups }: RedriveOrder): boolean =>
  edit !== undefined && groups === undefined && new Set(ids).size === 1;

/** A forgotten filter would edit every message, and a body belongs to one message. @throws Problem 400 */
function checkSelection(order: RedriveOrder, { body }: EditOrder): void {
  const isChosen = ({ ids, filter }: RedriveGroup): boolean => ids !== undefined || filterToJson(filter) !== null;
  if (!groupsOf(order).every(isChosen)) throw badRequest("name the messages to edit, by 'ids' or by a 'filter'");
  if (body !== undefined && (order.groups !== undefined || new Set(order.ids).size !== 1)) {
    throw badRequest("'edit.payload' is the body of one message: name it in 'ids'; 'edit.merge_patch' changes several");
  }
}

/** Looks at the one message of an edit, and compares its body with the new one. */
async function checkedOne(
  { ids, groups, queue, vhost }: RedriveOrder,
  { body, allowsInvalid }: EditOrder,
  request: ApiRequest,
  management: Management,
) {
  const [position, ...more] = groups === undefined ? new Set(ids) : [];
  if (position === undefined || more.length > 0) return undefined;
  const of = { ...request, names: { vhost: vhost.name, name: queue.name } };
  const { message } = await entryAt(position, queue, of, management);
  if (body === undefined) return undefined;
  const sums = await inTurns(checkBodies(message, { body, allowsInvalid }), management.dlx.turns, request.signal);
  return { message, sums };
}
