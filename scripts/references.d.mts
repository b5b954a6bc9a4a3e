export type Rule = 'link' | 'weak spot' | 'test number' | 'page' | 'section' | 'outside';

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly rule: Rule;
  readonly message: string;
}

/** Returns the wrong references of `files`, which maps the path of each tracked file to its text. */
export function checkReferences(files: ReadonlyMap<string, string>): Finding[];
