import { checkAudience } from '../../http/auth.js';
import { Problem } from '../../http/reply.js';
import type { ApiRequest } from '../../http/resource.js';
import type { Management } from '../../management.js';

/**
 * Refuses edits that are not allowed. Every edit calls this first, besides the checks of a redrive.
 * @throws Problem 403 if edits are off at this port, 401 for a user without the tag
 */
export function checkEdits({ user }: ApiRequest, { edits }: Management): void {
  if (!edits) {
    const remedy = 'start the broker with serve --edits, or with listen: { http: { edits: true } }';
    throw new Problem(403, 'edits_off', `edits of messages are off at this port: ${remedy}`);
  }
  checkAudience(user, 'editor');
}
