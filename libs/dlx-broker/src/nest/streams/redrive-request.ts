import { DlxConfigurationError, notAPromise, optionsOf, parseDuration, shown } from '../../platform/options/index.js';
import { defaultBreaker, defaultRate } from '../../server/redrive/index.js';
import type { Edit } from './edit.js';
import { type RedriveTarget, targetOf } from './given.js';
import type { Letter } from './letter.js';

/** The letters to redrive, their target, rate and circuit. */
export interface RedriveRequest<T = unknown> {
  /** A queue of dead or parked letters, or several, one after the other. */
  readonly from: string | readonly string[];
  /** Default: the origin of each letter. */
  readonly to?: RedriveTarget | ((letter: Letter<T>) => RedriveTarget);
  /** Redrives only letters for which it returns true; the others keep their places. Default: all. */
  readonly where?: (letter: Letter<T>) => boolean;
  /**
   * What is changed in a letter on its way. Undefined leaves it in its queue, and so does an edit that changes nothing, a locked header, and a
   * function that throws: these letters are counted in `unedited`, and the redrive goes on. Default: letters are redriven as they are.
   */
  readonly edit?: (letter: Letter<T>) => Edit | undefined;
  /** The most letters a second. Default 50. */
  readonly perSecond?: number;
  /** The most letters that are redriven, from the head of the queue on. Default: all that are there at the start. */
  readonly limit?: number;
  /** Only counts letters and destinations, and moves nothing. */
  readonly dryRun?: boolean;
  /** Pauses when redriven letters come back. Default: for a minute, when half of the last 20 or more did; false: never. */
  readonly circuit?: Partial<RedriveCircuit> | false;
}

/** When a redrive pauses by itself. */
export interface RedriveCircuit {
  /** The share of redriven letters that arrived again in their queue and make the redrive pause: between 0 and 1. */
  readonly share: number;
  /** The number of letters between two looks. */
  readonly atLeast: number;
  /** The length of the pause: milliseconds or a string. */
  readonly pause: number | string;
}

/** A checked request with all defaults. */
export interface ResolvedRedrive {
  readonly queues: readonly string[];
  to(letter: Letter): RedriveTarget;
  /** The one target of all letters; undefined without `to`, and with a function. */
  readonly target: RedriveTarget;
  where(letter: Letter): boolean;
  /** Undefined: letters are redriven as they are. @throws what the function of the application throws */
  readonly edit: ((letter: Letter) => Edit | undefined) | undefined;
  readonly perSecond: number;
  readonly limit: number;
  readonly dryRun: boolean;
  readonly circuit: { readonly share: number; readonly atLeast: number; readonly pause: number } | undefined;
}

const requestOptions = ['from', 'to', 'where', 'edit', 'perSecond', 'limit', 'dryRun', 'circuit'] as const;

/** @throws DlxConfigurationError naming the option and the value */
export function resolveRedrive<T>(request: RedriveRequest<T>): ResolvedRedrive {
  const {
    from,
    to,
    where = () => true,
    edit,
    perSecond = defaultRate,
    limit = Infinity,
    dryRun = false,
    circuit = {},
  } = optionsOf<RedriveRequest<T>>(request, 'redrive', "write { from: 'orders.parked' }", requestOptions);
  const queues = typeof from === 'string' ? [from] : Array.isArray(from) ? [...new Set(from as readonly string[])] : [];
  const refuse = (what: string): DlxConfigurationError => new DlxConfigurationError(`redrive: ${what}`);
  if (queues.length === 0 || queues.includes(''))
    throw refuse('from names no queue; name the queue of the dead letters');
  if (typeof perSecond !== 'number' || !(perSecond > 0))
    throw refuse(`perSecond is ${shown(perSecond)}; write a number above 0`);
  if (limit !== Infinity && !(Number.isSafeInteger(limit) && limit > 0))
    throw refuse(`limit is ${shown(limit)}; write a whole number above 0, or leave it out`);
  if (typeof where !== 'function') throw refuse(`where is ${shown(where)}; write (letter) => true, or leave it out`);
  if (edit !== undefined && typeof edit !== 'function')
    throw refuse(`edit is ${shown(edit)}; write (letter) => ({ payload }), or leave it out`);
  if (typeof dryRun !== 'boolean') throw refuse(`dryRun is ${shown(dryRun)}; write true or false`);
  if (queues.some((queue) => typeof queue !== 'string')) throw refuse(`from is ${shown(from)}; write names of queues`);
  if (typeof to !== 'function') targetOf(to, 'redrive: to');
  if (typeof to === 'string' && queues.includes(to)) throw refuse(`to is '${to}', the queue they come from`);
  return {
    queues,
    to:
      typeof to === 'function'
        ? (letter) => targetOf(notAPromise((to as ResolvedRedrive['to'])(letter), 'redrive: to'), 'redrive: to')
        : () => to,
    target: typeof to === 'function' ? undefined : to,
    where: (letter) => notAPromise((where as ResolvedRedrive['where'])(letter), 'redrive: where'),
    edit: edit && ((letter) => notAPromise((edit as (letter: Letter) => Edit | undefined)(letter), 'redrive: edit')),
    perSecond,
    limit,
    dryRun,
    circuit: circuit === false ? undefined : resolveCircuit(circuit, refuse),
  };
}

function resolveCircuit(
  circuit: Partial<RedriveCircuit>,
  refuse: (what: string) => DlxConfigurationError,
): ResolvedRedrive['circuit'] {
  const remedy = "write { share: 0.5, atLeast: 20, pause: '1m' }, or false for none";
  const given = optionsOf<Partial<RedriveCircuit>>(circuit, 'redrive: circuit', remedy, ['share', 'atLeast', 'pause']);
  const { share = defaultBreaker.percent / 100, atLeast = defaultBreaker.atLeast, pause = '1m' } = given;
  if (typeof share !== 'number' || !(share > 0 && share <= 1))
    throw refuse(`circuit.share is ${shown(share)}; write a share above 0, up to 1`);
  if (!Number.isSafeInteger(atLeast) || atLeast < 1)
    throw refuse(`circuit.atLeast is ${shown(atLeast)}; write 1 or more`);
  return { share, atLeast, pause: parseDuration(pause, 'redrive: circuit.pause') };
}
