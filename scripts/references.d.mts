export type Rule = 'link' | 'weak spot' | 'test number' | 'page' | 'section' | 'outside';

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly rule: Rule;
  readonly message: string;
}

/** What is wrong with the references of these files: their text by path from the root. */
export function checkReferences(files: ReadonlyMap<string, string>): Finding[];
