import { concatMap, isObservable, type Observable, of } from 'rxjs';
import type { OwnTimers } from '../../../platform/index.js';
import { DlxConfigurationError } from '../../../platform/options/index.js';
import type { Feature } from '../../core/feature.js';
import { settingOf } from '../../core/handler-settings.js';
import type { Handler } from '../../core/handler.js';
import { FilteredFailure } from '../../handlers/capture.js';
import { breachOf, check, type SchemaTimers, type Term, type Verdict } from './check.js';
import { checked, valueOf } from './client-side.js';
import type { ContractError } from './contract-error.js';
import { type Contract, RequestContract } from './contract.js';
import { contractDecorator } from './decorator.js';

type Invoke = Handler['invoke'];

/** Checks payloads and answers of handlers by their contracts (`@On`, `@Answer`). */
export function contracts(timers: OwnTimers): Feature {
  const limits: SchemaTimers = { timers, failsAtClose: false };
  return {
    name: 'contract',
    check(_, handlers) {
      for (const handler of handlers) {
        const contract = settingOf(handler, contractDecorator);
        if (contract !== undefined) refuseOtherPatterns(contract, handler);
      }
    },
    call(handler, invoke) {
      const contract = settingOf(handler, contractDecorator);
      return contract && withContract(contract, invoke, limits);
    },
  };
}

/** Why a payload breaks the contract of a handler, for what reads the payload before the handler does. See {@link breachOf}. */
export function breachBefore(handler: Handler, payload: unknown): ContractError | undefined {
  const term = settingOf(handler, contractDecorator)?.payload;
  return term && breachOf(term, payload);
}

/** Refuses other routing keys beside a contract. @throws DlxConfigurationError */
function refuseOtherPatterns({ kind, pattern }: Contract, { kind: served, patterns, settings, origin }: Handler): void {
  const isEvent = kind === 'event';
  const decorator = isEvent ? '@On' : '@Answer';
  if (settings.consume?.routingKey !== undefined) {
    throw new DlxConfigurationError(
      `${decorator} on ${origin} has the routing key '${pattern}'; leave routingKey of @Consume out`,
    );
  }
  const other = patterns.find((each) => each !== pattern) ?? (isEvent === (served === 'request') ? pattern : undefined);
  if (other === undefined) return;
  const beside = `@${served === 'request' ? 'MessagePattern' : 'EventPattern'}('${other}')`;
  const wanted = `@${isEvent ? 'EventPattern' : 'MessagePattern'}(contract.pattern)`;
  throw new DlxConfigurationError(
    `${decorator} on ${origin} is for '${pattern}', and beside it stands ${beside}; write ${wanted}`,
  );
}

/** A handler that gets what the schema made of the payload, and whose answers are checked. Without schemas it is as it was. */
function withContract(contract: Contract, invoke: Invoke, limits: SchemaTimers): Invoke {
  const { payload } = contract;
  const answer = contract instanceof RequestContract ? contract.answer : undefined;
  const called = answer === undefined ? invoke : answering(answer, invoke, limits);
  if (payload === undefined) return called;
  return (data, context) => {
    const verdict = check(payload, data, limits);
    const go = ({ failure, value }: Verdict): Promise<unknown> =>
      failure === undefined ? called(value, context) : Promise.reject(failure);
    return verdict instanceof Promise ? verdict.then(go) : go(verdict);
  };
}

/** A refusal is no answer: it is how filters of Nest say that the handler failed. */
const answering =
  (term: Term, invoke: Invoke, limits: SchemaTimers): Invoke =>
  async (data, context) => {
    const result = await invoke(data, context);
    if (result instanceof FilteredFailure) return result;
    if (!isObservable(result)) return valueOf(await check(term, result, limits));
    const one = checked(term, limits);
    return result.pipe(
      concatMap((value): Observable<unknown> => (value instanceof FilteredFailure ? of(value) : one(value))),
    );
  };
