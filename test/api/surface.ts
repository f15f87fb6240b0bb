import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path/posix';
import ts from 'typescript';

export const root = resolve(import.meta.dirname, '../..');
const library = join(root, 'libs/dlx-broker');
const source = join(library, 'src');

/** A declaration: the source file it stands in, and its name there. */
interface Place {
  readonly file: string;
  readonly name: string;
}

/** A name that an entry of the package exports. */
export interface Exported {
  readonly name: string;
  /** The comment above the group in the entry's file. */
  readonly group: string;
  /** The doc comment, whole; empty if there is none. */
  readonly doc: string;
  /** It has no value: an interface, a type, or a class that is exported as a type. */
  readonly isType: boolean;
  readonly place: Place;
}

/** A declaration that no entry exports, and that an exported one names. */
export interface Named {
  readonly place: Place;
  readonly isClass: boolean;
}

export interface Entry {
  /** What users import: `dlx-broker/testing`. */
  readonly specifier: string;
  readonly file: string;
  readonly exported: readonly Exported[];
}

/** What the package shows its users, as TypeScript sees it. */
export class Surface {
  readonly entries: readonly Entry[];
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;
  readonly #declarations = new Map<string, ts.SourceFile>();

  constructor() {
    const { config } = ts.readConfigFile(join(library, 'tsconfig.lib.json'), ts.sys.readFile) as { config: unknown };
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, library);
    const files = entryFiles();
    this.#program = ts.createProgram(
      files.map(({ file }) => file),
      { ...options, declarationMap: false, sourceMap: false },
    );
    this.#checker = this.#program.getTypeChecker();
    this.#emit(options.outDir ?? join(library, 'dist'));
    this.entries = files.map((entry) => ({ ...entry, exported: this.#exportsOf(entry.file) }));
  }

  /** What TypeScript writes into the `.d.ts` for a name, without comments and what is private or internal; all overloads. */
  declarationOf({ place, isType }: Pick<Exported, 'place' | 'isType'>): string {
    const printer = ts.createPrinter({ removeComments: true });
    const declared = this.#declarations.get(place.file);
    if (declared === undefined) return '';
    return this.#statementsOf(place)
      .map((statement) => printer.printNode(ts.EmitHint.Unspecified, shownOf(statement, isType), declared))
      .join('\n');
  }

  /** Declarations of this package that exported ones name, directly or by one of these. Classes lead no further. */
  get named(): readonly Named[] {
    const exported = this.entries.flatMap((entry) => entry.exported);
    const seen = new Set(exported.map(({ place }) => keyOf(place)));
    const named: Named[] = [];
    const list: Pick<Exported, 'place' | 'isType'>[] = [...exported];
    for (const { place, isType } of list) {
      for (const statement of this.#statementsOf(place)) {
        for (const found of this.#namedIn(shownOf(statement, isType), place.file)) {
          if (seen.has(keyOf(found))) continue;
          seen.add(keyOf(found));
          const isClass = this.#statementsOf(found).some((one) => ts.isClassDeclaration(one));
          named.push({ place: found, isClass });
          if (!isClass) list.push({ place: found, isType: true });
        }
      }
    }
    return named;
  }

  /** Types of this package that an exported function returns and no entry exports: users could not name its result. */
  get returned(): readonly string[] {
    const exported = this.entries.flatMap((entry) => entry.exported);
    const known = new Set(exported.map(({ place }) => keyOf(place)));
    return exported.flatMap(({ name, place }) =>
      this.#statementsOf(place)
        .flatMap(returnTypesOf)
        .flatMap((type) => this.#namedIn(type, place.file))
        .filter((found) => !known.has(keyOf(found)))
        .map((found) => `${name} returns ${found.name}`),
    );
  }

  #emit(outDir: string): void {
    const write: ts.WriteFileCallback = (path, text, _, __, sources) => {
      const from = sources?.[0]?.fileName ?? join(source, relative(outDir, path).replace(/\.d\.ts$/, '.ts'));
      this.#declarations.set(from, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
    };
    this.#program.emit(undefined, write, undefined, true);
  }

  #exportsOf(file: string): readonly Exported[] {
    const entry = this.#program.getSourceFile(file);
    const module = entry && this.#checker.getSymbolAtLocation(entry);
    if (entry === undefined || module === undefined) throw new Error(`${file} exports nothing`);
    const groups = groupsOf(entry);
    const types = typesOf(entry);
    return this.#checker.getExportsOfModule(module).map((symbol) => {
      const target = this.#targetOf(symbol);
      const [declaration] = target.declarations ?? [];
      if (declaration === undefined) throw new Error(`${symbol.name} of ${file} is declared nowhere`);
      return {
        name: symbol.name,
        group: groups.get(symbol.name) ?? '',
        doc: ts.displayPartsToString(target.getDocumentationComment(this.#checker)).trim(),
        isType: types.has(symbol.name) || (target.flags & ts.SymbolFlags.Value) === 0,
        place: { file: declaration.getSourceFile().fileName, name: target.name },
      };
    });
  }

  #targetOf(symbol: ts.Symbol): ts.Symbol {
    return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : this.#checker.getAliasedSymbol(symbol);
  }

  #statementsOf({ file, name }: Place): readonly ts.Statement[] {
    return this.#declarations.get(file)?.statements.filter((statement) => namesOf(statement).includes(name)) ?? [];
  }

  #namedIn(node: ts.Node, file: string): readonly Place[] {
    const found: Place[] = [];
    const see = (name: string, from: string): void => {
      const place = this.#placeOf(name, from);
      if (place !== undefined) found.push(place);
    };
    const visit = (node: ts.Node): void => {
      if (ts.isTypeReferenceNode(node) || ts.isTypeQueryNode(node)) {
        const named = ts.isTypeReferenceNode(node) ? node.typeName : node.exprName;
        see(firstOf(named), file);
      } else if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression)) {
        see(node.expression.text, file);
      } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && node.qualifier !== undefined) {
        const { literal } = node.argument;
        if (ts.isStringLiteral(literal) && literal.text.startsWith('.')) {
          see(firstOf(node.qualifier), resolve(dirname(file), literal.text.replace(/\.js$/, '.ts')));
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(node);
    return found;
  }

  /** Where a name of a file is declared, if this package does it. */
  #placeOf(name: string, file: string): Place | undefined {
    const here = { file, name };
    if (this.#statementsOf(here).length > 0) return here;
    const imported = this.#declarations
      .get(file)
      ?.statements.find(
        (statement): statement is ts.ImportDeclaration =>
          ts.isImportDeclaration(statement) && localsOf(statement).has(name),
      );
    const from = imported === undefined ? undefined : (imported.moduleSpecifier as ts.StringLiteral).text;
    const module = from?.startsWith('.') ? resolve(dirname(file), from.replace(/\.js$/, '.ts')) : file;
    const original = imported === undefined ? name : localsOf(imported).get(name);
    const sourceFile = this.#program.getSourceFile(module);
    const symbol = sourceFile && this.#checker.getSymbolAtLocation(sourceFile);
    if (symbol === undefined || (from !== undefined && !from.startsWith('.'))) return undefined;
    const exported = this.#checker.getExportsOfModule(symbol).find((one) => one.name === original);
    const target = exported && this.#targetOf(exported);
    const declaration = target?.declarations?.[0]?.getSourceFile().fileName;
    return target && declaration?.startsWith(source) ? { file: declaration, name: target.name } : undefined;
  }
}

const keyOf = ({ file, name }: Place): string => `${relative(source, file)} ${name}`;

/** The entries of package.json, and the sources they are made of. */
function entryFiles(): readonly { readonly specifier: string; readonly file: string }[] {
  const { name, exports } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [
          {
            specifier: join(name, path),
            file: join(source, relative('dist', target.types).replace(/\.d\.ts$/, '.ts')),
          },
        ],
  );
}

/** The heading of each exported name: the last line comment above it that begins an export of the entry. */
function groupsOf(entry: ts.SourceFile): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  let heading = '';
  for (const statement of entry.statements) {
    const comments = ts.getLeadingCommentRanges(entry.text, statement.getFullStart()) ?? [];
    const line = comments.map(({ pos, end }) => entry.text.slice(pos, end)).findLast((text) => text.startsWith('//'));
    heading = line?.replace(/^\/\/ /, '') ?? heading;
    const names =
      ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)
        ? statement.exportClause.elements.map((element) => element.name.text)
        : namesOf(statement);
    for (const name of names) groups.set(name, heading);
  }
  return groups;
}

/** The type that a function declares as its result; also of a function that is a constant. */
function returnTypesOf(statement: ts.Statement): readonly ts.TypeNode[] {
  if (ts.isFunctionDeclaration(statement)) return statement.type === undefined ? [] : [statement.type];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap(({ type }) =>
    type !== undefined && ts.isFunctionTypeNode(type) ? [type.type] : [],
  );
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
  }
  const { name } = statement as { readonly name?: ts.Node };
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
}

/** Local names of an import, and what they are called where they come from. */
function localsOf({ importClause }: ts.ImportDeclaration): ReadonlyMap<string, string> {
  const bindings = importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return new Map();
  return new Map(bindings.elements.map(({ name, propertyName }) => [name.text, (propertyName ?? name).text]));
}

const firstOf = (name: ts.EntityName): string => (ts.isIdentifier(name) ? name.text : firstOf(name.left));

/** Names that an entry exports as types only. */
function typesOf(entry: ts.SourceFile): ReadonlySet<string> {
  const types = new Set<string>();
  for (const statement of entry.statements) {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause || !ts.isNamedExports(statement.exportClause))
      continue;
    for (const element of statement.exportClause.elements) {
      if (statement.isTypeOnly || element.isTypeOnly) types.add(element.name.text);
    }
  }
  return types;
}

/** A class without what is private or internal; and without its constructor, if it is exported as a type only. */
function shownOf(statement: ts.Statement, isType: boolean): ts.Statement {
  if (!ts.isClassDeclaration(statement)) return statement;
  const { modifiers, name, typeParameters, heritageClauses, members } = statement;
  const shown = members.filter((member) => isShown(member) && !(isType && ts.isConstructorDeclaration(member)));
  return ts.factory.createClassDeclaration(modifiers, name, typeParameters, heritageClauses, shown);
}

function isShown(member: ts.ClassElement): boolean {
  if (member.name !== undefined && ts.isPrivateIdentifier(member.name)) return false;
  if (ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'internal')) return false;
  return !((ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) !== 0);
}
