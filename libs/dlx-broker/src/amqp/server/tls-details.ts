import type { TLSSocket } from 'node:tls';
import type { TlsDetails } from '../../engine/broker/index.js';

/** `TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384`, or without a key exchange since TLS 1.3. */
const suite = /^TLS_(?:(.+)_WITH_)?(.+?)(?:_(SHA\d*|MD5|CCM|CCM_8))?$/;

/** The TLS parameters and the client certificate of a connection, as RabbitMQ lists them. */
export function tlsDetailsOf(socket: TLSSocket): TlsDetails {
  const [, exchange = 'any', cipher = '', hash = ''] = suite.exec(socket.getCipher().standardName) ?? [];
  const authenticates = /gcm|ccm|poly1305/i.test(`${cipher} ${hash}`);
  const { subject, issuer, valid_from, valid_to } = socket.getPeerCertificate();
  return {
    protocol: (socket.getProtocol() ?? '').toLowerCase(),
    keyExchange: exchange.toLowerCase(),
    cipher: cipher.toLowerCase(),
    hash: authenticates ? 'aead' : hash.toLowerCase(),
    ...(subject && {
      peerCertificate: {
        subject: named(subject),
        issuer: named(issuer),
        validity: `${instant(valid_from)} - ${instant(valid_to)}`,
      },
    }),
  };
}

/** Parts of a name, the last one first (RFC 4514). */
const named = (parts: object): string =>
  Object.entries(parts)
    .reverse()
    .flatMap(([key, value]) => [value].flat().map((one) => `${key}=${one}`))
    .join();

const instant = (date: string): string => new Date(date).toISOString().replace('.000', '');
