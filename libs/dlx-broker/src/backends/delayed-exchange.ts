/**
 * The name of the delayed exchange in front of an exchange. All queues share the one in front of the default exchange, where the
 * routing key names the queue.
 */
export const delayedName = (exchange: string): string => (exchange === '' ? 'dlx.delayed' : `${exchange}.delayed`);
