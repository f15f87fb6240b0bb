import type { MonoTypeOperatorFunction } from 'rxjs';
import type { ConsumedLetter } from './consumed-letter.js';
import { checkFunction, checkOptions, withinOf, type WithinOption } from './given.js';
import { callbackFilter } from './callback-filter.js';
import type { XDeath } from './x-death.js';

/**
 * Calls a function with every letter that passes and its deaths, the latest first. The stream fails when `observe`
 * throws, when its promise rejects, and when the promise stays unsettled for longer than `within`. Letters pass without waiting for
 * the promise.
 * @throws DlxConfigurationError at once for a `observe` that is no function, and for unknown or impossible options
 */
export function tapDeaths<L extends ConsumedLetter>(
  observe: (deaths: readonly XDeath[], letter: L) => unknown,
  options: WithinOption = {},
): MonoTypeOperatorFunction<L> {
  checkFunction(observe, 'tapDeaths: observe', '(deaths, letter) => console.log(deaths)');
  checkOptions(options, ['within'], 'tapDeaths', "write { within: '1m' }");
  return callbackFilter(
    (letter, watch) => {
      watch(observe(letter.deaths, letter));
      return true;
    },
    { origin: 'tapDeaths: observe', within: withinOf(options, 'tapDeaths') },
  );
}
