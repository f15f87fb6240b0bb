import type { LoggingOptions } from '../log/logging.js';
import type { Connected } from '../module/options.js';
import type { EmbeddedBroker } from './embedded.js';
import { type CustomBackend, givenBackend, type SharedBroker } from './given.js';
import type { BrokerChoice } from './made.js';
import type { RabbitMqBroker } from './rabbitmq.js';

/** What the functions of this folder make of a `BrokerChoice`, with its content. */
type KnownBroker = EmbeddedBroker | SharedBroker | RabbitMqBroker | CustomBackend;

/**
 * Opens the broker of a module. The code of a broker is loaded here, while the application starts: an import of the package loads none.
 * @throws DlxConfigurationError when the data directory of the broker cannot be opened
 */
export async function connect(choice: BrokerChoice, logging?: LoggingOptions): Promise<Connected> {
  const known = choice as KnownBroker;
  switch (known.kind) {
    case 'embedded': {
      const { connectEmbedded } = await import('./connect-embedded.js');
      return connectEmbedded(known.options, logging);
    }
    case 'shared': {
      const { connectShared } = await import('./connect-embedded.js');
      return connectShared(known, logging);
    }
    case 'rabbitmq': {
      const { connectOver } = await import('./connect-over.js');
      return connectOver(known.options, logging);
    }
    case 'custom':
      return givenBackend(known.backend);
  }
}
