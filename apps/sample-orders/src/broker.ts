import { embedded, rabbitmq } from 'dlx-broker';

const { BROKER_URL: urls = '' } = process.env;

/** The broker: inside this process, or the servers that the variable `BROKER_URL` names, separated by commas. */
export const broker = urls === '' ? embedded() : rabbitmq({ urls: urls.split(',') });
