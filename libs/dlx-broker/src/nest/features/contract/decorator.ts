import type { Observable } from 'rxjs';
import { DlxConfigurationError, refused } from '../../../platform/options/index.js';
import type { FeatureDecorator } from '../../core/handler-settings.js';
import { contribute } from '../../decorators/contribution.js';
import { type Check, readLater } from '../../module/check-options.js';
import { type Contract, EventContract, RequestContract } from './contract.js';

/** Stands above methods whose first parameter takes a `T`, and whose result is an `R`. Other methods do not compile. */
export type ContractDecorator<T, R> = <M extends (payload: T, ...rest: never[]) => R>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;

/**
 * Makes any method of a controller or provider a handler of the events of a contract; it needs no transport strategy. Its first
 * parameter has to take the payload. Beside `@Consume` or `@Queue`, which name the queue, the contract is the routing key. Beside
 * `@EventPattern` with the same pattern, the handler is that of Nest's transport, and the contract checks its payloads.
 */
export const On = <T, In>(contract: EventContract<T, In>): ContractDecorator<T, unknown> =>
  contribute('On', { contract });

/**
 * Makes any method of a controller or provider the handler of the requests of a contract, as {@link On} does for events. The method
 * takes the payload and returns the answer, a promise of it, or a stream of answers. Beside `@MessagePattern` it checks both.
 */
export const Answer = <T, Result, In, Out>(
  contract: RequestContract<T, Result, In, Out>,
): ContractDecorator<T, Out | Observable<Out> | AsyncGenerator<Out> | Promise<Out | Observable<Out>>> =>
  contribute('Answer', { contract });

const isEvent: Check = (value, origin) => {
  if (value instanceof EventContract) return;
  if (value instanceof RequestContract) {
    throw new DlxConfigurationError(`${origin}: request('${value.pattern}') is no event; write @Answer for a request`);
  }
  throw noContract(value, origin, "event('order.created'), or @Consume with a routingKey");
};

const isRequest: Check = (value, origin) => {
  if (value instanceof RequestContract) return;
  if (value instanceof EventContract) {
    throw new DlxConfigurationError(`${origin}: event('${value.pattern}') is no request; write @On for an event`);
  }
  throw noContract(value, origin, "request('order.price')");
};

/** Undefined is what CommonJS gives to files that import each other. */
function noContract(value: unknown, origin: string, remedy: string): DlxConfigurationError {
  const cycle = 'if its file imports this one, move the contract into a file of its own';
  return refused(value, origin, `is no contract; ${value === undefined ? cycle : `write ${remedy}`}`);
}

/** Reads the contract of a handler. */
export const contractDecorator: FeatureDecorator<Contract> = {
  names: ['On', 'Answer'],
  options: { contract: readLater },
  parameters: ['contract'],
  read({ contract }, origin, name) {
    (name === 'On' ? isEvent : isRequest)(contract, `contract of ${origin}`);
    return contract as Contract;
  },
  binds: ({ kind, pattern }) => ({ kind: kind === 'event' ? 'consume' : 'request', pattern }),
};
