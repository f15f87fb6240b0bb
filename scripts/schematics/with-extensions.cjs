// Nest's schematics for Node 20 write imports for CommonJS: './orders.service'. The samples are ES modules, which need './orders.service.js'.
const { chain, externalSchematic } = require('@angular-devkit/schematics');

const importWithoutExtension = /(from ')(\.{1,2}\/[^']*?)(?<!\.js)'/g;

module.exports.default = (options) => (_tree, context) =>
  chain([
    externalSchematic('@nestjs/schematics', context.schematic.description.name, options),
    (tree) => {
      for (const { path, kind } of tree.actions) {
        if (kind === 'd' || !path.endsWith('.ts')) continue;
        tree.overwrite(path, tree.readText(path).replace(importWithoutExtension, "$1$2.js'"));
      }
    },
  ]);
