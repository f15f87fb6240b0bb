import { embedded, rabbitmq } from 'dlx-broker';

const { BROKER_URL: urls = '', PORT = '0' } = process.env;

/** With `--once` the sample ends by itself. Without it stays, and shows its console at `PORT`, by default any free port. */
export const staysOpen = !process.argv.includes('--once');

/** The broker: in this process, or the servers in the variable `BROKER_URL`, separated by commas. */
export const broker =
  urls === ''
    ? embedded({ listen: staysOpen ? { http: { port: Number(PORT) } } : {} })
    : rabbitmq({ urls: urls.split(',') });
