import { expect, it } from 'vitest';
import { audiences } from '../../server/http/auth.js';
import { harness } from '../../nest/testing/harness.js';
import { doubtsAbout, grantingTags } from './served-user.js';

it('names tags that grant nothing, and users who can do nothing', () => {
  const { access } = harness().broker;
  const all = { configure: '.*', write: '.*', read: '.*' };
  access.setUser('ada', { tags: ['admin', 'management'] });
  access.setUser('bob');
  access.setUser('cleo');
  access.setPermissions('cleo', '/', all);
  access.setUser('operator', { tags: ['administrator'] });
  expect(doubtsAbout(access)).toEqual([
    "user 'ada' has the tag 'admin', which grants nothing; tags that do: administrator, policymaker, monitoring, management, editor, impersonator",
    "user 'bob' has no permissions in any virtual host and no tags, so a client can do nothing as this user",
  ]);
});

it('knows the tags of the management API, and the one of rule K7', () => {
  const tags = Object.values(audiences).flatMap((audience) => audience.tags);
  expect([...new Set([...tags, 'impersonator'])].toSorted()).toEqual(grantingTags.toSorted());
});
