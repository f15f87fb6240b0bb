import { type Profile, profiles } from './profile.js';

/** The name and version of this product, where APIs and protocols show them; `package.json` has the same version. */
export const product = { name: 'dlx-broker', version: '1.0.0-rc.1' } as const;

/** The release of RabbitMQ that a broker behaves like, as clients and tools see it. */
export const versionOf = ({ profile }: { readonly profile: Profile }): string =>
  profile === profiles['4'] ? '4.2.0' : '3.10.8';
