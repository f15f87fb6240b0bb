import type { Observable } from 'rxjs';
import type { EventContract, RequestContract } from './contract.js';
import { contribute } from '../../decorators/contribution.js';

/** Stands above methods whose first parameter takes a `T`, and whose result is an `R`. Other methods do not compile. */
export type ContractDecorator<T, R> = <M extends (payload: T, ...rest: never[]) => R>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;

/** What a handler of requests may return. */
export type AnswerOf<T> = T | Observable<T> | AsyncGenerator<T> | Promise<T | Observable<T>>;

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
export const Answer = <T, Result, In, ResultIn>(
  contract: RequestContract<T, Result, In, ResultIn>,
): ContractDecorator<T, AnswerOf<ResultIn>> => contribute('Answer', { contract });
