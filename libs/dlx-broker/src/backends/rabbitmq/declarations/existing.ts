import { type FieldTable, toFieldTable } from '../../../engine/message/index.js';
import type { HttpApi } from '../../../platform/index.js';
import type { ExchangeDeclaration, QueueDeclaration } from '../../topology/index.js';
import { callManagement } from '../management.js';
import type { Warn } from '../options.js';

/** A management API, and the virtual host of a connection. */
export interface ManagementPlace extends HttpApi {
  readonly virtualHost: string;
}

/** An existing queue, with the names of a declaration. */
export type ExistingQueue = Pick<QueueDeclaration, 'durable' | 'exclusive' | 'autoDelete' | 'arguments'>;

/** An existing exchange, with the names of a declaration. */
export type ExistingExchange = Pick<ExchangeDeclaration, 'type' | 'durable' | 'autoDelete' | 'internal' | 'arguments'>;

/**
 * The management API as a declaration asks it. A failure is a warning, because the comparison by declaring remains.
 */
export function existingIn(place: ManagementPlace, warn: Warn) {
  const attempted =
    <T>(find: (place: ManagementPlace, name: string) => Promise<T | undefined>) =>
    async (name: string): Promise<T | undefined> => {
      try {
        return await find(place, name);
      } catch (error) {
        const { message } = error as Error;
        warn(`'${name}' is compared by declaring: ${message}`, 'comparedByDeclaring', message);
        return undefined;
      }
    };
  return { queue: attempted(existingQueue), exchange: attempted(existingExchange) };
}

interface Shown {
  readonly type: string;
  readonly durable: boolean;
  readonly auto_delete: boolean;
  readonly exclusive?: boolean;
  readonly internal?: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
}

async function existingQueue(place: ManagementPlace, name: string): Promise<ExistingQueue | undefined> {
  const found = await shownAt(place, 'queues', name, 'durable,exclusive,auto_delete,arguments,type');
  if (found === undefined) return undefined;
  const { durable, exclusive = false, auto_delete } = found;
  return { durable, exclusive, autoDelete: auto_delete, arguments: fieldsOf(found) };
}

async function existingExchange(place: ManagementPlace, name: string): Promise<ExistingExchange | undefined> {
  const found = await shownAt(place, 'exchanges', name, 'durable,internal,auto_delete,arguments,type');
  if (found === undefined) return undefined;
  const { type, durable, auto_delete, internal = false } = found;
  return { type, durable, autoDelete: auto_delete, internal, arguments: fieldsOf(found) };
}

async function shownAt(
  place: ManagementPlace,
  kind: 'queues' | 'exchanges',
  name: string,
  columns: string,
): Promise<Shown | undefined> {
  const found = await callManagement(place, 'GET', [kind, place.virtualHost, name], { columns });
  return found as Shown | undefined;
}

const fieldsOf = ({ arguments: args }: Shown): FieldTable => toFieldTable(args as Parameters<typeof toFieldTable>[0]);
