import { fileURLToPath } from 'node:url';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DlxServer } from 'dlx-broker';

/** The same place from src/ and from the folder of a build. */
const page = fileURLToPath(new URL('../../../apps/sample-orders/page/', import.meta.url));

/** The page at `/` runs no script but its own. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'";

/** The parser of forms stays out: a page of another site may send a form, and no JSON. */
export const withoutParsers = { bodyParser: false } as const;

export async function prepare(app: NestExpressApplication): Promise<void> {
  app.useBodyParser('json');
  app.useStaticAssets(page, { setHeaders: (response) => void response.setHeader('content-security-policy', policy) });
  // Makes the broker a transport of the application. `@EventPattern` needs one; handlers with `@Consume` would not.
  app.connectMicroservice({ strategy: app.get(DlxServer) }, { inheritAppConfig: true });
  await app.startAllMicroservices();
}
