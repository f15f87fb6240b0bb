import type { DeathEntry } from './death.js';
import { RecordedDeaths } from './deaths.js';
import type { Notes, RecordedOrigin } from './notes.js';
import type { CarbonCopies } from './properties.js';

/** Whether messages with these notes look the same, so that they can share them. A history that a client began is compared by its object only. */
export function areSameNotes(one: Notes | undefined, other: Notes | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  return (
    one.delay === other.delay &&
    isSameOrigin(one.origin, other.origin) &&
    areSameCopies(one.copies, other.copies) &&
    (one.deaths === other.deaths ||
      (one.deaths instanceof RecordedDeaths &&
        other.deaths instanceof RecordedDeaths &&
        areSameDeaths(one.deaths, other.deaths)))
  );
}

function isSameOrigin(one: RecordedOrigin | undefined, other: RecordedOrigin | undefined): boolean {
  if (one === other) return true;
  return one?.queue === other?.queue && one?.routingKey === other?.routingKey && one?.exchange === other?.exchange;
}

function areSameCopies(one: CarbonCopies | undefined, other: CarbonCopies | undefined): boolean {
  if (one === other) return true;
  return one !== undefined && other !== undefined && areSame(one.cc, other.cc) && areSame(one.bcc, other.bcc);
}

const areSameDeaths = (one: RecordedDeaths, other: RecordedDeaths): boolean =>
  one.parsesExpiration === other.parsesExpiration &&
  one.all.length === other.all.length &&
  one.all.every((death, index) => isSameDeath(death, other.all[index])) &&
  isSameDeath(one.first, other.first) &&
  isSameDeath(one.last, other.last);

function isSameDeath(one: DeathEntry | undefined, other: DeathEntry | undefined): boolean {
  if (one === other) return true;
  return (
    one !== undefined &&
    other !== undefined &&
    one.time === other.time &&
    one.count === other.count &&
    one.queue === other.queue &&
    one.reason === other.reason &&
    one.exchange === other.exchange &&
    one.originalExpiration === other.originalExpiration &&
    areSame(one.routingKeys, other.routingKeys)
  );
}

const areSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, index) => text === other[index]);
