import type { MonoTypeOperatorFunction } from 'rxjs';
import type { DeadLetter } from './dead-letter.js';
import { checkFunction, checkOptions, withinOf, type WithinOption } from './given.js';
import { callbackFilter } from './callback-filter.js';
import type { XDeath } from './x-death.js';

/**
 * Calls a function with every letter that passes and its deaths, the latest first. The stream fails when `look`
 * throws, when its promise rejects, and when the promise stays unsettled for longer than `within`. Letters pass without waiting for
 * the promise.
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
