import { tap } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { DeadLetter } from './dead-letter.js';
import type { XDeath } from './x-death.js';

/** Shows the deaths of every letter that passes, the latest first, and changes nothing. What `look` throws fails the stream. */
export const tapDeaths = <L extends DeadLetter>(
  look: (deaths: readonly XDeath[], letter: L) => void,
): MonoTypeOperatorFunction<L> => tap((letter) => look(letter.deaths, letter));
