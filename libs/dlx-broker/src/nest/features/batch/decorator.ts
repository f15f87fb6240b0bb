import { emptyTable } from '../../../engine/message/index.js';
import { DlxConfigurationError, parseDuration, refused, whole } from '../../../platform/options/index.js';
import type { FeatureDecorator } from '../../core/handler-settings.js';
import { contribute } from '../../decorators/contribution.js';
import { readLater } from '../../module/check-options.js';
import { type ContractDecorator, On } from '../contract/decorator.js';
import type { EventContract } from '../contract/contract.js';

/** How many messages a batch has, and how long it waits for them. */
export interface BatchOptions {
  /** The most messages of a batch, 1 to 65535. The prefetch of the queue is raised to it. */
  readonly size: number;
  /** A batch that is not full starts this long after its first message: milliseconds or `'1s'`, up to 5 minutes. */
  readonly within: number | string;
}

/** {@link BatchOptions}, and the contract of each payload. */
interface ContractBatch<T, In> extends BatchOptions {
  /** In place of `@On(contract)`, which is for handlers of one message. */
  readonly of: EventContract<T, In>;
}

/**
 * The handler gets arrays of payloads, and a {@link DlxBatchContext} by `@Ctx()`. Each message keeps its own attempt. They succeed or fail
 * together, unless the handler returns a promise, or a result of `Promise.allSettled`, for each payload.
 */
export function Batch<T, In>(options: ContractBatch<T, In>): ContractDecorator<T[], unknown>;
export function Batch(options: BatchOptions): MethodDecorator;
export function Batch(given: BatchOptions & { readonly of?: EventContract }): MethodDecorator {
  const { of, ...options } = (given ?? {}) as typeof given;
  const batch = contribute('Batch', {}, { given: of === undefined ? given : options });
  if (of === undefined) return batch;
  const on = On(of) as MethodDecorator;
  return (target, key, descriptor) => {
    batch(target, key, descriptor);
    on(target, key, descriptor);
  };
}

/** {@link BatchOptions}, checked. */
export interface BatchSetting {
  readonly size: number;
  /** Milliseconds. */
  readonly within: number;
}

const longest = 300_000;
const sizes = whole(1, 65_535);

export const batchDecorator: FeatureDecorator<BatchSetting> = {
  names: ['Batch'],
  options: { size: readLater, within: readLater },
  remedy: "write { size: 100, within: '1s' }",
  read(given, origin) {
    const { size, within } = given as unknown as BatchOptions;
    sizes.read(size, `size of ${origin}`);
    const milliseconds = parseDuration(within, `within of ${origin}`);
    if (milliseconds >= 1 && milliseconds <= longest) return { size, within: milliseconds };
    throw refused(within, `within of ${origin}`, "is not between 1 ms and 5 minutes; write '1s'");
  },
  argumentsFor({ size }, { prefetch = 0 }, origin) {
    if (prefetch === 0 || prefetch >= size) return emptyTable;
    throw new DlxConfigurationError(
      `${origin}: @Prefetch(${prefetch}) is less than its size (${size}), so a batch would never be full; raise the prefetch, leave it out, or lower size`,
    );
  },
};
