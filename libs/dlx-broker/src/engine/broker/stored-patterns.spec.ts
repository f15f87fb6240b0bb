import { describe, expect, it } from 'vitest';
import { policyPatterns } from '../../platform/patterns.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { MemoryJournal } from '../../../../../test/durability/memory-journal.js';
import { Broker } from './broker.js';
import { PatternError, type Patterns } from './patterns.js';
import { PolicyError } from './policy/policy.js';

const anything: Patterns = { compile: () => ({ matches: () => true }) };
const large = '(a)'.repeat(11_000);
const fault = 'regular expression is too large at 33000';

/** A broker restored from what one stored that refused no pattern. */
function restored(store: (broker: Broker) => void): Broker {
  const [clock, journal] = [new ManualClock(), new MemoryJournal()];
  const start = (patterns: Patterns): Broker => new Broker({ clock, journal, names: new CountedNames(), patterns });
  store(start(anything));
  const broker = start(policyPatterns);
  journal.restore(broker);
  return broker;
}

describe('a stored pattern that is refused now', () => {
  it('of a policy is restored and matches nothing', () => {
    const broker = restored((old) => {
      old.virtualHost('/').setPolicy('p', { pattern: large, definition: { 'max-length': 1 } });
      old.virtualHost('/').setOperatorPolicy('o', { pattern: large, definition: { 'max-length': 1 } });
      old.virtualHost('/').setPolicy('small', { pattern: '^b', definition: { 'max-length': 1 } });
    });
    const { user, operator } = broker.virtualHost('/').policies;
    expect([user.get('p')?.pattern, operator.get('o')?.pattern]).toEqual([large, large]);
    const names = ['a'.repeat(10_000), 'b'].map((name) => user.matchQueue(name, 'classic')?.name);
    expect([...names, operator.matchQueue('b', 'classic')]).toEqual([undefined, 'small', undefined]);
    expect(broker.patterns.refused).toEqual([
      { of: "policy 'p' in vhost '/'", reason: fault },
      { of: "operator policy 'o' in vhost '/'", reason: fault },
    ]);
  });

  it('of permissions is restored and permits nothing', () => {
    const broker = restored(({ access }) => {
      access.setUser('U');
      access.setPermissions('U', '/', { configure: '.*', write: large, read: large });
      access.topics.set('U', '/', { exchange: 'amq.topic', write: large, read: '.*' });
    });
    const { access } = broker;
    const may = (right: 'configure' | 'write'): boolean => access.may('U', '/', right, 'queue', 'a'.repeat(10_000));
    expect([may('configure'), may('write')]).toEqual([true, false]);
    expect(() => access.topics.check('U', '/', 'write', 'amq.topic', 'a')).toThrow("access to topic 'a'");
    expect(() => access.topics.check('U', '/', 'read', 'amq.topic', 'a')).not.toThrow();
    expect(broker.patterns.refused).toEqual([
      { of: "permissions of user 'U' in vhost '/'", reason: fault },
      { of: "topic permissions of user 'U' for exchange 'amq.topic' in vhost '/'", reason: fault },
    ]);
  });

  it('is refused as ever when it is set', () => {
    const broker = restored(
      (old) => void old.virtualHost('/').setPolicy('p', { pattern: large, definition: { 'max-length': 1 } }),
    );
    const request = { pattern: large, definition: { 'max-length': 1 } };
    expect(() => broker.virtualHost('/').setPolicy('p', request)).toThrow(PolicyError);
    const rights = { configure: large, write: '', read: '' };
    expect(() => broker.access.setPermissions('U', '/', rights)).toThrow(PatternError);
    expect(broker.patterns.refused).toHaveLength(1);
  });
});
