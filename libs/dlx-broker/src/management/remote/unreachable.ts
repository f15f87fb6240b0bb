import { LateAnswer, notHttp, shownText } from '../../host/index.js';
import { Problem } from '../http/reply.js';

/** Names of errors of TLS for a certificate that is not trusted. */
const untrusted: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const option = "option 'management' of rabbitmq()";

/** The refusal of a request whose server does not answer. The text names the option to look at, and no password. */
export function unreachable(base: string, error: unknown): Problem {
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string };
  const at = `The management API at ${base}`;
  if (error instanceof LateAnswer) {
    return new Problem(504, 'server_is_late', `${at} does not answer in time: ${message}.`);
  }
  if (untrusted.has(code)) {
    const remedy = 'give the certificate of its authority: tls: { ca } of rabbitmq(), or NODE_EXTRA_CA_CERTS';
    return failed(`${at} has a certificate that is not trusted (${code}); ${remedy}.`);
  }
  if (code.startsWith('CERT_') || code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return failed(
      `${at} has a certificate that is not valid: ${shownText(message, longest)}. Correct ${option}, or the certificate.`,
    );
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return failed(`${at} does not speak TLS; write http:// in ${option}.`);
  if (code === 'ECONNREFUSED') {
    const remedy = `correct ${option}, or enable the plugin on the server: rabbitmq-plugins enable rabbitmq_management`;
    return failed(`${at} refuses connections; ${remedy}.`);
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return failed(`${at}: the name of the host is not known; correct ${option}.`);
  const foreign = notHttp({ code });
  if (foreign !== undefined) return failed(`${at} does not answer: ${foreign}. Correct ${option}.`);
  return failed(`${at} does not answer: ${shownText(message, longest)}. Look at the server, and at ${option}.`);
}

/** The refusal of a request that was answered by something else than a management API. */
export const foreignServer = (base: string, what: string): Problem =>
  failed(`${base} is no management API: its answer to ${what} has another form. Correct ${option}.`);

/** The most characters of an error of the system. */
const longest = 200;

const failed = (reason: string): Problem => new Problem(502, 'server_unreachable', reason);
