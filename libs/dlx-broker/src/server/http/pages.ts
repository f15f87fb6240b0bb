import type { Hono } from 'hono';
import type { Bindings } from './dispatcher.js';

/** Where paths of RabbitMQ lead. */
const moved: Readonly<Record<string, string>> = {
  '/api': '/api/index.html',
  '/api/': '/api/index.html',
  '/doc/stats.html': '/api/index.html',
  '/cli': '/cli/index.html',
  '/cli/': '/cli/index.html',
  '/mgmt': '/',
  '/mgmt/': '/',
};

const aboutApi = `The HTTP API of dlx-broker has the paths of RabbitMQ's management API, for example /api/overview and /api/queues.
The reference is docs/reference/management.md of the package dlx-broker.
`;

/** The script is a part of RabbitMQ, and not of this package. */
const aboutScript = `dlx-broker does not contain rabbitmqadmin, which works with this API. Get the script from RabbitMQ, release 3.10.8:
https://raw.githubusercontent.com/rabbitmq/rabbitmq-server/v3.10.8/deps/rabbitmq_management/bin/rabbitmqadmin
`;

/** Adds the paths of RabbitMQ's port that are neither its API nor its console. They need no login. */
export function addPages(app: Hono<{ Bindings: Bindings }>): void {
  for (const [path, to] of Object.entries(moved)) app.all(path, (c) => c.redirect(to, 301));
  app.get('/api/index.html', (c) => c.text(aboutApi));
  app.get('/cli/index.html', (c) => c.text(aboutScript));
  app.get('/cli/rabbitmqadmin', (c) => c.text(aboutScript, 404));
}
