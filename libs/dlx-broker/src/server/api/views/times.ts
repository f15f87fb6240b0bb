/** A time as RabbitMQ writes it. @param time milliseconds since 1970 */
export const timeText = (time: number): string => new Date(time).toISOString().replace('Z', '+00:00');
