import type { StandardSchema } from 'dlx-broker';

type Validate<Out> = StandardSchema<unknown, Out>['~standard']['validate'];

/** A Standard Schema of a function. */
export const schemaBy = <In, Out = In>(validate: Validate<Out>): StandardSchema<In, Out> => ({
  '~standard': { version: 1, vendor: 'test', validate },
});

/** An order, as it is on the wire. */
export interface WireOrder {
  readonly id: string;
  readonly at: string;
}

/** An order, as its schema makes it. */
export interface Order {
  readonly id: string;
  readonly at: Date;
}

const fault = (message: string, ...path: readonly PropertyKey[]) => ({ message, path });

/** Makes a date of the text in `at`. */
export const orders = schemaBy<WireOrder, Order>((value) => {
  const { id, at } = (value ?? {}) as { readonly id?: unknown; readonly at?: unknown };
  const time = typeof at === 'string' ? new Date(at) : undefined;
  const issues = [
    ...(typeof id === 'string' ? [] : [fault('is no text', 'id')]),
    ...(time === undefined || Number.isNaN(time.getTime()) ? [fault('is no date', 'at')] : []),
  ];
  return issues.length > 0 ? { issues } : { value: { id: id as string, at: time as Date } };
});

/** A positive number. */
export const prices = schemaBy<number>((value) =>
  typeof value === 'number' && value > 0 ? { value } : { issues: [fault('is no price')] },
);
