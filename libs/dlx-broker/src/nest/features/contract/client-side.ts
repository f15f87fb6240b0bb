import { concatMap, from, map, Observable, of } from 'rxjs';
import { DlxConfigurationError } from '../../../platform/options/index.js';
import { DlxRecord } from '../../client/record-builder.js';
import { check, type SchemaTimers, type Term, type Verdict } from './check.js';
import { type Contract, RequestContract } from './contract.js';

/** Refuses a pattern that has the type of a contract. The signature of a contract is another one. */
export type NoContract<P> = P extends Contract ? never : unknown;

/**
 * Checks the data of an event or a request before it is published. What is published are the data themselves and not what the
 * schema made of them, because the schema of the other end accepts what this one accepts.
 * @param decided called once, with an error if the data must not be published; at once, unless the schema answers later
 */
export function checkSent(
  contract: Contract,
  kind: Contract['kind'],
  data: unknown,
  limits: SchemaTimers,
  decided: (failure?: Error) => void,
): void {
  if (contract.kind !== kind) return decided(misused(contract));
  if (contract.payload === undefined) return decided();
  const verdict = check(contract.payload, data instanceof DlxRecord ? data.data : data, limits);
  if (verdict instanceof Promise) void verdict.then(({ failure }) => decided(failure));
  else decided(verdict.failure);
}

const misused = ({ kind, pattern }: Contract): DlxConfigurationError =>
  new DlxConfigurationError(
    kind === 'event'
      ? `event('${pattern}') has no answer, and cannot be sent as a request; use emit`
      : `request('${pattern}') wants an answer, and cannot be emitted; use send`,
  );

/** A request by a contract: the data are checked, then sent, and each answer is checked. @param send sends the data */
export const ask = (
  contract: Contract,
  data: unknown,
  limits: SchemaTimers,
  send: () => Observable<unknown>,
): Observable<unknown> =>
  new Observable((asker) => {
    checkSent(contract, 'request', data, limits, (failure) => {
      if (asker.closed) return;
      if (failure !== undefined) return asker.error(failure);
      const term = contract instanceof RequestContract ? contract.answer : undefined;
      asker.add((term === undefined ? send() : send().pipe(concatMap(checked(term, limits)))).subscribe(asker));
    });
  });

/** Checks one value of a stream. @returns what the schema made of it, or an error */
export const checked =
  (term: Term, limits: SchemaTimers) =>
  (value: unknown): Observable<unknown> => {
    const verdict = check(term, value, limits);
    return verdict instanceof Promise ? from(verdict).pipe(map(valueOf)) : of(valueOf(verdict));
  };

/** @throws the failure of a verdict */
export function valueOf({ failure, value }: Verdict): unknown {
  if (failure !== undefined) throw failure;
  return value;
}
