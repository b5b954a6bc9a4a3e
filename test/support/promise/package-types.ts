import { join } from 'node:path';
import ts from 'typescript';
import type { Recorded } from './broken-promises';

/**
 * What a package exports, from its built declarations.
 * @param entries the declaration of each entry; `namesOnly` for an entry whose types the wire promises already
 */
export function packageTypes(
  folder: string,
  entries: Readonly<Record<string, { readonly file: string; readonly namesOnly?: boolean }>>,
): Recorded {
  const files = Object.values(entries).map(({ file }) => join(folder, file));
  const program = ts.createProgram(files, {
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, strict: true, noEmit: true },
    ...{ skipLibCheck: true, types: [] },
  });
  const reader = new TypeReader(program.getTypeChecker());
  const made = Object.entries(entries).map(([entry, { file, namesOnly }]) => {
    const source = program.getSourceFile(join(folder, file));
    if (source === undefined) throw new Error(`${join(folder, file)} is missing: build the package`);
    return [entry, namesOnly ? reader.names(source) : reader.exports(source)];
  });
  return Object.fromEntries(made) as Recorded;
}

class TypeReader {
  /** Types that somebody gives to the package. A new member that they must have breaks its callers. */
  private readonly given = new Set<ts.Symbol>();

  constructor(private readonly checker: ts.TypeChecker) {}

  names(source: ts.SourceFile): Recorded {
    return { names: this.exported(source).map(({ name }) => name) };
  }

  exports(source: ts.SourceFile): Recorded {
    const symbols = this.exported(source);
    // Twice: the first pass collects the types that are parameters, wherever they are declared.
    for (const symbol of symbols) this.recordOf(symbol, source);
    return Object.fromEntries(symbols.map((symbol) => [symbol.name, this.recordOf(symbol, source)]));
  }

  private exported(source: ts.SourceFile): ts.Symbol[] {
    const module = this.checker.getSymbolAtLocation(source);
    const symbols = module === undefined ? [] : this.checker.getExportsOfModule(module);
    return [...symbols].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  private recordOf(symbol: ts.Symbol, source: ts.SourceFile): Recorded {
    const real = symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
    if (real.flags & ts.SymbolFlags.Class) return this.classOf(real, source);
    if (real.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) return this.typeOf(real);
    return this.valueOf(this.checker.getTypeOfSymbolAtLocation(real, source));
  }

  private classOf(symbol: ts.Symbol, source: ts.SourceFile): Recorded {
    const statics = this.checker.getTypeOfSymbolAtLocation(symbol, source);
    const [constructor] = statics.getConstructSignatures();
    return {
      ...(constructor === undefined ? {} : { new: this.signature(constructor) }),
      members: this.members(this.checker.getDeclaredTypeOfSymbol(symbol)),
    };
  }

  private typeOf(symbol: ts.Symbol): Recorded {
    const type = this.checker.getDeclaredTypeOfSymbol(symbol);
    if (type.isUnion()) return { 'one of': type.types.map((one) => this.text(one)).sort() };
    if (!(type.flags & ts.TypeFlags.Object) || type.getCallSignatures().length > 0) return this.valueOf(type);
    const properties = type.getProperties();
    const required = properties.filter((one) => !(one.flags & ts.SymbolFlags.Optional)).map(({ name }) => name);
    return {
      members: this.members(type),
      'always there': required.sort(),
      ...(this.given.has(symbol) ? { needs: required } : {}),
    };
  }

  private members(type: ts.Type): Recorded {
    const open = type.getProperties().filter((one) => !/^(__|#)/.test(one.name) && !isPrivate(one));
    return Object.fromEntries(
      open
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((one) => [one.name, this.valueOf(this.checker.getTypeOfSymbol(one))]),
    );
  }

  private valueOf(type: ts.Type): Recorded {
    const [call, ...overloads] = type.getCallSignatures();
    return call === undefined || overloads.length > 0 ? this.text(type) : this.signature(call);
  }

  private signature(signature: ts.Signature): Recorded {
    const parameters = signature.getParameters();
    const texts = parameters.map((parameter, i) => {
      const type = this.checker.getTypeOfSymbol(parameter);
      this.mark(type);
      return [`${i + 1}`, this.text(type)];
    });
    const needed = parameters.filter((one) => {
      const declared = one.valueDeclaration;
      if (declared === undefined || !ts.isParameter(declared)) return true;
      return declared.dotDotDotToken === undefined && !this.checker.isOptionalParameter(declared);
    });
    return {
      parameters: Object.fromEntries(texts) as Recorded,
      needs: needed.map((one) => `argument ${parameters.indexOf(one) + 1}`),
      returns: this.text(signature.getReturnType()),
    };
  }

  /** Remembers the types of a parameter, and those of the members of these types. */
  private mark(type: ts.Type): void {
    for (const one of type.isUnionOrIntersection() ? type.types : [type]) {
      const symbol = one.aliasSymbol ?? one.getSymbol();
      if (symbol === undefined || this.given.has(symbol) || !(one.flags & ts.TypeFlags.Object)) continue;
      if (symbol.declarations?.every((where) => where.getSourceFile().hasNoDefaultLib) !== false) continue;
      this.given.add(symbol);
      for (const member of one.getProperties()) this.mark(this.checker.getTypeOfSymbol(member));
    }
  }

  private text(type: ts.Type): string {
    const { NoTruncation, UseAliasDefinedOutsideCurrentScope } = ts.TypeFormatFlags;
    const text = this.checker.typeToString(type, undefined, NoTruncation | UseAliasDefinedOutsideCurrentScope);
    // The order of a union is that in which the compiler met its parts.
    return /^[^<>(){}]+ \| [^<>(){}]+$/.test(text) ? text.split(' | ').sort().join(' | ') : text;
  }
}

function isPrivate(symbol: ts.Symbol): boolean {
  const [declaration] = symbol.declarations ?? [];
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return declaration !== undefined && (ts.getCombinedModifierFlags(declaration) & hidden) !== 0;
}
