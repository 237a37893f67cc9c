/** Types that declarations of a package mention, by where they are declared: what a user would have to name. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import ts from "typescript";

interface Module {
  readonly source: ts.SourceFile;
  /** Names that statements of the module bring in, with where from. */
  readonly imports: ReadonlyMap<string, readonly [file: string, name: string]>;
  readonly locals: ReadonlyMap<string, ts.Declaration>;
}

/** `file#name` of a declaration. */
type Place = string;

const modules = new Map<string, Module>();

function moduleAt(file: string): Module {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const imports = new Map<string, readonly [string, string]>();
  const locals = new Map<string, ts.Declaration>();
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) {
      const from = fileOf(file, statement.moduleSpecifier);
      const named = statement.importClause?.namedBindings;
      if (from === undefined || named === undefined || !ts.isNamedImports(named)) continue;
      for (const { name, propertyName } of named.elements) {
        imports.set(name.text, [from, (propertyName ?? name).text]);
      }
    } else if (ts.isVariableStatement(statement)) {
      for (const one of statement.declarationList.declarations) {
        if (ts.isIdentifier(one.name)) locals.set(one.name.text, one);
      }
    } else if (isNamed(statement)) locals.set(statement.name.text, statement);
  }
  const made = { source, imports, locals };
  modules.set(file, made);
  return made;
}

type Named = (
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.ClassDeclaration
  | ts.FunctionDeclaration
) & { readonly name: ts.Identifier };

function isNamed(statement: ts.Statement): statement is Named {
  return (
    (ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isFunctionDeclaration(statement)) &&
    statement.name !== undefined
  );
}

/** The declaration file behind a relative specifier; undefined for packages. */
function fileOf(from: string, specifier: ts.Node): string | undefined {
  if (!ts.isStringLiteral(specifier) || !specifier.text.startsWith(".")) return undefined;
  const file = resolve(dirname(from), specifier.text.replace(/\.(js|ts)$/, ".d.ts"));
  return existsSync(file) ? file : undefined;
}

/** Exported names with where each is declared. */
function exportsOf(file: string): ReadonlyMap<string, Place> {
  const { source, locals } = moduleAt(file);
  const found = new Map<string, Place>();
  for (const statement of source.statements.filter(ts.isExportDeclaration)) {
    const from = statement.moduleSpecifier && fileOf(file, statement.moduleSpecifier);
    const clause = statement.exportClause;
    if (clause === undefined && from !== undefined) {
      for (const [name, place] of exportsOf(from)) found.set(name, place);
    }
    if (clause === undefined || !ts.isNamedExports(clause)) continue;
    for (const { name, propertyName } of clause.elements) {
      const own = (propertyName ?? name).text;
      found.set(name.text, from === undefined ? placeIn(file, own) : exportedFrom(from, own));
    }
  }
  for (const [name, declaration] of locals) {
    const statement = ts.isVariableDeclaration(declaration)
      ? declaration.parent.parent
      : declaration;
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    const exported = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (exported === true) found.set(name, `${file}#${name}`);
  }
  return found;
}

function exportedFrom(file: string, name: string): Place {
  return exportsOf(file).get(name) ?? `${file}#${name}`;
}

/** What a name means inside of a module. */
function placeIn(file: string, name: string): Place {
  const { imports, locals } = moduleAt(file);
  const imported = locals.has(name) ? undefined : imports.get(name);
  return imported === undefined ? `${file}#${name}` : exportedFrom(...imported);
}

/** Places of our own declarations that a declaration mentions. */
function mentionedIn(place: Place): readonly Place[] {
  const [file = "", name = ""] = place.split("#");
  const { imports, locals } = moduleAt(file);
  const declaration = locals.get(name);
  if (declaration === undefined) return [];
  const parameters = new Set<string>();
  const mentioned: Place[] = [];
  const add = (text: string) => {
    if (parameters.has(text)) return;
    if (locals.has(text) || imports.has(text)) mentioned.push(placeIn(file, text));
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeParameterDeclaration(node)) parameters.add(node.name.text);
    // Nobody outside calls constructors that take what only the package has, nor private members.
    if (ts.isConstructorDeclaration(node)) return;
    const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
    if (modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) === true) return;
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const from = fileOf(file, node.argument.literal);
      const qualifier = node.qualifier;
      if (from !== undefined && qualifier !== undefined && ts.isIdentifier(qualifier)) {
        mentioned.push(exportedFrom(from, qualifier.text));
      }
    }
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) add(node.typeName.text);
    if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression)) {
      add(node.expression.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(declaration);
  return mentioned;
}

/**
 * Of the package whose entry points these declaration files are: every type that something exported mentions and that no
 * entry point exports, as the file and the name of its declaration.
 */
export function unnamedTypes(root: string, entries: readonly string[]): readonly string[] {
  const exported = new Set(entries.flatMap((entry) => [...exportsOf(join(root, entry)).values()]));
  const missing = [...exported].flatMap(mentionedIn).filter((place) => !exported.has(place));
  const short = (place: Place) => place.slice(root.length + 1).replace(/\.d\.ts#/, " ");
  return [...new Set(missing)].map(short).sort();
}
