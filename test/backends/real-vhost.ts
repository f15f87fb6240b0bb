import { ManagementClient } from '../contract/management-client.js';
import { amqpUrl, managementUrl, notNamed, rabbitMqServers } from '../rabbitmq.js';
import { rabbitMqDriver } from '../contract/rabbitmq-driver.js';

let vhosts = 0;

/** Makes a virtual host of its own on the real server. `DEFAULT_QUEUE_TYPE` is the type of its queues, `classic` if it is not set. */
export async function realVhost() {
  if (amqpUrl === undefined) throw new Error(notNamed);
  const { hostname: host, port: given, username, password } = new URL(amqpUrl);
  const [user, secret] = [decodeURIComponent(username) || 'guest', decodeURIComponent(password) || 'guest'];
  const port = Number(given) || 5672;
  const management = new ManagementClient(managementUrl, user, secret);
  const vhost = `backends-${process.pid}-${Date.now().toString(36)}-${++vhosts}`;
  await management.call('PUT', `/vhosts/${vhost}`, { default_queue_type: process.env['DEFAULT_QUEUE_TYPE'] });
  await management.call('PUT', `/permissions/${vhost}/${user}`, { configure: '.*', write: '.*', read: '.*' });
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(secret)}`;
  const remove = (): Promise<unknown> => management.call('DELETE', `/vhosts/${vhost}`);
  const url = `amqp://${login}@${host}:${port}/${vhost}`;
  return { host, port, user, password: secret, vhost, url, management, remove };
}

/** @returns why the real server cannot be had; undefined when it can */
export const realServerIsMissing = (): Promise<string | undefined> => rabbitMqDriver(rabbitMqServers[0]).unavailable();
