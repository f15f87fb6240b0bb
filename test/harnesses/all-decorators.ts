import * as decorators from '../../libs/dlx-broker/src/nest/decorators/index.js';
import * as features from '../../libs/dlx-broker/src/nest/features/index.js';

const named = new Set(features.featureDecorators.flatMap(({ names }) => names));

/** Every decorator of methods, by its name. */
export const allDecorators: readonly (readonly [name: string, decorate: unknown])[] = [
  ...Object.entries(decorators),
  ...Object.entries(features).filter(([name]) => named.has(name)),
].filter(([, value]) => typeof value === 'function');
