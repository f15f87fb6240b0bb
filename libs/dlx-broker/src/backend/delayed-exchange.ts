/**
 * The name of the exchange in which messages for another exchange wait. The default exchange has a queue's name for a key, and
 * so one for all queues.
 */
export const delayedName = (exchange: string): string => (exchange === '' ? 'dlx.delayed' : `${exchange}.delayed`);
