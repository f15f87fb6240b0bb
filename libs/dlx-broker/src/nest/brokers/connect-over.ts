import { loadRabbitMq, type RabbitMqLog, serverOf } from '../../backend/index.js';
import { shownText, withoutPasswords } from '../../host/index.js';
import type { Connected } from '../options.js';
import { EventLog } from '../event-log.js';
import type { LoggingOptions } from '../logging.js';
import { errorFacts, stackOf, textOf } from '../failure-log.js';
import { givenBackend } from './given-backend.js';
import type { RabbitMqBrokerOptions } from './rabbitmq.js';

/** Makes the backend of a RabbitMQ. Its connection is opened when the application starts. */
export async function connectOver(
  options: Readonly<RabbitMqBrokerOptions>,
  logging: LoggingOptions | undefined,
): Promise<Connected> {
  const { openRabbitMq } = await loadRabbitMq();
  const backend = openRabbitMq(options, reportsTo(new EventLog('DlxBroker', logging)));
  const where = (): string => `connected to ${serverOf(backend.state)} at ${backend.place}`;
  return { ...givenBackend(backend), where, close: () => backend.close() };
}

/** Logs what backends report, on one line and without passwords. */
const reportsTo = (log: EventLog): RabbitMqLog => ({
  warn: (text, event, reason) =>
    log.write(event, shown(text), { reason: reason === undefined ? undefined : shown(reason) }),
  fault: (error) => log.write('fault', textOf(error), errorFacts(error), stackOf(error), error),
});

const shown = (text: string): string => shownText(withoutPasswords(text));
