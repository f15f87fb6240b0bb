import { describe, expect, it } from 'vitest';
import { policyPatterns } from '../../../platform/patterns.js';
import { Access, type AccessKind, type Right } from './access.js';
import type { Permissions } from '../declarations.js';
import { PatternError } from '../patterns.js';
import { profiles } from '../profile.js';

const nothing: Permissions = { configure: '', write: '', read: '' };

function arrange(permissions: Partial<Permissions>) {
  const access = new Access(policyPatterns, profiles['3.10']);
  access.setUser('U', { tags: ['monitoring'] });
  access.setPermissions('U', 'V', { ...nothing, ...permissions });
  const may = (right: Right, kind: AccessKind, name: string, vhost = 'V') => {
    try {
      access.check('U', vhost, right, kind, name);
      return true;
    } catch {
      return false;
    }
  };
  return { access, may };
}

describe('a permission', () => {
  it('holds in one virtual host, until it is revoked (rule N1)', () => {
    const { may, access } = arrange({ read: '.*' });
    expect(may('read', 'queue', 'q', 'other')).toBe(false);
    expect(access.mayEnter('U', 'V')).toBe(true);
    expect(access.mayEnter('U', 'other')).toBe(false);
    expect(access.setPermissions('U', 'V', nothing)).toBe('changed');
    expect(may('read', 'queue', 'q')).toBe(false);
    expect(access.mayEnter('U', 'V')).toBe(true);
    expect(access.deletePermissions('U', 'V')).toBe(true);
    expect(access.deletePermissions('U', 'V')).toBe(false);
    expect(access.mayEnter('U', 'V')).toBe(false);
  });

  it('must be valid patterns, or nothing changes', () => {
    const { access } = arrange({ read: '.*' });
    expect(() => access.setPermissions('U', 'V', { ...nothing, write: '(' })).toThrow(PatternError);
    expect(access.permissions('U', 'V')).toEqual({ user: 'U', vhost: 'V', configure: '', write: '', read: '.*' });
  });

  it('remembers many names without keeping them all', () => {
    const { may } = arrange({ read: '^q\\d*[02468]$' });
    for (let n = 0; n < 3_000; n++) expect(may('read', 'queue', `q${n}`)).toBe(n % 2 === 0);
    expect(may('read', 'queue', 'q0')).toBe(true);
  });
});

describe('a user', () => {
  it('comes, changes and goes with all permissions', () => {
    const { access } = arrange({ read: '.*' });
    expect(access.setUser('U', { passwordHash: 'hash' })).toBe('changed');
    expect(access.user('U')).toEqual({ name: 'U', tags: [], passwordHash: 'hash' });
    expect(access.mayEnter('U', 'V')).toBe(true);
    expect(access.setUser('W')).toBe('created');
    expect(access.users().map((user) => user.name)).toEqual(['U', 'W']);
    expect(access.deleteUser('U')).toBe(true);
    expect(access.deleteUser('U')).toBe(false);
    expect(access.mayEnter('U', 'V')).toBe(false);
    expect(access.listPermissions()).toEqual([]);
  });

  it('loses the permissions of a deleted virtual host', () => {
    const { access } = arrange({ read: '.*' });
    access.setPermissions('U', 'other', nothing);
    access.forgetVirtualHost('V');
    expect(access.listPermissions().map((each) => each.vhost)).toEqual(['other']);
  });
});

it('an invalid pattern is reported with its user, its virtual host and its right', () => {
  const access = new Access(policyPatterns, profiles['3.10']);
  const wrong = { configure: '.*', write: '(', read: '.*' };
  expect(() => access.setPermissions('ada', '/', wrong)).toThrow(
    "the write permission '(' of user 'ada' in vhost '/' is no regular expression: missing ) at 1",
  );
});
