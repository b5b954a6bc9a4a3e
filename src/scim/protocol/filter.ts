import { invalidFilter } from './scim-error';

export const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof comparisons)[number];
export type FilterValue = string | number | boolean | null;

/** A filter of RFC 7644 §3.4.2.2. An attribute has its spelling in lower case, because the case of names does not count. */
export type Filter =
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] }
  | { readonly not: Filter }
  | { readonly attribute: string; readonly within: Filter }
  | { readonly attribute: string; readonly present: true }
  | { readonly attribute: string; readonly comparison: Comparison; readonly value: FilterValue };

/** A path of a PATCH operation (RFC 7644 §3.5.2): `emails[type eq "work"].value`. */
export interface Path {
  readonly attribute: string;
  readonly within?: Filter;
  /** After the brackets, in lower case. */
  readonly sub?: string;
}

/** What a client needs is far below. A filter of any length costs no more than one of these bounds. */
const bounds = { characters: 8192, terms: 50, depth: 10 };

/** @throws ScimError `invalidFilter` */
export function parseFilter(text: string): Filter {
  const tokens = new Tokens(text);
  const filter = tokens.anyOf();
  tokens.end();
  return filter;
}

/** @throws ScimError `invalidFilter` */
export function parsePath(text: string): Path {
  const tokens = new Tokens(text);
  const attribute = tokens.attribute();
  const within = tokens.brackets();
  const sub = within === undefined ? undefined : tokens.subAttribute();
  tokens.end();
  return { attribute, within, sub };
}

type Kind = 'word' | 'text' | 'number' | 'mark';
interface Token {
  readonly kind: Kind;
  readonly text: string;
}

/** No two parts of it can match the same text, so its time grows with the length only. */
const token =
  /\s*(?:([A-Za-z$_][\w$:.-]*)|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|([()[\]]|\.(?=\w)))/sy;
const attributeName = /^(?:urn:[a-z0-9:._-]+:)?[a-z$_][\w$-]*(?:\.[a-z$_][\w$-]*)*$/;

/**
 * Reads from left to right, and keeps no more of what it has read than the depth. An operator that binds more tightly is a method
 * that is called by the one that binds less tightly: or, and, not.
 */
class Tokens {
  private at = 0;
  private terms = 0;
  private depth = 0;
  private next: Token | undefined;

  constructor(private readonly text: string) {
    if (text.length > bounds.characters) throw invalidFilter(`a filter has at most ${bounds.characters} characters`);
    this.next = this.read();
  }

  anyOf(): Filter {
    const terms = [this.allOf()];
    while (this.takeWord('or')) terms.push(this.allOf());
    return terms.length === 1 ? terms[0]! : { any: terms };
  }

  attribute(): string {
    const { kind, text } = this.take();
    const name = text.toLowerCase();
    if (kind !== 'word' || !attributeName.test(name)) throw invalidFilter('an attribute is expected');
    return name;
  }

  /** @returns undefined when no bracket follows */
  brackets(): Filter | undefined {
    if (!this.takeMark('[')) return undefined;
    return this.nested(']');
  }

  /** @returns undefined when none follows */
  subAttribute(): string | undefined {
    return this.takeMark('.') ? this.attribute() : undefined;
  }

  end(): void {
    if (this.next !== undefined) throw invalidFilter('nothing is expected after the filter');
  }

  private allOf(): Filter {
    const terms = [this.term()];
    while (this.takeWord('and')) terms.push(this.term());
    return terms.length === 1 ? terms[0]! : { all: terms };
  }

  private term(): Filter {
    if (++this.terms > bounds.terms) throw invalidFilter(`a filter has at most ${bounds.terms} terms`);
    if (this.takeMark('(')) return this.nested(')');
    if (this.takeWord('not')) {
      // RFC 7644 wants brackets after `not`; the clients that leave them out mean one term.
      return { not: this.deeper(() => this.term()) };
    }
    const attribute = this.attribute();
    const within = this.brackets();
    if (within !== undefined) return this.afterBrackets(attribute, within);
    return this.comparison(attribute);
  }

  /** `emails[type eq "work"].value eq "x"` is no filter of the RFC, but Entra ID documents it. One value has to meet both. */
  private afterBrackets(attribute: string, within: Filter): Filter {
    const sub = this.subAttribute();
    if (sub === undefined) return { attribute, within };
    return { attribute, within: { all: [within, this.comparison(sub)] } };
  }

  private comparison(attribute: string): Filter {
    const { kind, text } = this.take();
    const operator = text.toLowerCase();
    if (kind === 'word' && operator === 'pr') return { attribute, present: true };
    const comparison = comparisons.find((one) => one === operator);
    if (kind !== 'word' || comparison === undefined) throw invalidFilter('an operator is expected');
    return { attribute, comparison, value: this.value() };
  }

  private value(): FilterValue {
    const { kind, text } = this.take();
    if (kind === 'text' || kind === 'number') return parsed(text);
    // Clients write Booleans with a capital letter, as their language does.
    const word = text.toLowerCase();
    if (kind === 'word' && (word === 'true' || word === 'false' || word === 'null')) return parsed(word);
    throw invalidFilter('a value is expected: a text in double quotes, a number, true, false or null');
  }

  private nested(closing: string): Filter {
    return this.deeper(() => {
      const filter = this.anyOf();
      if (!this.takeMark(closing)) throw invalidFilter(`${closing} is expected`);
      return filter;
    });
  }

  private deeper(read: () => Filter): Filter {
    if (++this.depth > bounds.depth) throw invalidFilter(`a filter has at most ${bounds.depth} levels`);
    const filter = read();
    this.depth -= 1;
    return filter;
  }

  private takeWord(word: string): boolean {
    return this.takeIf(({ kind, text }) => kind === 'word' && text.toLowerCase() === word);
  }

  private takeMark(mark: string): boolean {
    return this.takeIf(({ kind, text }) => kind === 'mark' && text === mark);
  }

  private takeIf(wanted: (next: Token) => boolean): boolean {
    if (this.next === undefined || !wanted(this.next)) return false;
    this.next = this.read();
    return true;
  }

  private take(): Token {
    const taken = this.next;
    if (taken === undefined) throw invalidFilter('the filter ends too early');
    this.next = this.read();
    return taken;
  }

  private read(): Token | undefined {
    token.lastIndex = this.at;
    const found = token.exec(this.text);
    if (found === null) {
      if (this.text.slice(this.at).trim() === '') return undefined;
      throw invalidFilter('a character is not expected here');
    }
    this.at = token.lastIndex;
    const kinds: readonly Kind[] = ['word', 'text', 'number', 'mark'];
    const which = found.slice(1).findIndex((part) => part !== undefined);
    return { kind: kinds[which]!, text: found[which + 1]! };
  }
}

function parsed(literal: string): FilterValue {
  try {
    return JSON.parse(literal) as FilterValue;
  } catch {
    throw invalidFilter('a text is not one of JSON');
  }
}
