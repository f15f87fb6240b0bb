import { concatMap, isObservable, type Observable, of } from 'rxjs';
import { DlxConfigurationError } from '../../../platform/options/index.js';
import { Refusal } from '../../handlers/capture.js';
import type { Handler } from '../../core/handler.js';
import type { HandlerSettings } from '../../core/handler-settings.js';
import { consumedPatterns } from '../../core/plan.js';
import { check, type SchemaTimers, type Term, type Verdict } from './check.js';
import { checked, valueOf } from './client-side.js';
import { type Contract, RequestContract } from './contract.js';

type Invoke = Handler['invoke'];

/** The routing keys of a method that this library binds: that of its contract, or those of `@Consume`. @throws DlxConfigurationError */
export function patternsOf(settings: HandlerSettings, origin: string): readonly string[] {
  const { contract, consume } = settings;
  if (contract === undefined) return consumedPatterns(settings, origin);
  if (consume?.routingKey === undefined) return [contract.pattern];
  throw new DlxConfigurationError(
    `${decoratorOf(contract)} on ${origin} has the routing key '${contract.pattern}'; leave routingKey of @Consume out`,
  );
}

/** A handler that Nest added to a transport. */
interface Added {
  readonly pattern: string;
  readonly isEvent: boolean;
}

/** Checks that a pattern of Nest beside a contract is the same. @throws DlxConfigurationError */
export function checkServed(contract: Contract | undefined, added: Added, origin: string): void {
  if (contract === undefined) return;
  const isEvent = contract.kind === 'event';
  if (added.pattern === contract.pattern && added.isEvent === isEvent) return;
  const beside = `@${added.isEvent ? 'EventPattern' : 'MessagePattern'}('${added.pattern}')`;
  const wanted = `@${isEvent ? 'EventPattern' : 'MessagePattern'}(contract.pattern)`;
  throw new DlxConfigurationError(
    `${decoratorOf(contract)} on ${origin} is for '${contract.pattern}', and beside it stands ${beside}; write ${wanted}`,
  );
}

const decoratorOf = ({ kind }: Contract): string => (kind === 'event' ? '@On' : '@Answer');

/** A handler that gets what the schema made of the payload, and whose answers are checked. Without schemas it is as it was. */
export function withContract(contract: Contract | undefined, invoke: Invoke, limits: SchemaTimers): Invoke {
  if (contract === undefined) return invoke;
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
    if (result instanceof Refusal) return result;
    if (!isObservable(result)) return valueOf(await check(term, result, limits));
    const one = checked(term, limits);
    return result.pipe(concatMap((value): Observable<unknown> => (value instanceof Refusal ? of(value) : one(value))));
  };
