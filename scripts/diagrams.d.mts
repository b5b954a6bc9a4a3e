export interface Mistake {
  readonly line: number;
  readonly message: string;
}

/** Checks the Mermaid diagrams of one Markdown page. */
export function checkDiagrams(page: string): { readonly count: number; readonly findings: Mistake[] };
