/** Names that begin so belong to the broker (rules O3, P4). */
export const reservedPrefix = 'amq.';

/** Whether only the broker may give this name to a queue or an exchange. */
export const isReserved = (name: string): boolean => name.startsWith(reservedPrefix);

/** Whether an exchange of this name is there from the start: the default exchange, and those with reserved names. */
export const isPredeclared = (exchange: string): boolean => exchange === '' || isReserved(exchange);
