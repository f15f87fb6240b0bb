import type { Command } from 'commander';

/** Adds the options of all commands that look at a virtual host. @param preset the default of `--vhost`, for the help */
export const withVhost = (command: Command, preset = '/'): Command =>
  withServer(command.option('-p, --vhost <VHOST>', `the virtual host (default: ${preset})`));

/** Adds the options that all commands have. */
export const withServer = (command: Command): Command =>
  command
    .option('--url <URL>', 'the HTTP API (default: DLX_BROKER_URL or http://127.0.0.1:15672)')
    .option('--user <USER>', 'who asks (default: DLX_BROKER_USER)')
    .option('--password <PASSWORD>', 'also as DLX_BROKER_PASSWORD, which no list of processes shows')
    .option('--json', 'answer as the HTTP API does');

/** Adds the options that select messages. */
export const withFilters = (command: Command): Command =>
  command
    .option(
      '--reason <REASON>',
      'of the latest death: rejected, expired, maxlen or delivery_limit; parked, without a death',
    )
    .option('--died-in <QUEUE>', 'the queue in which it died last')
    .option('--first-queue <QUEUE>', 'the queue in which it died first')
    .option('--exchange <EXCHANGE>', 'the exchange it was published to at first')
    .option('--routing-key <KEY>', 'the routing key it was published with at first')
    .option('--header <NAME[=VALUE]>', 'a header it has; may be given several times', several)
    .option('--error <CLASS>', 'the class or the kind of its error')
    .option('--fingerprint <FINGERPRINT>', 'the fingerprint of its error')
    .option('--text <TEXT>', 'a string somewhere in its body')
    .option('--older-than <TIME>', 'how long it is dead at least, such as 90s, 15m, 2h or 7d')
    .option('--younger-than <TIME>', 'how long it is dead at most');

export const withWatch = (command: Command): Command =>
  command.option('--watch [SECONDS]', 'ask again and again until Ctrl+C (default: every 2 seconds)');

/** Collects the values of an option that may be given several times. */
const several = (one: string, more: readonly string[] = []): readonly string[] => [...more, one];
