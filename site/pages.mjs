// Copies the pages of docs/ to site/pages/, which git ignores. A README.md becomes the index.md of its folder.
import { cpSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

rmSync(here('pages'), { recursive: true, force: true });
cpSync(here('../docs'), here('pages'), { recursive: true });
// The home page leads to the same places.
rmSync(here('pages/README.md'));
for (const folder of ['guide', 'reference', 'internals', 'design'])
  renameSync(here(`pages/${folder}/README.md`), here(`pages/${folder}/index.md`));
cpSync(here('index.md'), here('pages/index.md'));
cpSync(here('public'), here('pages/public'), { recursive: true });
