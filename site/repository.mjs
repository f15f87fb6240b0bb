import { readFileSync } from 'node:fs';

const { repository } = JSON.parse(readFileSync(new URL('../libs/dlx-broker/package.json', import.meta.url), 'utf8'));

/** Used until the package says where its repository is. `.example` is reserved: such an address leads nowhere. */
const placeholder = 'https://repository.example/dlx-broker';

/** The address of the repository: the only place that knows it besides package.json. */
export const address = (repository?.url ?? placeholder).replace(/^git\+|\.git$/g, '');

/** The address of a file or folder, by its path from the root of the repository. */
export const addressOf = (path) => `${address}/blob/main/${path}`;
