// Writes the reference of the API to site/pages/api/, from the doc comments of the entry points.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Application, Converter } from 'typedoc';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { exports } = JSON.parse(readFileSync(here('../libs/dlx-broker/package.json'), 'utf8'));

/** The entry points, by the path of their sources without the ending. */
const entries = new Map(
  Object.entries(exports).flatMap(([entry, { types } = {}]) =>
    types === undefined ? [] : [[types.replace(/^\.\/dist\/|\.d\.ts$/g, ''), `dlx-broker${entry.slice(1)}`]],
  ),
);

const app = await Application.bootstrapWithPlugins({
  plugin: ['typedoc-plugin-markdown'],
  entryPoints: [...entries.keys()].map((path) => here(`../libs/dlx-broker/src/${path}.ts`)),
  tsconfig: here('../libs/dlx-broker/tsconfig.lib.json'),
  basePath: here('../libs/dlx-broker/src'),
  out: here('pages/api'),
  readme: 'none',
  name: 'API',
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  // The sources are checked by the repository itself.
  skipErrorChecking: true,
  logLevel: 'Error',
  entryFileName: 'index',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertiesFormat: 'table',
});
app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
  for (const module of project.children ?? [])
    module.name = entries.get(module.name) ?? entries.get(`${module.name}/index`) ?? module.name;
});
const project = await app.convert();
if (project === undefined) throw new Error('the sources cannot be read');
await app.generateOutputs(project);

const kinds = {
  classes: 'Classes',
  functions: 'Functions and decorators',
  interfaces: 'Interfaces',
  'type-aliases': 'Types',
  variables: 'Variables',
  enumerations: 'Enumerations',
};

/** The pages of a module, grouped by kind. */
const groupsOf = (module) =>
  Object.entries(kinds).flatMap(([folder, text]) => {
    const path = `pages/api/${module}/${folder}`;
    if (!existsSync(here(path))) return [];
    const names = readdirSync(here(path)).map((file) => file.replace(/\.md$/, ''));
    return [
      { text, collapsed: true, items: names.map((name) => ({ text: name, link: `/api/${module}/${folder}/${name}` })) },
    ];
  });

const modules = [...entries.values()];
const links = modules.map((module) => ({ text: module, link: `/api/${module}/` }));

/** A sidebar for each module: its pages, and links to the other modules. */
const sidebars = Object.fromEntries([
  ['/api/', [{ text: 'API', link: '/api/', items: links }]],
  ...modules.map((module) => [
    `/api/${module}/`,
    [
      { text: 'API', link: '/api/', items: links },
      { text: module, link: `/api/${module}/`, items: groupsOf(module) },
    ],
  ]),
]);
writeFileSync(here('pages/api/sidebars.json'), JSON.stringify(sidebars));
if (app.logger.hasErrors()) process.exit(1);
