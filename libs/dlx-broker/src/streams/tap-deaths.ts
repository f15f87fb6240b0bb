import type { MonoTypeOperatorFunction } from 'rxjs';
import type { DeadLetter } from './dead-letter.js';
import { heeding } from './heeding.js';
import type { XDeath } from './x-death.js';

/** Shows the deaths of every letter that passes, the latest first, and changes nothing. What `look` throws or rejects with fails the stream. */
export const tapDeaths = <L extends DeadLetter>(
  look: (deaths: readonly XDeath[], letter: L) => unknown,
): MonoTypeOperatorFunction<L> =>
  heeding((letter, heed) => {
    heed(look(letter.deaths, letter));
    return true;
  });
