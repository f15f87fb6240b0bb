import { type BackendState, loadRabbitMq, profileOf, type RabbitMqLog, serverOf } from '../../backends/index.js';
import { defaultProfile } from '../../engine/broker/index.js';
import { shownText, withoutPasswords } from '../../platform/index.js';
import type { Connected } from '../module/options.js';
import { EventLog } from '../log/event-log.js';
import type { LoggingOptions } from '../log/logging.js';
import { errorFacts, stackOf, textOf } from '../core/failure-log.js';
import { givenBackend } from './given.js';
import type { RabbitMqBrokerOptions } from './rabbitmq.js';

/** Makes the backend of a RabbitMQ. Its connection is opened when the application starts. */
export async function connectOver(
  options: Readonly<RabbitMqBrokerOptions>,
  logging: LoggingOptions | undefined,
): Promise<Connected> {
  const { openRabbitMq } = await loadRabbitMq();
  const backend = openRabbitMq(options, reportsTo(new EventLog('DlxBroker', logging)));
  const where = (): string =>
    `connected to ${serverOf(backend.state)} at ${backend.place}${otherProfile(backend.state)}`;
  return { ...givenBackend(backend), where, close: () => backend.close() };
}

/** What tests need for the behaviour of the server, if it is not that of the embedded broker by default. */
function otherProfile(state: BackendState): string {
  const profile = 'server' in state ? profileOf(state.server) : undefined;
  if (profile === undefined || profile === defaultProfile) return '';
  return `; to test with its behaviour, set embedded({ rabbitmq: '${profile}' })`;
}

/** Logs what backends report, on one line and without passwords. */
const reportsTo = (log: EventLog): RabbitMqLog => ({
  warn: (text, event, reason) =>
    log.write(event, shown(text), { reason: reason === undefined ? undefined : shown(reason) }),
  fault: (error) => log.write('fault', textOf(error), errorFacts(error), stackOf(error), error),
});

const shown = (text: string): string => shownText(withoutPasswords(text));
