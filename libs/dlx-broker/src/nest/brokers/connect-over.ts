import { loadRabbitMq } from '../../backend/index.js';
import { policyPatterns, shownText, SystemClock, withoutPasswords } from '../../host/index.js';
import type { RemoteListener } from '../../management/index.js';
import type { Connected } from '../options.js';
import { SafeLogger } from '../safe-logger.js';
import { givenBackend } from './given-backend.js';
import { addressOf, portRefusal } from './ports.js';
import { redrivesOver } from './remote-redrives.js';
import type { RabbitMqBrokerOptions } from './rabbitmq.js';

/** Makes the backend of a RabbitMQ. Its connection is opened when the application starts. */
export async function connectOver(options: Readonly<RabbitMqBrokerOptions>): Promise<Connected> {
  const logger = new SafeLogger('DlxBroker');
  const { openRabbitMq } = await loadRabbitMq();
  const { listen, ...ofBackend } = options;
  const backend = openRabbitMq(ofBackend, {
    warn: (text) => logger.warn(shownText(withoutPasswords(text))),
    fault: (error) => logger.error(error),
  });
  if (listen === undefined) return { ...givenBackend(backend), close: () => backend.close() };
  let opening: Promise<RemoteListener> | undefined;
  let listener: RemoteListener | undefined;
  return {
    ...givenBackend(backend),
    open: async () => {
      listener = await (opening ??= openConsole(options, logger));
    },
    http: () => addressOf(listener),
    urls: () => listener?.urls,
    close: async () => {
      await opening?.then(
        (opened) => opened.close(),
        () => undefined, // it was not opened
      );
      await backend.close();
    },
  };
}

/** Opens the port of the console. It does not wait for the server, which may come later. */
async function openConsole(options: Readonly<RabbitMqBrokerOptions>, logger: SafeLogger): Promise<RemoteListener> {
  const { AuditFile, listenRemote, serverAt } = await import('../../management/index.js');
  const { management = '', listen, tls } = options;
  const { http = {}, audit } = listen ?? {};
  const refused = portRefusal({ http }, 'rabbitmq()');
  const refuse =
    (part: 'http' | 'audit') =>
    (error: Error): never => {
      throw refused(part, error);
    };
  const { origin, pathname } = new URL(management); // without the login of the application
  const ca = tls?.ca as Parameters<typeof serverAt>[0]['ca'];
  const server = serverAt({ base: origin + pathname.replace(/\/+$/, ''), ca });
  const log = (error: unknown): void => logger.error(error);
  const file = audit === undefined ? undefined : await AuditFile.open(audit, log).catch(refuse('audit'));
  const host = {
    server,
    clock: new SystemClock(),
    patterns: policyPatterns,
    startRedrive: redrivesOver(options, { warn: (text) => logger.warn(shownText(withoutPasswords(text))), fault: log }),
    notice: (text: string) => logger.log(shownText(text)),
    log,
    ...(file && { audit: file }),
  };
  const listener = await listenRemote(host, http).catch(async (error: Error) => {
    await file?.close();
    return refuse('http')(error);
  });
  void listener.trouble().then((trouble) => {
    if (trouble !== undefined) logger.warn(`the console cannot show the server yet: ${shownText(trouble, 500)}`);
  });
  return listener;
}
