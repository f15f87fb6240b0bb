import { Broker, type Clock, type Journal } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { MemoryJournal } from '../durability/memory-journal.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';

const patterns = { compile: () => ({ matches: () => true }) };

/** A broker on a journal; `committed` is called after every commit there, but not of those that make the broker. */
export function watchedBroker(clock: Clock, journal: MemoryJournal, committed: () => void): Broker {
  let isMade = false;
  const tell = (): void => {
    if (isMade) committed();
  };
  const broker = new Broker({ clock, names: new CountedNames(), patterns, journal: watched(journal, tell) });
  isMade = true;
  return broker;
}

function watched(journal: MemoryJournal, committed: () => void): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'commit') return value.bind(target) as unknown;
      return (synced: (() => void) | undefined) => {
        target.commit(synced);
        committed();
      };
    },
  });
}
