import { embedded, rabbitmq } from 'dlx-broker';

const { BROKER_URL = '' } = process.env;
const urls = BROKER_URL === '' ? [] : BROKER_URL.split(',');

/** The broker: in this process, or the servers in the variable `BROKER_URL`, separated by commas. */
export const broker = urls.length === 0 ? embedded() : rabbitmq({ urls });

/** Several servers are a cluster: durable queues are replicated there. */
export const isCluster = urls.length > 1;
