import type { Access } from '../../engine/broker/index.js';

/** The tags that grant something. RabbitMQ permits others, which mean something to plugins. */
export const grantingTags = ['administrator', 'policymaker', 'monitoring', 'management', 'editor', 'impersonator'];

/** Lines for the operator about users whose settings are permitted, and are likely to be a mistake. */
export function doubtsAbout(access: Access): readonly string[] {
  const permitted = new Set(access.listPermissions().map(({ user }) => user));
  return access.users().flatMap(({ name, tags }) => {
    const lines = tags
      .filter((tag) => !grantingTags.includes(tag))
      .map(
        (tag) => `user '${name}' has the tag '${tag}', which grants nothing; tags that do: ${grantingTags.join(', ')}`,
      );
    if (tags.length === 0 && !permitted.has(name))
      lines.push(
        `user '${name}' has no permissions in any virtual host and no tags, so a client can do nothing as this user`,
      );
    return lines;
  });
}
