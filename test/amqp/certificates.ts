import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its private key. */
export interface Identity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A certificate authority made for a test, by openssl. */
export class TestAuthority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tls-'));
  readonly ca: Buffer;

  constructor(name: string) {
    const [key, cert] = [this.#file('ca.key'), this.#file('ca.pem')];
    openssl('req', '-x509', ...newKey, '-keyout', key, '-out', cert, '-subj', `/CN=${name}`);
    this.ca = readFileSync(cert);
  }

  issue(subject: string): Identity {
    const [key, request, cert] = ['key.pem', 'csr.pem', 'cert.pem'].map((name) => this.#file(name)) as [
      string,
      string,
      string,
    ];
    openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', subject);
    const signing = ['-CA', this.#file('ca.pem'), '-CAkey', this.#file('ca.key'), '-CAcreateserial'];
    openssl('x509', '-req', '-in', request, ...signing, '-out', cert);
    return { cert: readFileSync(cert), key: readFileSync(key) };
  }

  forget(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore' });
