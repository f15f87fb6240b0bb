/** The three ways in which an order can die: the warehouse rejects it, its reservation expires, or its queue is full. */
export const kinds = ['standard', 'reserved', 'flash'] as const;
export type Kind = (typeof kinds)[number];

export interface Order {
  readonly id: number;
  readonly item: string;
  readonly quantity: number;
}

export const routingKeyOf = (kind: Kind): string => `order.${kind}`;
