export interface Order {
  readonly id: number;
  readonly tea: string;
  readonly quantity: number;
}

/** The topic exchange of dead letters. */
export const deadLetters = 'orders.dlx';
