import { WireConnection } from '../contract/wire/connection.js';

/** Connects a client of another project. @param url `amqp://user:password@host:port/vhost` */
export function foreignClient(url: string): Promise<WireConnection> {
  const { hostname, port, username, password, pathname } = new URL(url);
  return WireConnection.open({
    host: hostname,
    port: Number(port),
    user: decodeURIComponent(username) || 'guest',
    password: decodeURIComponent(password) || 'guest',
    vhost: decodeURIComponent(pathname.slice(1)) || '/',
  });
}
