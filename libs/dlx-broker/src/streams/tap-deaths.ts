import type { MonoTypeOperatorFunction } from 'rxjs';
import type { DeadLetter } from './dead-letter.js';
import { checkFunction, checkOptions, withinOf, type WithinOption } from './given.js';
import { callbackFilter } from './callback-filter.js';
import type { XDeath } from './x-death.js';

/**
 * Calls a function with every letter that passes and its deaths, the latest first. What `look` throws or rejects with
 * fails the stream, and so does a promise of it that stays unsettled for longer than `within`. Letters pass without
 * waiting for it.
 * @throws DlxConfigurationError at once for a `look` that is no function, and for unknown or impossible options
 */
export function tapDeaths<L extends DeadLetter>(
  look: (deaths: readonly XDeath[], letter: L) => unknown,
  options: WithinOption = {},
): MonoTypeOperatorFunction<L> {
  checkFunction(look, 'tapDeaths: look', '(deaths, letter) => console.log(deaths)');
  checkOptions(options, ['within'], 'tapDeaths', "write { within: '1m' }");
  return callbackFilter(
    (letter, watch) => {
      watch(look(letter.deaths, letter));
      return true;
    },
    { origin: 'tapDeaths: look', within: withinOf(options, 'tapDeaths') },
  );
}
