/** The three ways an order can die here: rejected by the warehouse, never paid in time, crowded out. */
export const kinds = ['standard', 'reserved', 'flash'] as const;
export type Kind = (typeof kinds)[number];

export interface Order {
  readonly id: number;
  readonly item: string;
  readonly quantity: number;
}

export const routingKeyOf = (kind: Kind): string => `order.${kind}`;
