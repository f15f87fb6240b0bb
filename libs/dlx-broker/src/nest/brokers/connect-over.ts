import { loadRabbitMq, type RabbitMqLog } from '../../backend/index.js';
import { policyPatterns, shownText, SystemClock, withoutPasswords } from '../../host/index.js';
import type { RemoteListener } from '../../management/index.js';
import type { Connected } from '../options.js';
import { EventLog } from '../event-log.js';
import type { LoggingOptions } from '../logging.js';
import { errorFacts, stackOf, textOf } from '../failure-log.js';
import { givenBackend } from './given-backend.js';
import { addressOf, portRefusal } from './ports.js';
import { redrivesOver } from './remote-redrives.js';
import type { RabbitMqBrokerOptions } from './rabbitmq.js';

/** Makes the backend of a RabbitMQ. Its connection is opened when the application starts. */
export async function connectOver(
  options: Readonly<RabbitMqBrokerOptions>,
  logging: LoggingOptions | undefined,
): Promise<Connected> {
  const log = new EventLog('DlxBroker', logging);
  const { openRabbitMq } = await loadRabbitMq();
  const { listen, ...ofBackend } = options;
  const backend = openRabbitMq(ofBackend, reportsTo(log));
  if (listen === undefined) return { ...givenBackend(backend), close: () => backend.close() };
  const closing = new AbortController();
  let opening: Promise<RemoteListener> | undefined;
  let listener: RemoteListener | undefined;
  return {
    ...givenBackend(backend),
    open: async (names) => {
      const parkingLots = () => {
        const { virtualHost: vhost } = backend;
        return vhost === undefined ? undefined : { vhost, names };
      };
      listener = await (opening ??= openConsole(options, log, { parkingLots, signal: closing.signal }));
    },
    http: () => addressOf(listener),
    urls: () => listener?.urls,
    close: async () => {
      closing.abort(); // a request that waits for the server would keep this process alive
      await opening?.then(
        (opened) => opened.close(),
        () => undefined, // it was not opened
      );
      await backend.close();
    },
  };
}

/** Logs what backends report, on one line and without passwords. */
const reportsTo = (log: EventLog): RabbitMqLog => ({
  warn: (text, event, reason) =>
    log.write(event, shown(text), { reason: reason === undefined ? undefined : shown(reason) }),
  fault: (error) => log.write('fault', textOf(error), errorFacts(error), stackOf(error), error),
});

const shown = (text: string): string => shownText(withoutPasswords(text));

/** What the console gets of its application. */
interface OfApplication {
  readonly parkingLots: () => { readonly vhost: string; readonly names: ReadonlySet<string> } | undefined;
  /** Aborted when the application closes. */
  readonly signal: AbortSignal;
}

/** Opens the port of the console. It does not wait for the server, which may come later. */
async function openConsole(
  options: Readonly<RabbitMqBrokerOptions>,
  log: EventLog,
  { parkingLots, signal }: OfApplication,
): Promise<RemoteListener> {
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
  const server = serverAt({ base: origin + pathname.replace(/\/+$/, ''), ca, signal });
  const reports = reportsTo(log);
  const file = audit === undefined ? undefined : await AuditFile.open(audit, reports.fault).catch(refuse('audit'));
  const host = {
    server,
    clock: new SystemClock(),
    patterns: policyPatterns,
    parkingLots,
    startRedrive: redrivesOver(options, reports),
    notice: (text: string) => log.write('notice', shownText(text), {}),
    log: reports.fault,
    ...(file && { audit: file }),
  };
  const listener = await listenRemote(host, http).catch(async (error: Error) => {
    await file?.close();
    return refuse('http')(error);
  });
  void listener.trouble().then((trouble) => {
    if (trouble === undefined || signal.aborted) return;
    const reason = shownText(trouble, 500);
    log.write('consoleNotReady', `the console cannot show the server yet: ${reason}`, { reason });
  });
  return listener;
}
